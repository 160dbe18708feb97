package main

import (
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCRCIsThatOfTheStandardLibrary(t *testing.T) {
	require.Equal(t, uint32(0xCBF43926), updateCRC(0, []byte("123456789")), "the published check value")
	rapid.Check(t, func(t *rapid.T) {
		sum, b := rapid.Uint32().Draw(t, "sum"), rapid.SliceOf(rapid.Byte()).Draw(t, "b")
		require.Equal(t, crc32.Update(sum, crc32.IEEETable, b), updateCRC(sum, b))
	})
}

package stringtensor

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFlatTable(t *testing.T) {
	for _, b := range [][]byte{nil, {4}, {0, 0, 0, 0}, {200, 0, 0, 0}, {4, 0, 0, 0, 0, 0, 0, 0}, {4, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0x7F}} {
		_, err := flatRoot(b)
		require.ErrorIs(t, err, errFlat)
	}
	buf := make([]byte, 16)
	for to, ok := range map[uint32]bool{0: false, 3: false, 4: true, 8: true, 12: false, math.MaxUint32: false} {
		binary.LittleEndian.PutUint32(buf[4:], to)
		_, err := flatRef(buf, 4)
		require.Equal(t, ok, err == nil, "reference to %d further", to)
	}
}

//go:build cuda

package kernels_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/kernels"
)

// TestEmbedded: the program has machine code for each architecture and PTX for later ones. The
// layout of fat binaries is not documented; it is that which cuobjdump reads.
func TestEmbedded(t *testing.T) {
	b := []byte(kernels.Where)
	require.Greater(t, len(b), 16)
	require.EqualValues(t, 0xba55ed50, binary.LittleEndian.Uint32(b))
	header, size := int(binary.LittleEndian.Uint16(b[6:])), int(binary.LittleEndian.Uint64(b[8:]))
	require.Len(t, b, header+size)
	var got []string
	for b = b[header:]; len(b) > 0; {
		require.Greater(t, len(b), 32)
		kind, arch := binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint32(b[28:])
		got = append(got, fmt.Sprintf("%s %d", map[uint16]string{1: "PTX", 2: "ELF"}[kind], arch))
		length := int(binary.LittleEndian.Uint32(b[4:])) + int(binary.LittleEndian.Uint64(b[8:]))
		require.LessOrEqual(t, length, len(b))
		b = b[length:]
	}
	require.ElementsMatch(t, []string{"ELF 80", "ELF 90", "ELF 100", "PTX 80"}, got)
}

package resume

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline/text"
)

// TestLayout holds the bytes to those that another implementation of the drawn layouts made
// (Python, with a CRC-32C of its own).
func TestLayout(t *testing.T) {
	var slot [slotSize]byte
	state := State{
		Generation: 0x1112131415161718, Batch: 0x2122232425262728, Hashes: 0x0a0b0c0d0e0f, Config: 0xdeadbeef,
		Coordinate: Coordinate{Offset: 0x3132333435363738, Row: 0x4142434445464748, Shard: 0x51525354, RowGroup: 0x61626364, Page: 0x71727374},
	}
	state.encode(&slot)
	require.Equal(t, "52534c5401000f0e0d0c0b0aefbeadde1817161514131211282726252423222138373635343332314847464544434241545352516463626174737271c55465d5", hex.EncodeToString(slot[:]))
	back, newer, err := decodeSlot(slot[:])
	require.NoError(t, err)
	require.False(t, newer)
	require.Equal(t, state, back)

	require.Equal(t, "5253444c0100010000000000ee2a5da9", hex.EncodeToString(logHeader()))
	f := frame{
		generation: 9, state: []byte("here"),
		hashes: []text.Hash128{{Hi: 0x0102030405060708, Lo: 0x1112131415161718}, {Hi: 0x2122232425262728, Lo: 0x3132333435363738}},
	}
	require.Equal(t, "525344460100000009000000000000000000000000000000020000000400000092b1ec79889c57b5"+
		"181716151413121108070605040302013837363534333231282726252423222168657265", hex.EncodeToString(f.append(nil)))
}

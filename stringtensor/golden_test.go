package stringtensor

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// golden reads testdata/name.jsonl, recorded answers of another library, one
// object a line.
func golden[T any](t *testing.T, name string) []T {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".jsonl"))
	require.NoError(t, err)
	defer f.Close()
	var out []T
	for d := json.NewDecoder(bufio.NewReader(f)); d.More(); {
		var v T
		require.NoError(t, d.Decode(&v))
		out = append(out, v)
	}
	require.NotEmpty(t, out)
	return out
}

func TestGoldenStringTensor(t *testing.T) {
	type record struct {
		ID           string
		In           []string
		OffsetsHex   string `json:"offsets_hex"`
		PayloadHex   string `json:"payload_hex"`
		Lengths      []uint32
		Inlined      []bool
		TotalBytes   int64    `json:"total_bytes"`
		InlinedCount int      `json:"inlined_count"`
		HeapCount    int      `json:"heap_count"`
		XXH3         []string `json:"xxh3_64"`
	}
	for _, r := range golden[record](t, "string_tensor") {
		t.Run(r.ID, func(t *testing.T) {
			c, err := FromStrings(r.In)
			require.NoError(t, err)
			requireRows(t, modelOf(r.In...), c)
			require.NoError(t, c.ValidateUTF8())
			offsets, payload, err := c.GPUBuffers()
			require.NoError(t, err)
			require.Equal(t, r.OffsetsHex, hexOffsets(offsets))
			require.Equal(t, r.PayloadHex, hex.EncodeToString(payload))
			require.Equal(t, r.Lengths, append([]uint32{}, c.Lengths()...))
			require.Equal(t, r.TotalBytes, c.PayloadBytes())
			require.Equal(t, r.InlinedCount, c.InlinedCount())
			require.Equal(t, r.HeapCount, c.PooledCount())
			for i, h := range c.HashAll() {
				require.Equal(t, r.XXH3[i], strconv.FormatUint(h, 10), "row %d", i)
				require.Equal(t, r.Inlined[i], c.View(i).IsInline(), "row %d", i)
			}
			back, err := FromGPUBuffers(offsets, payload)
			require.NoError(t, err)
			require.True(t, c.Equal(back))
		})
	}
}

// hexOffsets writes offsets as little-endian uint32.
func hexOffsets(offsets []uint32) string {
	var b []byte
	for _, o := range offsets {
		b = append(b, byte(o), byte(o>>8), byte(o>>16), byte(o>>24))
	}
	return hex.EncodeToString(b)
}

func TestGoldenFilterByPrefix(t *testing.T) {
	type record struct {
		ID      string
		In, Out []string
		Prefix  string
	}
	for _, r := range golden[record](t, "filter_by_prefix") {
		c, err := FromStrings(r.In)
		require.NoError(t, err, r.ID)
		requireRows(t, modelOf(r.Out...), c.FilterByPrefix(r.Prefix))
	}
}

// TestGoldenFilterByLength holds to testdata/deviations.md: an id that is listed
// there must differ.
func TestGoldenFilterByLength(t *testing.T) {
	type record struct {
		ID       string
		In, Out  []string
		Min, Max *int
	}
	table, err := os.ReadFile(filepath.Join("testdata", "deviations.md"))
	require.NoError(t, err)
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| (filter_by_length-\d+) \| .`).FindAllSubmatch(table, -1) {
		listed[string(m[1])] = true
	}
	bound := func(p *int) int {
		if p == nil {
			return NoBound
		}
		return *p
	}
	for _, r := range golden[record](t, "filter_by_length") {
		c, err := FromStrings(r.In)
		require.NoError(t, err, r.ID)
		got := c.FilterByLength(bound(r.Min), bound(r.Max)).Strings()
		require.Equal(t, !listed[r.ID], slices.Equal(r.Out, got), "%s: listed as a deviation: %v, got %q", r.ID, listed[r.ID], got)
		delete(listed, r.ID)
	}
	require.Empty(t, listed, "no golden has these ids")
}

// The recorded slices are Python's: bounds may be absent, negative or outside,
// and there is a step.
func TestGoldenSlice(t *testing.T) {
	type record struct {
		ID      string
		In, Out []string
		Slice   [3]*int
	}
	for _, r := range golden[record](t, "slice") {
		c, err := FromStrings(r.In)
		require.NoError(t, err, r.ID)
		lo, hi, step := pythonSlice(r.Slice, len(r.In))
		if step == 1 {
			got, err := c.Slice(lo, max(lo, hi))
			require.NoError(t, err, r.ID)
			requireRows(t, modelOf(r.Out...), got)
		}
		var rows []uint32
		for i := lo; (step > 0 && i < hi) || (step < 0 && i > hi); i += step {
			rows = append(rows, uint32(i))
		}
		got, err := c.Take(rows)
		require.NoError(t, err, r.ID)
		requireRows(t, modelOf(r.Out...), got)
	}
}

// pythonSlice resolves a Python slice of n elements as slice.indices does.
func pythonSlice(s [3]*int, n int) (lo, hi, step int) {
	step = 1
	if s[2] != nil {
		step = *s[2]
	}
	least, most, lo, hi := 0, n, 0, n
	if step < 0 {
		least, most, lo, hi = -1, n-1, n-1, -1
	}
	resolve := func(p *int, absent int) int {
		if p == nil {
			return absent
		}
		i := *p
		if i < 0 {
			i += n
		}
		return min(max(i, least), most)
	}
	return resolve(s[0], lo), resolve(s[1], hi), step
}

func TestGoldenFromGPUBuffers(t *testing.T) {
	type record struct {
		ID         string
		Offsets    []uint32
		PayloadHex string `json:"payload_hex"`
		Out        []string
	}
	for _, r := range golden[record](t, "from_gpu_buffers") {
		payload, err := hex.DecodeString(r.PayloadHex)
		require.NoError(t, err, r.ID)
		c, err := FromGPUBuffers(r.Offsets, payload)
		require.NoError(t, err, r.ID)
		requireRows(t, modelOf(r.Out...), c)
	}
}

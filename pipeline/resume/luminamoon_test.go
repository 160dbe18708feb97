package resume

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"
)

// goldens decodes a file of answers that were recorded from luminamoon 1.0.6.post1.
func goldens[T any](t *testing.T, name string) []T {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	require.NoError(t, err)
	defer f.Close()
	var out []T
	for dec := json.NewDecoder(bufio.NewReader(f)); dec.More(); {
		var g T
		require.NoError(t, dec.Decode(&g), "%s, object %d", name, len(out)+1)
		out = append(out, g)
	}
	require.NotEmpty(t, out)
	return out
}

func unhex(t *testing.T, s string) []byte {
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

// fields are those of a coordinate as the goldens have them.
func (c LuminamoonCheckpoint) fields() []string {
	out := []string{}
	for _, v := range []uint64{uint64(c.Shard), c.Offset, uint64(c.RowGroup), uint64(c.Page), uint64(c.RowInPage), c.Row} {
		out = append(out, strconv.FormatUint(v, 10))
	}
	return out
}

// TestLuminamoonFiles reads the file after each commit.
func TestLuminamoonFiles(t *testing.T) {
	commits := 0
	for _, g := range goldens[struct {
		ID  string
		Log [][3]json.RawMessage
	}](t, "tracker_files.jsonl") {
		for i, step := range g.Log {
			var file, op string
			var commit struct {
				BatchID uint64 `json:"batch_id"`
				Fields  []string
			}
			require.NoError(t, json.Unmarshal(step[0], &op))
			require.NoError(t, json.Unmarshal(step[1], &commit))
			require.NoError(t, json.Unmarshal(step[2], &file))
			d := newDisk(t)
			writeFile(t, d, "run/ck", unhex(t, file))
			c, err := ReadLuminamoon("run/ck", WithFS(d))
			require.NoError(t, err, g.ID)
			want := commit.Fields
			if op == "open" {
				want = []string{"0", "0", "0", "0", "0", "0"}
			}
			require.Equal(t, want, c.fields(), "%s, step %d", g.ID, i)
			require.Equal(t, commit.BatchID, c.Batch, "%s, step %d", g.ID, i)
			require.EqualValues(t, i, c.Epoch, "%s, step %d", g.ID, i)
			require.Equal(t, Coordinate{c.Shard, c.Offset, c.RowGroup, c.Page, uint64(c.RowInPage)}, c.Coordinate())
			commits++
		}
	}
	t.Logf("%d files", commits)
}

// TestLuminamoonRecovery chooses between the slots of damaged files.
func TestLuminamoonRecovery(t *testing.T) {
	for _, g := range goldens[struct {
		ID, Kind string
		FileHex  string `json:"file_hex"`
		Result   struct {
			Fields  []string
			BatchID uint64 `json:"batch_id"`
			Error   string
		}
	}](t, "tracker_recover.jsonl") {
		d := newDisk(t)
		file := unhex(t, g.FileHex)
		writeFile(t, d, "run/ck", file)
		c, err := ReadLuminamoon("run/ck", WithFS(d))
		require.Equal(t, file, readFile(t, d, "run/ck"))
		if g.Result.Error != "" {
			require.ErrorIs(t, err, ErrCorrupt, "%s, %s", g.ID, g.Kind)
			continue
		}
		require.NoError(t, err, "%s, %s", g.ID, g.Kind)
		require.Equal(t, g.Result.Fields, c.fields(), "%s, %s", g.ID, g.Kind)
		require.Equal(t, g.Result.BatchID, c.Batch, "%s, %s", g.ID, g.Kind)
	}
}

// TestLuminamoonCoordinates puts the recorded bytes of a coordinate into a slot.
func TestLuminamoonCoordinates(t *testing.T) {
	slots := goldens[struct {
		ID  string
		Log [][3]json.RawMessage
	}](t, "tracker_files.jsonl")
	var file string
	require.NoError(t, json.Unmarshal(slots[0].Log[0][2], &file))
	for _, g := range goldens[struct {
		ID       string
		Fields   []string
		BytesHex string `json:"bytes_hex"`
	}](t, "coordinate.jsonl") {
		slot := unhex(t, file)[:64]
		copy(slot[24:56], unhex(t, g.BytesHex))
		c, err := decodeLuminamoon(slot)
		require.ErrorIs(t, err, ErrChecksum, g.ID)
		require.Zero(t, c)
		sumIEEE(slot)
		c, err = decodeLuminamoon(slot)
		require.NoError(t, err, g.ID)
		require.Equal(t, g.Fields, c.fields(), g.ID)
	}
}

func TestLuminamoonRefuses(t *testing.T) {
	d := newDisk(t)
	_, err := ReadLuminamoon("run/ck", WithFS(d))
	require.ErrorIs(t, err, fs.ErrNotExist)
	g := goldens[struct {
		FileHex string `json:"file_hex"`
	}](t, "tracker_recover.jsonl")
	file := unhex(t, g[0].FileHex)
	for n := range 128 {
		writeFile(t, d, "run/ck", file[:n])
		_, err := ReadLuminamoon("run/ck", WithFS(d))
		require.ErrorIs(t, err, ErrShort, "%d bytes", n)
	}
	writeFile(t, d, "run/ck", append(bytes.Clone(file), 1, 2, 3)) // a longer one is kept as well
	_, err = ReadLuminamoon("run/ck", WithFS(d))
	require.NoError(t, err)
	writeFile(t, d, "run/ck", append(bytes.Clone(file[64:]), file[:64]...)) // the newer slot first
	c, err := ReadLuminamoon("run/ck", WithFS(d))
	require.NoError(t, err)
	require.EqualValues(t, 2, c.Epoch)

	file[64+16]++ // of two of one epoch the first
	copy(file[64+8:][:8], file[8:])
	sumIEEE(file[64:128])
	writeFile(t, d, "run/ck", file)
	r, err := InspectLuminamoon("run/ck", WithFS(d))
	require.NoError(t, err)
	require.Zero(t, r.Current)
	require.NoError(t, r.Slots[1].Err)
	require.Equal(t, r.Slots[0].Checkpoint.Epoch, r.Slots[1].Checkpoint.Epoch)
	require.NotEqual(t, r.Slots[0], r.Slots[1])
}

// TestLuminamoonHashes reads what a dedup file must hold: the recorded words, which are the
// XXH3-64 of the records.
func TestLuminamoonHashes(t *testing.T) {
	for _, g := range goldens[struct {
		ID        string
		Records   []string
		Exists    *bool    `json:"file_exists"`
		Len       int      `json:"file_len"`
		Words     []string `json:"words_sorted_le_u64"`
		FileHex   string   `json:"file_hex"`
		ErrorType string   `json:"error_type"`
	}](t, "dedup_wal.jsonl") {
		d := newDisk(t)
		read := func() (words []uint64, err error) {
			words = []uint64{}
			err = ReadLuminamoonHashes("run/wal", func(w []uint64) error {
				words = append(words, w...)
				return nil
			}, WithFS(d))
			return words, err
		}
		switch {
		case g.ErrorType != "":
			writeFile(t, d, "run/wal", unhex(t, g.FileHex))
			words, err := read()
			require.ErrorIs(t, err, ErrShort, g.ID)
			require.Empty(t, words)
			continue
		case !*g.Exists:
			_, err := read()
			require.ErrorIs(t, err, fs.ErrNotExist, g.ID)
			continue
		}
		var file []byte
		for i := range g.Words { // in no order
			w, err := strconv.ParseUint(g.Words[(i*7+3)%len(g.Words)], 10, 64)
			require.NoError(t, err)
			file = binary.LittleEndian.AppendUint64(file, w)
		}
		require.Len(t, file, g.Len)
		writeFile(t, d, "run/wal", file)
		words, err := read()
		require.NoError(t, err)
		var want []uint64
		for _, r := range g.Records {
			want = append(want, xxh3.HashString(r))
		}
		slices.Sort(want)
		slices.Sort(words)
		require.Equal(t, want, words, g.ID)
	}
	// More than one piece.
	d := newDisk(t)
	writeFile(t, d, "run/wal", bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 20_000))
	n, sum := 0, uint64(0)
	require.NoError(t, ReadLuminamoonHashes("run/wal", func(w []uint64) error {
		for _, x := range w {
			n, sum = n+1, sum+x
		}
		return nil
	}, WithFS(d)))
	require.Equal(t, 20_000, n)
	require.EqualValues(t, 20_000, sum)
}

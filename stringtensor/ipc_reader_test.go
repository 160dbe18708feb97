package stringtensor

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// checkedAllocator returns an allocator that fails the test when memory taken
// from it is not given back.
func checkedAllocator(t testing.TB) *arrowmem.CheckedAllocator {
	mem := arrowmem.NewCheckedAllocator(arrowmem.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return mem
}

// rowsOf returns the rows of a column, nil for a null.
func rowsOf(c *Column) []*string {
	rows := make([]*string, c.Len())
	for i := range rows {
		if !c.IsNull(i) {
			s := strings.Clone(c.At(i))
			rows[i] = &s
		}
	}
	return rows
}

// openIPC opens data as a file or stream by the name's extension.
func openIPC(name string, data []byte, opts ...IPCOption) (*IPCReader, error) {
	if filepath.Ext(name) == ".arrow" {
		return NewIPCFileReader(bytes.NewReader(data), int64(len(data)), opts...)
	}
	return NewIPCStreamReader(bytes.NewReader(data), opts...)
}

// readAll reads all batches as maps from column to rows, and returns what came
// before an error with it.
func readAll(t testing.TB, r *IPCReader) ([]map[string][]*string, error) {
	var all []map[string][]*string
	for {
		b, err := r.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		m := map[string][]*string{}
		for i, name := range b.Names {
			require.NoError(t, b.Columns[i].Validate())
			require.Equal(t, b.Rows, b.Columns[i].Len())
			m[name] = rowsOf(b.Columns[i])
		}
		b.Release()
		all = append(all, m)
	}
}

// ipcFixtures returns what pyarrow wrote, and the rows it put in.
func ipcFixtures(t testing.TB) map[string][]map[string][]*string {
	data, err := os.ReadFile("testdata/arrow_fixtures.json")
	require.NoError(t, err)
	var want map[string][]map[string][]*string
	require.NoError(t, json.Unmarshal(data, &want))
	for _, rows := range want["arrow_binary.arrow"][0]["text"] {
		if rows != nil {
			raw, err := hex.DecodeString(*rows)
			require.NoError(t, err)
			*rows = string(raw)
		}
	}
	return want
}

func fixture(t testing.TB, name string) []byte {
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return data
}

func TestIPCReaderReadsPyarrow(t *testing.T) {
	want := ipcFixtures(t)
	require.Len(t, want, 10)
	for name, rows := range want {
		t.Run(name, func(t *testing.T) {
			r, err := openIPC(name, fixture(t, name), WithIPCAllocator(checkedAllocator(t)),
				WithIPCArrow(WithRawBinary(true), WithUTF8Check(!strings.Contains(name, "binary"))))
			require.NoError(t, err)
			defer r.Close()
			got, err := readAll(t, r)
			require.NoError(t, err)
			require.Equal(t, rows, got)
			_, err = r.Next()
			require.Equal(t, io.EOF, err)
		})
	}
}

func TestIPCReaderColumns(t *testing.T) {
	data := fixture(t, "arrow_mixed.arrow")
	r, err := openIPC("x.arrow", data)
	require.NoError(t, err)
	require.Equal(t, []string{"text", "title", "nothing"}, r.Names())
	origin, _ := r.Schema().Metadata().GetValue("origin")
	require.Equal(t, "arrow_fixtures.py", origin)
	require.NoError(t, r.Close())
	_, err = r.Next()
	require.ErrorIs(t, err, ErrClosed)

	r, err = openIPC("x.arrow", data, WithIPCColumns("title", "text"))
	require.NoError(t, err)
	b, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, []string{"title", "text"}, b.Names)
	c, err := b.Column("text")
	require.NoError(t, err)
	require.Equal(t, "x", c.At(0))
	_, err = b.Column("id")
	require.ErrorIs(t, err, ErrNoColumn)

	_, err = openIPC("x.arrow", data, WithIPCColumns("txt"))
	require.ErrorIs(t, err, ErrNoColumn)
	require.ErrorContains(t, err, `"txt"; there are "id" (int64), "text" (utf8), "tags"`)
	_, err = openIPC("x.arrow", data, WithIPCColumns("id"))
	require.ErrorIs(t, err, ErrUnsupportedType)
	require.ErrorContains(t, err, `"id" is int64`)
}

func TestIPCReaderNamesTheRow(t *testing.T) {
	mem := checkedAllocator(t)
	r, err := openIPC("x.arrow", fixture(t, "arrow_binary.arrow"), WithIPCAllocator(mem))
	require.NoError(t, err)
	_, err = r.Next()
	require.ErrorIs(t, err, ErrInvalidUTF8)
	require.ErrorContains(t, err, `batch 0: column "text": `)
	require.ErrorContains(t, err, "row 0")
	_, again := r.Next()
	require.Equal(t, err, again)
	require.NoError(t, r.Close())
}

func TestIPCReaderBatchesOutliveIt(t *testing.T) {
	mem := checkedAllocator(t)
	for name, want := range ipcFixtures(t) {
		r, err := openIPC(name, fixture(t, name), WithIPCAllocator(mem), WithIPCArrow(WithRawBinary(true)))
		require.NoError(t, err)
		var batches []*Batch
		for {
			b, err := r.Next()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			batches = append(batches, b)
		}
		require.NoError(t, r.Close())
		require.Len(t, batches, len(want))
		for i, b := range batches {
			for k, name := range b.Names {
				require.Equal(t, want[i][name], rowsOf(b.Columns[k]))
			}
			b.Release()
		}
	}
}

func TestIPCReaderSeekBatch(t *testing.T) {
	mem := checkedAllocator(t)
	for _, name := range []string{"arrow_string_view.arrow", "arrow_dictionary.arrow"} {
		want := ipcFixtures(t)[name]
		r, err := openIPC(name, fixture(t, name), WithIPCAllocator(mem))
		require.NoError(t, err)
		require.Equal(t, len(want), r.Batches())
		for _, i := range []int{1, 0, 2, 1} {
			require.NoError(t, r.SeekBatch(i))
			got, err := readAll(t, r)
			require.NoError(t, err)
			require.Equal(t, append([]map[string][]*string(nil), want[i:]...), got)
		}
		require.ErrorIs(t, r.SeekBatch(3), ErrOutOfRange)
		require.ErrorIs(t, r.SeekBatch(-1), ErrOutOfRange)
		require.NoError(t, r.Close())
	}
	r, err := openIPC("x.arrows", fixture(t, "arrow_large_string.arrows"))
	require.NoError(t, err)
	require.Equal(t, -1, r.Batches())
	require.ErrorIs(t, r.SeekBatch(0), ErrOutOfRange)
}

// A stream that is cut off gives all whole batches before the cut, then an error
// with the place; a file that is cut off cannot be opened.
func TestIPCReaderCutOff(t *testing.T) {
	mem := checkedAllocator(t)
	for name, want := range ipcFixtures(t) {
		data := fixture(t, name)
		before := 0
		for n := range len(data) {
			r, err := openIPC(name, data[:n], WithIPCAllocator(mem), WithIPCArrow(WithRawBinary(true)))
			var got []map[string][]*string
			if err == nil {
				got, err = readAll(t, r)
			}
			require.ErrorIs(t, err, ErrInvalid, "%s cut at %d", name, n)
			if filepath.Ext(name) == ".arrow" {
				require.Nil(t, r)
				continue
			}
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s cut at %d", name, n)
			require.ErrorContains(t, err, "at byte ")
			require.GreaterOrEqual(t, len(got), before)
			before = len(got)
			require.Equal(t, append([]map[string][]*string(nil), want[:before]...), got)
		}
		if filepath.Ext(name) == ".arrows" {
			require.Equal(t, len(want), before, "all rows before the cut of the end marker")
		}
	}
}

func TestIPCReaderOpenEnd(t *testing.T) {
	name := "arrow_large_string.arrows"
	data := fixture(t, name)
	r, err := openIPC(name, data[:len(data)-8], WithIPCOpenEnd(true))
	require.NoError(t, err)
	got, err := readAll(t, r)
	require.NoError(t, err)
	require.Equal(t, ipcFixtures(t)[name], got)

	r, err = openIPC(name, data[:len(data)-8])
	require.NoError(t, err)
	_, err = readAll(t, r)
	require.ErrorContains(t, err, "without an end marker")
}

func TestIPCReaderStopsAtTheEndMarker(t *testing.T) {
	data := append(fixture(t, "arrow_large_string.arrows"), "more"...)
	in := bytes.NewReader(data)
	r, err := NewIPCStreamReader(in)
	require.NoError(t, err)
	_, err = readAll(t, r)
	require.NoError(t, err)
	require.Equal(t, 4, in.Len())
}

func TestIPCReaderTakesAFileForAStream(t *testing.T) {
	_, err := openIPC("x.arrows", fixture(t, "arrow_string.arrow"))
	require.ErrorIs(t, err, ErrInvalid)
	require.ErrorContains(t, err, "this is an Arrow file, not a stream")
	_, err = openIPC("x.arrow", fixture(t, "arrow_large_string.arrows"))
	require.ErrorIs(t, err, ErrInvalid)
}

// Bits of every byte flipped: an error or other rows, never a panic, a leak
// or a column that is not valid.
func TestIPCReaderCorrupt(t *testing.T) {
	for name := range ipcFixtures(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mem := checkedAllocator(t)
			data := fixture(t, name)
			for i := range data {
				for _, flip := range []byte{0x01, 0x80} {
					data[i] ^= flip
					r, err := openIPC(name, data, WithIPCAllocator(mem), WithIPCMaxMessage(1<<20))
					if err == nil {
						_, _ = readAll(t, r)
						require.NoError(t, r.Close())
					}
					data[i] ^= flip
				}
			}
		})
	}
}

// What a message takes is bounded, however it grows: by its body, by
// decompression, or by rows that take no bytes.
func TestIPCReaderMessageTooLarge(t *testing.T) {
	mem := checkedAllocator(t)
	c := columnOf(t, rows(strings.Repeat("x", 1<<20)))
	for _, z := range []IPCCompression{IPCUncompressed, IPCLZ4, IPCZstd} {
		var out bytes.Buffer
		require.NoError(t, WriteIPCStream(&out, []string{"a"}, []*Column{c}, WithIPCCompression(z)))
		for limit, want := range map[int64]error{1 << 19: ErrMessageTooLarge, 3 << 20: nil} {
			r, err := openIPC("x.arrows", out.Bytes(), WithIPCAllocator(mem), WithIPCMaxMessage(limit))
			require.NoError(t, err)
			_, err = readAll(t, r)
			require.ErrorIs(t, err, want)
			require.NoError(t, r.Close())
		}
	}

	nulls := array.NewNull(1 << 20)
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.Null}}, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	require.NoError(t, w.Write(array.NewRecordBatch(schema, []arrow.Array{nulls}, 1<<20)))
	require.NoError(t, w.Close())
	for limit, want := range map[int64]error{1 << 20: ErrMessageTooLarge, 16 << 20: nil} {
		r, err := openIPC("x.arrows", out.Bytes(), WithIPCAllocator(mem), WithIPCMaxMessage(limit))
		require.NoError(t, err)
		_, err = readAll(t, r)
		require.ErrorIs(t, err, want)
		require.NoError(t, r.Close())
	}
}

// A stream that announces a long body and has none does not cost the memory of
// one.
func TestIPCReaderBodyOnCredit(t *testing.T) {
	var out bytes.Buffer
	c := columnOf(t, rows(strings.Repeat("x", 32<<20)))
	require.NoError(t, WriteIPCStream(&out, []string{"a"}, []*Column{c}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := openIPC("x.arrows", out.Bytes()[:1000])
	require.NoError(t, err)
	_, err = r.Next()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20))

	r, err = openIPC("x.arrows", out.Bytes(), WithIPCAllocator(checkedAllocator(t)))
	require.NoError(t, err)
	got, err := readAll(t, r)
	require.NoError(t, err)
	require.Len(t, *got[0]["a"][0], 32<<20)
	require.NoError(t, r.Close())
}

// A column that is refused gives back those of the batch before it.
func TestIPCReaderSecondColumnFails(t *testing.T) {
	mem := checkedAllocator(t)
	var out bytes.Buffer
	good, bad := columnOf(t, rows(strings.Repeat("x", 20))), columnOf(t, rows("\xff"))
	require.NoError(t, WriteIPCFile(&out, []string{"good", "bad"}, []*Column{good, bad}, WithIPCType(ArrowBinary)))
	r, err := openIPC("x.arrow", out.Bytes(), WithIPCAllocator(mem))
	require.NoError(t, err)
	_, err = r.Next()
	require.ErrorContains(t, err, `column "bad": `)
	require.ErrorContains(t, err, "row 0")
	require.Zero(t, mem.CurrentAlloc())
}

type failingReader struct {
	r    io.Reader
	left int
}

func (f *failingReader) Read(p []byte) (int, error) {
	if f.left == 0 {
		return 0, os.ErrDeadlineExceeded
	}
	n, err := f.r.Read(p[:min(len(p), f.left)])
	f.left -= n
	return n, err
}

// An error of the input is handed on as what it is, not as corrupt bytes.
func TestIPCReaderInputFails(t *testing.T) {
	mem := checkedAllocator(t)
	data := fixture(t, "arrow_dictionary_delta.arrows")
	for n := range len(data) {
		r, err := NewIPCStreamReader(&failingReader{bytes.NewReader(data), n}, WithIPCAllocator(mem))
		if err == nil {
			_, err = readAll(t, r)
		}
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.NotErrorIs(t, err, ErrInvalid)
	}
}

func FuzzIPCReader(f *testing.F) {
	for name := range ipcFixtures(f) {
		f.Add(fixture(f, name), filepath.Ext(name) == ".arrow")
	}
	f.Fuzz(func(t *testing.T, data []byte, file bool) {
		name := "x.arrows"
		if file {
			name = "x.arrow"
		}
		r, err := openIPC(name, data, WithIPCAllocator(checkedAllocator(t)), WithIPCMaxMessage(1<<20))
		if err == nil {
			_, _ = readAll(t, r)
			require.NoError(t, r.Close())
		}
	})
}

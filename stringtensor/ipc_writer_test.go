package stringtensor

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var ipcTypes = []ArrowType{ArrowStringView, ArrowString, ArrowLargeString, ArrowBinaryView, ArrowBinary, ArrowLargeBinary}

// newIPC opens a writer of a file or stream by the name's extension.
func newIPC(name string, w io.Writer, names []string, opts ...IPCOption) (*IPCWriter, error) {
	if strings.HasSuffix(name, ".arrow") {
		return NewIPCFileWriter(w, names, opts...)
	}
	return NewIPCStreamWriter(w, names, opts...)
}

// readByArrow reads what was written with Arrow's own readers.
func readByArrow(t require.TestingT, name string, data []byte) []map[string][]*string {
	var all []map[string][]*string
	add := func(rec arrow.RecordBatch) {
		m := map[string][]*string{}
		for i, f := range rec.Schema().Fields() {
			m[f.Name] = arrowRowsOf(rec.Column(i))
		}
		all = append(all, m)
	}
	if strings.HasSuffix(name, ".arrow") {
		r, err := ipc.NewFileReader(bytes.NewReader(data))
		require.NoError(t, err)
		defer r.Close()
		for i := range r.NumRecords() {
			rec, err := r.RecordBatch(i)
			require.NoError(t, err)
			add(rec)
		}
		return all
	}
	r, err := ipc.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	defer r.Release()
	for r.Next() {
		add(r.RecordBatch())
	}
	require.NoError(t, r.Err())
	return all
}

func TestIPCWriterRoundTrip(t *testing.T) {
	for _, name := range []string{"x.arrow", "x.arrows"} {
		for _, typ := range ipcTypes {
			for _, z := range []IPCCompression{IPCUncompressed, IPCLZ4, IPCZstd} {
				t.Run(fmt.Sprint(name, "/", typ, "/", z), func(t *testing.T) {
					mem := checkedAllocator(t)
					var out bytes.Buffer
					w, err := newIPC(name, &out, []string{"a", "b"}, WithIPCType(typ), WithIPCCompression(z),
						WithIPCAllocator(mem), WithIPCMetadata(map[string]string{"k": "v"}))
					require.NoError(t, err)
					var want []map[string][]*string
					for _, list := range rowLists() {
						a, b := columnOf(t, list), columnOf(t, make([]*string, len(list)))
						require.NoError(t, w.Write(a, b))
						want = append(want, map[string][]*string{"a": list, "b": make([]*string, len(list))})
					}
					require.NoError(t, w.Close())
					require.NoError(t, w.Close())
					require.ErrorIs(t, w.Write(nil, nil), ErrClosed)
					require.Equal(t, want, readByArrow(t, name, out.Bytes()))

					r, err := openIPC(name, out.Bytes(), WithIPCAllocator(mem))
					require.NoError(t, err)
					v, _ := r.Schema().Metadata().GetValue("k")
					require.Equal(t, "v", v)
					got, err := readAll(t, r)
					require.NoError(t, err)
					require.Equal(t, want, got)
					require.NoError(t, r.Close())
				})
			}
		}
	}
}

func TestIPCWriterEmpty(t *testing.T) {
	for _, name := range []string{"x.arrow", "x.arrows"} {
		for _, names := range [][]string{{}, {"a"}} {
			var out bytes.Buffer
			w, err := newIPC(name, &out, names)
			require.NoError(t, err)
			require.NoError(t, w.Close())
			r, err := openIPC(name, out.Bytes())
			require.NoError(t, err)
			_, err = r.Next()
			require.Equal(t, io.EOF, err)
			require.Equal(t, len(names), len(r.Names()))
		}
	}
}

func TestIPCWriterErrors(t *testing.T) {
	_, err := NewIPCFileWriter(io.Discard, []string{"a", "b", "a"})
	require.ErrorIs(t, err, ErrInvalid)
	require.ErrorContains(t, err, `columns 0 and 2 are both named "a"`)
	_, err = NewIPCFileWriter(io.Discard, []string{"a"}, WithIPCType(ArrowStringAuto))
	require.ErrorIs(t, err, ErrUnsupportedType)
	_, err = NewIPCStreamWriter(io.Discard, []string{"a"}, WithIPCCompression(9))
	require.ErrorIs(t, err, ErrUnsupportedType)

	w, err := NewIPCFileWriter(io.Discard, []string{"a", "b"})
	require.NoError(t, err)
	require.ErrorIs(t, w.Write(columnOf(t, nil)), ErrLengthMismatch)
	err = w.Write(columnOf(t, rows("x")), columnOf(t, rows()))
	require.ErrorIs(t, err, ErrLengthMismatch)
	require.ErrorContains(t, err, `column "b" has 0 rows, column "a" 1`)
	require.NoError(t, w.Write(columnOf(t, rows("x")), columnOf(t, rows("y"))), "a refused call leaves the writer usable")
}

// fullDisk fails after some bytes.
type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.left {
		n := d.left
		d.left = 0
		return n, io.ErrShortWrite
	}
	d.left -= len(p)
	return len(p), nil
}

// Wherever writing fails, the error is told by every later call, and the file is
// not finished, so that nobody takes it for whole.
func TestIPCWriterInputOutputError(t *testing.T) {
	var whole bytes.Buffer
	c := columnOf(t, rowLists()["many"])
	require.NoError(t, WriteIPCFile(&whole, []string{"a"}, []*Column{c}))
	for n := range whole.Len() {
		mem := checkedAllocator(t)
		w, err := NewIPCFileWriter(&fullDisk{n}, []string{"a"}, WithIPCAllocator(mem))
		require.NoError(t, err)
		werr := w.Write(c)
		cerr := w.Close()
		require.Error(t, cerr, "at byte %d", n)
		require.ErrorIs(t, cerr, io.ErrShortWrite)
		if werr != nil {
			require.Equal(t, werr, cerr)
		}
		require.Error(t, w.Write(c))
	}
}

// A batch whose payload int32 offsets cannot address becomes several.
func TestIPCWriterCutsAtTheLimit(t *testing.T) {
	list := rows("0123456789", "abcde", nil, "fghij", "klmnopqrst", "", "0123456789abcde", "x")
	other := rows("", "", "", "", "", "", "", "yyyyyyyyyyyyyyy")
	for _, name := range []string{"x.arrow", "x.arrows"} {
		mem := checkedAllocator(t)
		var out bytes.Buffer
		w, err := newIPC(name, &out, []string{"a", "b"}, WithIPCType(ArrowString), WithIPCAllocator(mem), WithIPCArrow(WithArrowLimit(15)))
		require.NoError(t, err)
		require.NoError(t, w.Write(columnOf(t, list), columnOf(t, other)))
		require.NoError(t, w.Close())
		got := readByArrow(t, name, out.Bytes())
		require.Len(t, got, 4)
		var a, b []*string
		for _, m := range got {
			a, b = append(a, m["a"]...), append(b, m["b"]...)
		}
		require.Equal(t, list, a)
		require.Equal(t, other, b)

		w, err = newIPC(name, io.Discard, []string{"a"}, WithIPCType(ArrowString), WithIPCAllocator(mem), WithIPCArrow(WithArrowLimit(15)))
		require.NoError(t, err)
		err = w.Write(columnOf(t, rows("short", "0123456789abcdef")))
		require.ErrorIs(t, err, ErrOffsetOverflow)
		require.ErrorContains(t, err, "rows 1 to 2")
		require.Equal(t, err, w.Close())
	}
}

// Slices of one column write their own rows, not the whole column each.
func TestIPCWriterWritesUsedBytesOnly(t *testing.T) {
	list := make([]*string, 1000)
	for i := range list {
		list[i] = rows(strings.Repeat("x", 100))[0]
	}
	c := columnOf(t, list)
	var out bytes.Buffer
	w, err := NewIPCStreamWriter(&out, []string{"a"})
	require.NoError(t, err)
	for lo := 0; lo < len(list); lo += 10 {
		part, err := c.Slice(lo, lo+10)
		require.NoError(t, err)
		require.NoError(t, w.Write(part))
	}
	require.NoError(t, w.Close())
	require.Less(t, out.Len(), 2*1000*(100+ViewSize))
}

func TestIPCRoundTripAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := arrowmem.NewCheckedAllocator(arrowmem.DefaultAllocator)
		list := drawRows(t)
		c := columnOf(t, list)
		// column → Arrow → column → IPC → column
		arr, err := c.ToArrow(mem, ArrowType(rapid.IntRange(0, int(ArrowBinaryAuto)).Draw(t, "type")))
		require.NoError(t, err)
		c, err = FromArrow(arr)
		require.NoError(t, err)
		arr.Release()
		name := rapid.SampledFrom([]string{"x.arrow", "x.arrows"}).Draw(t, "name")
		var out bytes.Buffer
		w, err := newIPC(name, &out, []string{"text"}, WithIPCAllocator(mem),
			WithIPCType(rapid.SampledFrom(ipcTypes).Draw(t, "written as")),
			WithIPCCompression(IPCCompression(rapid.IntRange(0, 2).Draw(t, "compression"))))
		require.NoError(t, err)
		cut := rapid.IntRange(0, len(list)).Draw(t, "cut")
		for _, rows := range [][2]int{{0, cut}, {cut, len(list)}} {
			part, err := c.Slice(rows[0], rows[1])
			require.NoError(t, err)
			require.NoError(t, w.Write(part))
			part.Release()
		}
		require.NoError(t, w.Close())
		c.Release()
		r, err := openIPC(name, out.Bytes(), WithIPCAllocator(mem))
		require.NoError(t, err)
		a, err := r.Next()
		require.NoError(t, err)
		b, err := r.Next()
		require.NoError(t, err)
		require.NoError(t, r.Close())
		requireColumn(t, list[:cut], a.Columns[0])
		requireColumn(t, list[cut:], b.Columns[0])
		a.Release()
		b.Release()
		require.Zero(t, mem.CurrentAlloc())
	})
}

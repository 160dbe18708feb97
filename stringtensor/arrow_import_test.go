package stringtensor

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// arrowTypes are the types whose arrays become columns, besides dictionaries.
var arrowTypes = []arrow.DataType{
	arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView,
	arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.BinaryView,
}

var indexTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint16,
	arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64,
}

// rows makes a list of rows of strings and nils.
func rows(list ...any) []*string {
	out := make([]*string, len(list))
	for i, x := range list {
		if s, ok := x.(string); ok {
			out[i] = &s
		}
	}
	return out
}

// buildArray makes an array of the rows with Arrow's own builder.
func buildArray(t require.TestingT, mem arrowmem.Allocator, typ arrow.DataType, rows []*string) arrow.Array {
	b := array.NewBuilder(mem, typ)
	defer b.Release()
	for _, s := range rows {
		if s == nil {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case interface{ Append(string) }:
			b.Append(*s)
		case interface{ Append([]byte) }:
			b.Append([]byte(*s))
		default:
			require.Fail(t, "no builder", "%s", typ)
		}
	}
	return b.NewArray()
}

// buildDictionary makes a dictionary array; an index below 0 is a null.
func buildDictionary(mem arrowmem.Allocator, index arrow.DataType, dict arrow.Array, indices []int) arrow.Array {
	b := array.NewBuilder(mem, index)
	defer b.Release()
	for _, x := range indices {
		if x < 0 {
			b.AppendNull()
		} else if err := b.AppendValueFromString(fmt.Sprint(x)); err != nil {
			panic(err)
		}
	}
	ix := b.NewArray()
	defer ix.Release()
	return array.NewDictionaryArray(&arrow.DictionaryType{IndexType: index, ValueType: dict.DataType()}, ix, dict)
}

// arrowRowsOf reads the rows of an array by Arrow's own accessors.
func arrowRowsOf(arr arrow.Array) []*string {
	out := make([]*string, arr.Len())
	for i := range out {
		if arr.IsNull(i) {
			continue
		}
		var s string
		switch a := arr.(type) {
		case interface{ Value(int) string }:
			s = strings.Clone(a.Value(i))
		case interface{ Value(int) []byte }:
			s = string(a.Value(i))
		case *array.Dictionary:
			out[i] = arrowRowsOf(a.Dictionary())[a.GetValueIndex(i)]
			continue
		}
		out[i] = &s
	}
	return out
}

// requireColumn checks that c is valid and has the rows.
func requireColumn(t require.TestingT, want []*string, c *Column) {
	require.NoError(t, c.Validate())
	got := rowsOf(c)
	require.Len(t, got, len(want))
	nulls := 0
	for i := range want {
		require.Equal(t, want[i], got[i], "row %d", i)
		if want[i] == nil {
			nulls++
		}
	}
	require.Equal(t, nulls, c.NullCount())
}

// rowLists are the lists of rows every type is tried with.
func rowLists() map[string][]*string {
	long := strings.Repeat("é", 20)
	lists := map[string][]*string{
		"empty":      rows(),
		"null":       rows(nil),
		"one":        rows(long),
		"all null":   make([]*string, 70),
		"all empty":  rows("", "", ""),
		"null first": rows(nil, "", "123456789012", "1234567890123", long, nil),
		"no null":    rows("a", long, "東京", long+long, "\x00"),
	}
	var many []*string
	for i := range 200 {
		switch {
		case i%7 == 3:
			many = append(many, nil)
		default:
			many = append(many, rows(strings.Repeat(string(rune('a'+i%26)), i%31))...)
		}
	}
	lists["many"] = many
	return lists
}

func TestFromArrowAgreesWithArrow(t *testing.T) {
	for _, typ := range arrowTypes {
		for name, list := range rowLists() {
			t.Run(fmt.Sprint(typ, "/", name), func(t *testing.T) {
				mem := checkedAllocator(t)
				arr := buildArray(t, mem, typ, list)
				require.Equal(t, list, arrowRowsOf(arr))
				c, err := FromArrow(arr, WithUTF8Check(true))
				require.NoError(t, err)
				requireColumn(t, list, c)
				for lo := 0; lo <= len(list); lo = lo*3/2 + 1 {
					for hi := lo; hi <= len(list); hi = hi*3/2 + 1 {
						s := array.NewSlice(arr, int64(lo), int64(hi))
						part, err := FromArrow(s)
						require.NoError(t, err)
						requireColumn(t, arrowRowsOf(s), part)
						s.Release()
						part.Release()
					}
				}
				// The column outlives the array.
				arr.Release()
				requireColumn(t, list, c)
				c.Release()
			})
		}
	}
}

func TestFromArrowDictionary(t *testing.T) {
	long := strings.Repeat("x", 40)
	for _, typ := range arrowTypes {
		for _, index := range indexTypes {
			for name, dict := range map[string][]*string{
				"valid":     rows("red", long, ""),
				"with null": rows("red", nil, long),
			} {
				t.Run(fmt.Sprint(typ, "/", index, "/", name), func(t *testing.T) {
					mem := checkedAllocator(t)
					d := buildArray(t, mem, typ, dict)
					defer d.Release()
					for _, indices := range [][]int{{}, {2, 0, 1, 1, 2}, {-1, 2, -1, 0, 1, 2, 2, 1, 0, -1}} {
						arr := buildDictionary(mem, index, d, indices)
						for lo := range arr.Len() + 1 {
							s := array.NewSlice(arr, int64(lo), int64(arr.Len()))
							c, err := FromArrow(s)
							require.NoError(t, err)
							requireColumn(t, arrowRowsOf(s), c)
							s.Release()
							c.Release()
						}
						arr.Release()
					}
				})
			}
		}
	}
}

// A dictionary that is a slice, and one without rows.
func TestFromArrowDictionaryOfASlice(t *testing.T) {
	mem := checkedAllocator(t)
	all := buildArray(t, mem, arrow.BinaryTypes.String, rows("unused", strings.Repeat("y", 30), "short"))
	defer all.Release()
	d := array.NewSlice(all, 1, 3)
	defer d.Release()
	arr := buildDictionary(mem, arrow.PrimitiveTypes.Int8, d, []int{1, 0})
	c, err := FromArrow(arr)
	require.NoError(t, err)
	arr.Release()
	requireColumn(t, rows("short", strings.Repeat("y", 30)), c)
	c.Release()

	none := array.NewSlice(all, 0, 0)
	defer none.Release()
	arr = buildDictionary(mem, arrow.PrimitiveTypes.Int8, none, []int{-1, -1})
	defer arr.Release()
	c, err = FromArrow(arr)
	require.NoError(t, err)
	requireColumn(t, rows(nil, nil), c)
	c.Release()
}

func TestFromArrowNull(t *testing.T) {
	for _, n := range []int{0, 1, 9} {
		arr := array.NewNull(n)
		c, err := FromArrow(arr)
		require.NoError(t, err)
		requireColumn(t, make([]*string, n), c)
		arr.Release()
	}
}

func TestFromArrowUnsupported(t *testing.T) {
	mem := checkedAllocator(t)
	b := array.NewInt64Builder(mem)
	defer b.Release()
	b.Append(1)
	arr := b.NewArray()
	defer arr.Release()
	_, err := FromArrow(arr)
	require.ErrorIs(t, err, ErrUnsupportedType)
	require.ErrorContains(t, err, "int64")
	d := buildDictionary(mem, arrow.PrimitiveTypes.Int8, arr, []int{0})
	defer d.Release()
	_, err = FromArrow(d)
	require.ErrorIs(t, err, ErrUnsupportedType)
	ch := arrow.NewChunked(arr.DataType(), nil)
	defer ch.Release()
	_, err = FromChunked(ch)
	require.ErrorIs(t, err, ErrUnsupportedType)
	_, err = FromArrow(nil)
	require.Error(t, err)
	_, err = FromChunked(nil)
	require.Error(t, err)
}

func TestFromChunked(t *testing.T) {
	for _, typ := range arrowTypes {
		t.Run(typ.String(), func(t *testing.T) {
			mem := checkedAllocator(t)
			var chunks []arrow.Array
			var want []*string
			for _, list := range rowLists() {
				chunks = append(chunks, buildArray(t, mem, typ, list))
				want = append(want, list...)
			}
			for n := range len(chunks) + 1 {
				ch := arrow.NewChunked(typ, chunks[:n])
				want = want[:0]
				for _, c := range ch.Chunks() {
					want = append(want, arrowRowsOf(c)...)
				}
				c, err := FromChunked(ch)
				require.NoError(t, err)
				ch.Release()
				requireColumn(t, want, c)
				c.Release()
			}
			for _, c := range chunks {
				c.Release()
			}
		})
	}
}

// Chunks that are slices of one array share its buffers, which the column has
// once.
func TestFromChunkedSharesBuffers(t *testing.T) {
	for _, typ := range arrowTypes {
		mem := checkedAllocator(t)
		arr := buildArray(t, mem, typ, rowLists()["many"])
		whole, err := FromArrow(arr)
		require.NoError(t, err)
		var chunks []arrow.Array
		for i := range arr.Len() {
			chunks = append(chunks, array.NewSlice(arr, int64(i), int64(i+1)))
		}
		ch := arrow.NewChunked(typ, chunks)
		for _, c := range chunks {
			c.Release()
		}
		c, err := FromChunked(ch)
		require.NoError(t, err)
		ch.Release()
		requireColumn(t, arrowRowsOf(arr), c)
		require.Len(t, c.Buffers(), len(whole.Buffers()))
		arr.Release()
		whole.Release()
		c.Release()
	}
}

// overlaps reports whether b lies in the memory of mb.
func overlaps(b []byte, mb *arrowmem.Buffer) bool {
	m := mb.Bytes()
	lo, p := uintptr(unsafe.Pointer(unsafe.SliceData(m))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return p >= lo && p+uintptr(len(b)) <= lo+uintptr(len(m))
}

func TestFromArrowDoesNotCopy(t *testing.T) {
	list := rowLists()["no null"]
	for _, typ := range arrowTypes {
		mem := checkedAllocator(t)
		arr := buildArray(t, mem, typ, list)
		c, err := FromArrow(arr)
		require.NoError(t, err)
		require.True(t, overlaps(c.Bytes(1), arr.Data().Buffers()[2]), "payload of %s", typ)
		if typ.ID() == arrow.STRING_VIEW || typ.ID() == arrow.BINARY_VIEW {
			require.Same(t, unsafe.SliceData(arr.Data().Buffers()[1].Bytes()), (*byte)(unsafe.Pointer(unsafe.SliceData(c.views))))
		}
		arr.Release()
		c.Release()
	}
}

// Each derived column has its own claim, in any order of release.
func TestFromArrowClaims(t *testing.T) {
	list := rowLists()["many"]
	for _, typ := range arrowTypes {
		mem := checkedAllocator(t)
		arr := buildArray(t, mem, typ, list)
		c, err := FromArrow(arr)
		require.NoError(t, err)
		arr.Release()
		part, err := c.Slice(3, 150)
		require.NoError(t, err)
		c.Release()
		few, err := part.Take([]uint32{29, 0, 30})
		require.NoError(t, err)
		both, err := Concat(part, few)
		require.NoError(t, err)
		own := both.Compact()
		part.Release()
		few.Release()
		requireColumn(t, append(append([]*string(nil), list[3:150]...), list[32], list[3], list[33]), both)
		both.Release()
		require.Zero(t, mem.CurrentAlloc(), "%s", typ)
		requireColumn(t, append(append([]*string(nil), list[3:150]...), list[32], list[3], list[33]), own)
	}
}

// What a slice of an array keeps alive is all of the array's memory that it
// shares: payload, views, validity.
func TestFromArrowRetainedBytes(t *testing.T) {
	mem := checkedAllocator(t)
	list := make([]*string, 1000)
	for i := range list {
		list[i] = rows(fmt.Sprintf("a row of more than twelve bytes, number %d", i))[0]
	}
	for _, typ := range arrowTypes {
		arr := buildArray(t, mem, typ, list)
		s := array.NewSlice(arr, 0, 2)
		c, err := FromArrow(s)
		require.NoError(t, err)
		require.Greater(t, c.RetainedBytes(), int64(35_000))
		s.Release()
		arr.Release()
		c.Release()
	}
	for i := range list {
		list[i] = rows("short", nil)[i%2]
	}
	arr := buildArray(t, mem, arrow.BinaryTypes.StringView, list)
	s := array.NewSlice(arr, 0, 2)
	c, err := FromArrow(s)
	require.NoError(t, err)
	require.GreaterOrEqual(t, c.RetainedBytes(), int64(1000*ViewSize+1000/8))
	s.Release()
	arr.Release()
	c.Release()
}

func TestFromArrowLimit(t *testing.T) {
	list := rows("abcdefghijklmno", "inline", "pqrstuvwxyzABCD", nil, "", "0123456789abc", "EFGHIJKLMNOPQRS")
	for _, typ := range []arrow.DataType{arrow.BinaryTypes.LargeString, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeBinary} {
		mem := checkedAllocator(t)
		arr := buildArray(t, mem, typ, list)
		for limit := 15; limit < 80; limit++ {
			c, err := FromArrow(arr, WithArrowLimit(limit))
			require.NoError(t, err)
			requireColumn(t, list, c)
			for _, b := range c.Buffers() {
				require.LessOrEqual(t, b.Len(), limit)
			}
			c.Release()
		}
		c, err := FromArrow(arr, WithArrowLimit(15))
		require.NoError(t, err)
		require.Len(t, c.Buffers(), 4)
		c.Release()
		_, err = FromArrow(arr, WithArrowLimit(14))
		require.ErrorIs(t, err, ErrStringTooLong)
		require.ErrorContains(t, err, "row 0")
		arr.Release()
	}
}

func TestFromArrowUTF8(t *testing.T) {
	for _, typ := range arrowTypes {
		mem := checkedAllocator(t)
		for _, bad := range []string{"\xff", "cut off: \xe6\x9d", strings.Repeat("x", 20) + "\xed\xa0\x80"} {
			arr := buildArray(t, mem, typ, rows("good", nil, bad))
			binary := strings.Contains(typ.String(), "binary")
			_, err := FromArrow(arr, WithUTF8Check(true))
			require.ErrorIs(t, err, ErrInvalidUTF8)
			require.ErrorContains(t, err, "row 2")
			c, err := FromArrow(arr, WithRawBinary(true))
			require.NoError(t, err)
			requireColumn(t, rows("good", nil, bad), c)
			c.Release()
			c, err = FromArrow(arr)
			require.Equal(t, binary, err != nil)
			if err == nil {
				c.Release()
			}
			ch := arrow.NewChunked(typ, []arrow.Array{arr, arr})
			_, err = FromChunked(ch, WithUTF8Check(true))
			require.ErrorContains(t, err, "chunk 0: ")
			ch.Release()
			arr.Release()
		}
	}
}

func TestFromArrowViewsOfPyarrow(t *testing.T) {
	f, err := os.Open("testdata/arrow_views_pyarrow.jsonl")
	require.NoError(t, err)
	defer f.Close()
	lines := 0
	for sc := bufio.NewScanner(f); sc.Scan(); lines++ {
		var g struct {
			ID    string   `json:"id"`
			In    []string `json:"in"`
			Views string   `json:"views_hex"`
			Data  []string `json:"data_hex"`
		}
		require.NoError(t, json.Unmarshal(sc.Bytes(), &g))
		want, err := hex.DecodeString(g.Views)
		require.NoError(t, err)
		buffers := [][]byte{nil, want}
		for _, d := range g.Data {
			b, err := hex.DecodeString(d)
			require.NoError(t, err)
			if len(b) > 0 { // pyarrow has an empty buffer where all rows are inline
				buffers = append(buffers, b)
			}
		}
		// pyarrow's bytes come in as its strings …
		c, err := FromArrow(hostile(arrow.BinaryTypes.StringView, len(g.In), 0, 0, buffers...))
		require.NoError(t, err)
		require.Equal(t, g.In, c.Strings(), g.ID)
		// … and its strings go out as its bytes.
		c, err = FromStrings(g.In)
		require.NoError(t, err)
		arr, err := c.ToArrow(checkedAllocator(t), ArrowStringView)
		require.NoError(t, err)
		require.Equal(t, want, arr.Data().Buffers()[1].Bytes(), g.ID)
		require.Len(t, arr.Data().Buffers(), len(buffers))
		for i, b := range buffers[2:] {
			require.Equal(t, b, arr.Data().Buffers()[2+i].Bytes(), g.ID)
		}
		arr.Release()
	}
	require.Equal(t, 30, lines)
}

// drawRows draws rows around the border of inlining, with nulls.
func drawRows(t *rapid.T) []*string {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *string {
		if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
			return nil
		}
		s := rapid.StringN(0, 20, 40).Draw(t, "s")
		return &s
	}), 0, 40).Draw(t, "rows")
}

func TestFromArrowAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := arrowmem.NewCheckedAllocator(arrowmem.DefaultAllocator)
		typ := rapid.SampledFrom(arrowTypes).Draw(t, "type")
		list := drawRows(t)
		arr := buildArray(t, mem, typ, list)
		lo := rapid.IntRange(0, len(list)).Draw(t, "lo")
		hi := rapid.IntRange(lo, len(list)).Draw(t, "hi")
		s := array.NewSlice(arr, int64(lo), int64(hi))
		arr.Release()
		c, err := FromArrow(s, WithUTF8Check(true), WithArrowLimit(rapid.IntRange(40, 200).Draw(t, "limit")))
		s.Release()
		require.NoError(t, err)
		requireColumn(t, list[lo:hi], c)
		c.Release()
		require.Zero(t, mem.CurrentAlloc())
	})
}

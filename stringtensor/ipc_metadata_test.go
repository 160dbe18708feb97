package stringtensor

import (
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/require"
)

// Every word of the metadata set to values that FlatBuffers mistake for huge
// counts and for references back to where they came from: reading ends, in little
// memory.
func TestIPCMetadataHostileWords(t *testing.T) {
	mem := checkedAllocator(t)
	hostile := []uint32{0, 1, 8, math.MaxUint32, math.MaxUint32 - 63, math.MaxInt32, 1 << 31, 1 << 28, 0x01000100}
	for _, name := range []string{"arrow_mixed.arrow", "arrow_dictionary_delta.arrows", "arrow_string_view_zstd.arrows"} {
		data := fixture(t, name)
		var before, after runtime.MemStats
		for i := 0; i+4 <= len(data); i += 4 {
			old := binary.LittleEndian.Uint32(data[i:])
			for _, x := range hostile {
				binary.LittleEndian.PutUint32(data[i:], x)
				runtime.ReadMemStats(&before)
				r, err := openIPC(name, data, WithIPCAllocator(mem), WithIPCMaxMessage(1<<20))
				if err == nil {
					_, _ = readAll(t, r)
					require.NoError(t, r.Close())
				}
				runtime.ReadMemStats(&after)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20), "%s: %#x at byte %d", name, x, i)
			}
			binary.LittleEndian.PutUint32(data[i:], old)
		}
	}
}

// Fields that contain themselves, and fields that share one child again and
// again, are refused before anyone follows them.
func TestIPCMetadataNesting(t *testing.T) {
	// A FlatBuffer by hand: one vtable for all fields with kind and children.
	build := func(depth, width int, loop bool) []byte {
		put32 := func(b []byte, at int, x uint32) { binary.LittleEndian.PutUint32(b[at:], x) }
		b := make([]byte, 4)
		put32(b, 0, 24)
		// Message: vtable at 4, 14 bytes; table at 24: soffset, header, body length, kind.
		b = append(b, 14, 0, 24, 0, 0, 0, 20, 0, 4, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		b = append(b, make([]byte, 24)...)
		put32(b, 24, 20) // back to 4
		b[44] = byte(schemaMessage)
		// Schema: vtable, then table with fields.
		vt := len(b)
		b = append(b, 8, 0, 8, 0, 0, 0, 4, 0)
		schema := len(b)
		b = append(b, make([]byte, 8)...)
		put32(b, schema, uint32(schema-vt))
		put32(b, 28, uint32(schema-28))
		// Field: vtable for slots 0 to 5, of which 2 (kind) and 5 (children) are used.
		fieldVT := len(b)
		b = append(b, 16, 0, 12, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 4, 0)
		ref := schema + 4 // where the list of the level before is named
		first := 0
		for level := range depth {
			vec := len(b)
			put32(b, ref, uint32(vec-ref))
			b = append(b, make([]byte, 4+4*width)...)
			put32(b, vec, uint32(width))
			field := len(b)
			b = append(b, make([]byte, 12)...)
			put32(b, field, uint32(field-fieldVT))
			b[field+8] = 13 // struct
			for k := range width {
				at := vec + 4 + 4*k
				put32(b, at, uint32(field-at))
			}
			if level == 0 {
				first = vec
			}
			ref = field + 4
		}
		vec := len(b)
		put32(b, ref, uint32(vec-ref))
		b = append(b, 0, 0, 0, 0)
		if loop {
			put32(b, ref, uint32(first-ref)) // wraps round
		}
		return b
	}
	check := func(b []byte) error {
		var m ipcMetadata
		kind, _, err := m.message(b)
		if err == nil {
			require.Equal(t, schemaMessage, kind)
		}
		return err
	}
	require.NoError(t, check(build(3, 1, false)))
	require.NoError(t, check(build(maxNesting, 1, false)))
	require.ErrorContains(t, check(build(maxNesting+2, 1, false)), "nested deeper")
	require.ErrorContains(t, check(build(30, 2, false)), "repeats itself")
	require.ErrorContains(t, check(build(3, 1, true)), "reference from")
}

func TestCheckRecord(t *testing.T) {
	// A RecordBatch by hand: vtable of five slots, table with rows and four
	// vectors: two nodes, five buffers, no compression, the view counts.
	record := func(rows, nodeRows, nulls, offset, length int64, views ...int64) flatTable {
		b := []byte{14, 0, 28, 0, 4, 0, 12, 0, 16, 0, 0, 0, 20, 0, 0, 0}
		table := len(b)
		b = binary.LittleEndian.AppendUint32(b, uint32(table))
		b = binary.LittleEndian.AppendUint64(b, uint64(rows))
		b = append(b, make([]byte, 16)...)
		vector := func(slot int, list ...int64) {
			at := table + slot
			binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at))
			n := len(list) / 2
			if slot == 20 {
				n = len(list)
			}
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
			for _, x := range list {
				b = binary.LittleEndian.AppendUint64(b, uint64(x))
			}
		}
		vector(12, nodeRows, nulls, 9, 0)
		vector(16, 0, 0, 0, 8, offset, length, 0, 0, 0, 0)
		vector(20, views...)
		tab, err := flatTableAt(b, int64(table))
		require.NoError(t, err)
		return tab
	}
	need := arrayLayout{nodes: 2, buffers: 4, views: 1, columns: []int64{0}}
	require.NoError(t, checkRecord(record(3, 3, 1, 8, 24, 1), need, 32))
	for want, bad := range map[string]flatTable{
		"-1 rows":                      record(-1, 3, 0, 8, 24, 1),
		"column 0 has 4 rows of 3":     record(3, 4, 0, 8, 24, 1),
		"array 0 has 3 rows, 4 null":   record(3, 3, 4, 8, 24, 1),
		"array 0 has 3 rows, -1 null":  record(3, 3, -1, 8, 24, 1),
		"array 0 has -3 rows":          record(3, -3, 0, 8, 24, 1),
		"buffer 2 is 25 bytes at 8":    record(3, 3, 0, 8, 25, 1),
		"buffer 2 is 8 bytes at 9":     record(3, 3, 0, 9, 8, 1),
		"buffer 2 is 8 bytes at -8":    record(3, 3, 0, -8, 8, 1),
		"buffer 2 is -8 bytes at 8":    record(3, 3, 0, 8, -8, 1),
		"view array 0 has -1 buffers":  record(3, 3, 0, 8, 24, -1),
		"view array 1 has 6 buffers":   record(3, 3, 0, 8, 24, 0, 6),
		"5 buffers, 1 of views":        record(3, 3, 0, 8, 24, 2),
		"2 arrays, 5 buffers, 0 of vi": record(3, 3, 0, 8, 24),
	} {
		err := checkRecord(bad, need, 32)
		require.ErrorIs(t, err, errFlat)
		require.ErrorContains(t, err, want)
	}
}

// A stream may replace a dictionary between batches; in a file that would change
// the rows of the batches before.
func TestIPCDictionaryReplacement(t *testing.T) {
	mem := checkedAllocator(t)
	var out bytes.Buffer
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: typ}}, nil)
	w := ipc.NewWriter(&out, ipc.WithSchema(schema), ipc.WithAllocator(mem))
	for _, list := range [][]*string{rows("red", "green"), rows("yellow", "blue")} {
		d := buildArray(t, mem, arrow.BinaryTypes.String, list)
		arr := buildDictionary(mem, arrow.PrimitiveTypes.Int8, d, []int{1, 0})
		rec := array.NewRecordBatch(schema, []arrow.Array{arr}, 2)
		require.NoError(t, w.Write(rec))
		rec.Release()
		arr.Release()
		d.Release()
	}
	require.NoError(t, w.Close())
	for _, file := range []bool{false, true} {
		r, err := openIPC("x.arrows", out.Bytes(), WithIPCAllocator(mem))
		require.NoError(t, err)
		r.msgs.meta.file = file
		got, err := readAll(t, r)
		require.Equal(t, rows("green", "red"), got[0]["a"])
		if file {
			require.ErrorContains(t, err, "is replaced")
			require.Len(t, got, 1)
		} else {
			require.NoError(t, err)
			require.Equal(t, rows("blue", "yellow"), got[1]["a"])
		}
		require.NoError(t, r.Close())
	}
}

func TestFooterBlocksInsideTheFile(t *testing.T) {
	data := fixture(t, "arrow_string.arrow")
	name := "x.arrow"
	n := int(binary.LittleEndian.Uint32(data[len(data)-10:]))
	footer := data[len(data)-10-n : len(data)-10]
	_, records, err := footerBlocks(footer, ipcFileStart, int64(len(data)-10-n))
	require.NoError(t, err)
	require.Len(t, records, 2)
	_, _, err = footerBlocks(footer, ipcFileStart, records[1].at+records[1].meta+records[1].body-1)
	require.ErrorContains(t, err, "block 1 is at")
	_, _, err = footerBlocks(footer, records[0].at+1, int64(len(data)))
	require.ErrorContains(t, err, "block 0 is at")
	_, err = openIPC(name, data)
	require.NoError(t, err)
}

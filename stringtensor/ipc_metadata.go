package stringtensor

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The metadata of Arrow messages are FlatBuffers. The Arrow library follows
// their offsets and allocates by their counts without checking either: a few
// hostile bytes can make it recurse for ever or ask for terabytes, which no
// recover can catch. So the parts it acts on are checked here first.
//
//	Message     0 version  1 kind of header  2 header  3 length of body  4 key-values
//	Schema      1 fields  2 key-values
//	Field       0 name  2 kind of type  3 type  4 dictionary  5 children  6 key-values
//	RecordBatch 0 rows  1 nodes  2 buffers  3 compression  4 buffers of each view array
//	Dictionary  0 id  1 RecordBatch  2 whether it adds to the one before
//	Footer      1 Schema  2 blocks of dictionaries  3 blocks of record batches
//
// The numbers are the slots of the tables in Arrow's Message.fbs, Schema.fbs and
// File.fbs, which are part of the format.

// messageKind is the kind of a message's header.
type messageKind uint8

const (
	schemaMessage     messageKind = 1
	dictionaryMessage messageKind = 2
	recordMessage     messageKind = 3
)

// String names the kind for errors.
func (k messageKind) String() string {
	switch k {
	case schemaMessage:
		return "schema"
	case dictionaryMessage:
		return "dictionary"
	case recordMessage:
		return "record batch"
	}
	return fmt.Sprintf("message of kind %d", uint8(k))
}

// maxNesting is how deep a schema may nest fields; the Arrow library reads no
// deeper arrays.
const maxNesting = 64

// arrayLayout is how many entries of a record batch the arrays of some fields
// take, and which of the nodes are those of whole columns.
type arrayLayout struct {
	nodes, buffers, views int64
	columns               []int64
}

func (l *arrayLayout) add(m arrayLayout) {
	l.nodes += m.nodes
	l.buffers += m.buffers
	l.views += m.views
}

// fieldLayout is the layout of one array by the kind of its type, children
// apart. Kinds that are not here are left to the Arrow library to refuse.
var fieldLayout = map[uint8]arrayLayout{}

func init() {
	for _, l := range []struct {
		arrayLayout
		kinds []uint8
	}{
		{arrayLayout{nodes: 1}, []uint8{1, 22}},                                                    // null, run ends
		{arrayLayout{nodes: 1, buffers: 1}, []uint8{13, 14, 16}},                                   // struct, union, fixed list
		{arrayLayout{nodes: 1, buffers: 2}, []uint8{2, 3, 6, 7, 8, 9, 10, 11, 12, 15, 17, 18, 21}}, // fixed width, lists
		{arrayLayout{nodes: 1, buffers: 3}, []uint8{4, 5, 19, 20, 25, 26}},                         // strings with offsets, list views
		{arrayLayout{nodes: 1, buffers: 2, views: 1}, []uint8{23, 24}},                             // string views
	} {
		for _, k := range l.kinds {
			fieldLayout[k] = l.arrayLayout
		}
	}
}

const unionType = 14

// ipcMetadata checks the metadata of the messages of one file or stream.
type ipcMetadata struct {
	file  bool                  // a file's dictionaries are all read first, so none may be replaced
	rows  arrayLayout           // of a record batch
	dicts map[int64]arrayLayout // of each dictionary
	seen  map[int64]bool        // dictionaries that were met
}

// message checks a message and returns its kind and the length of its body.
func (m *ipcMetadata) message(buf []byte) (kind messageKind, body int64, err error) {
	t, err := flatRoot(buf)
	if err != nil {
		return 0, 0, err
	}
	k, err := t.byteSlot(1)
	if err != nil {
		return 0, 0, err
	}
	kind = messageKind(k)
	if body, err = t.int64Slot(3); err != nil {
		return kind, 0, err
	}
	if body < 0 || body > math.MaxInt {
		return kind, 0, fmt.Errorf("%w: body of %d bytes", errFlat, body)
	}
	w := schemaWalk{left: 4*int64(len(buf)) + 1024}
	if err := w.keyValues(t, 4); err != nil {
		return kind, 0, err
	}
	header, ok, err := t.table(2)
	if err == nil && !ok {
		err = fmt.Errorf("%w: %v without a header", errFlat, kind)
	}
	if err != nil {
		return kind, 0, err
	}
	switch kind {
	case schemaMessage:
		m.dicts, m.seen = make(map[int64]arrayLayout), make(map[int64]bool)
		w.dicts = m.dicts
		m.rows, err = w.schema(header)
	case recordMessage:
		err = checkRecord(header, m.rows, body)
	case dictionaryMessage:
		err = m.dictionary(header, body)
	default:
		err = fmt.Errorf("%w: %v", errFlat, kind)
	}
	return kind, body, err
}

func (m *ipcMetadata) dictionary(t flatTable, body int64) error {
	id, err := t.int64Slot(0)
	if err != nil {
		return err
	}
	need, ok := m.dicts[id]
	if !ok {
		return fmt.Errorf("%w: dictionary %d is not in the schema", errFlat, id)
	}
	delta, err := t.byteSlot(2)
	if err != nil {
		return err
	}
	if m.file && m.seen[id] && delta == 0 {
		return fmt.Errorf("%w: dictionary %d is replaced, which only a stream may do", errFlat, id)
	}
	m.seen[id] = true
	rec, ok, err := t.table(1)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%w: dictionary %d without data", errFlat, id)
	}
	return checkRecord(rec, need, body)
}

// checkRecord checks a record batch whose arrays need that many entries.
func checkRecord(t flatTable, need arrayLayout, body int64) error {
	rows, err := t.int64Slot(0)
	if err != nil {
		return err
	}
	if rows < 0 || rows > math.MaxInt {
		return fmt.Errorf("%w: %d rows", errFlat, rows)
	}
	at, nodes, err := t.vector(1, 16)
	if err != nil {
		return err
	}
	column := 0
	for i := range nodes {
		n := int64(binary.LittleEndian.Uint64(t.buf[at+16*i:]))
		nulls := int64(binary.LittleEndian.Uint64(t.buf[at+16*i+8:]))
		if n < 0 || n > math.MaxInt || nulls < 0 || nulls > n {
			return fmt.Errorf("%w: array %d has %d rows, %d null", errFlat, i, n, nulls)
		}
		if column < len(need.columns) && need.columns[column] == i {
			// The Arrow library would cut a longer column in silence.
			if n != rows {
				return fmt.Errorf("%w: column %d has %d rows of %d", errFlat, column, n, rows)
			}
			column++
		}
	}
	at, buffers, err := t.vector(2, 16)
	if err != nil {
		return err
	}
	for i := range buffers {
		o := int64(binary.LittleEndian.Uint64(t.buf[at+16*i:]))
		n := int64(binary.LittleEndian.Uint64(t.buf[at+16*i+8:]))
		if n < 0 || o < 0 || n > body || o > body-n || n > 0 && o%8 != 0 {
			return fmt.Errorf("%w: buffer %d is %d bytes at %d of a body of %d", errFlat, i, n, o, body)
		}
	}
	at, views, err := t.vector(4, 8)
	if err != nil {
		return err
	}
	viewBuffers := int64(0)
	for i := range views {
		n := int64(binary.LittleEndian.Uint64(t.buf[at+8*i:]))
		if n < 0 || n > buffers {
			return fmt.Errorf("%w: view array %d has %d buffers of %d", errFlat, i, n, buffers)
		}
		viewBuffers += n
	}
	if nodes < need.nodes || views < need.views || buffers < need.buffers+viewBuffers {
		return fmt.Errorf("%w: %d arrays, %d buffers, %d of views; the schema needs %d, %d, %d", errFlat,
			nodes, buffers, views, need.nodes, need.buffers+viewBuffers, need.views)
	}
	return nil
}

// schemaWalk visits a schema. left is how many bytes it may still meet: a
// FlatBuffer may point to one place from many, so that what a reader makes of it
// is exponentially larger than the bytes.
type schemaWalk struct {
	left  int64
	dicts map[int64]arrayLayout
}

func (w *schemaWalk) spend(n int64) error {
	if w.left -= n; w.left < 0 {
		return fmt.Errorf("%w: it repeats itself", errFlat)
	}
	return nil
}

func (w *schemaWalk) schema(t flatTable) (arrayLayout, error) {
	if err := w.keyValues(t, 2); err != nil {
		return arrayLayout{}, err
	}
	return w.fields(t, 1, 0)
}

// fields returns the layout of the fields in slot i.
func (w *schemaWalk) fields(t flatTable, i int64, depth int) (arrayLayout, error) {
	var sum arrayLayout
	if depth > maxNesting {
		return sum, fmt.Errorf("%w: fields nested deeper than %d", errFlat, maxNesting)
	}
	at, n, err := t.vector(i, 4)
	if err != nil {
		return sum, err
	}
	for k := range n {
		p, err := flatRef(t.buf, at+4*k)
		if err != nil {
			return sum, err
		}
		f, err := flatTableAt(t.buf, p)
		if err != nil {
			return sum, err
		}
		l, err := w.field(f, depth)
		if err != nil {
			return sum, err
		}
		if depth == 0 {
			sum.columns = append(sum.columns, sum.nodes)
		}
		sum.add(l)
	}
	return sum, nil
}

func (w *schemaWalk) field(t flatTable, depth int) (arrayLayout, error) {
	if err := w.spend(16); err != nil {
		return arrayLayout{}, err
	}
	if err := w.bytes(t, 0); err != nil {
		return arrayLayout{}, err
	}
	if err := w.keyValues(t, 6); err != nil {
		return arrayLayout{}, err
	}
	kind, err := t.byteSlot(2)
	if err != nil {
		return arrayLayout{}, err
	}
	typ, ok, err := t.table(3)
	if err != nil {
		return arrayLayout{}, err
	}
	if ok && kind == unionType {
		_, n, err := typ.vector(1, 4)
		if err != nil {
			return arrayLayout{}, err
		}
		if err := w.spend(4 * n); err != nil {
			return arrayLayout{}, err
		}
	}
	layout := fieldLayout[kind]
	children, err := w.fields(t, 5, depth+1)
	if err != nil {
		return arrayLayout{}, err
	}
	layout.add(children)
	dict, ok, err := t.table(4)
	if !ok || err != nil {
		return layout, err
	}
	id, err := dict.int64Slot(0)
	layout.columns = []int64{0}
	w.dicts[id] = layout
	return arrayLayout{nodes: 1, buffers: 2}, err
}

// keyValues visits the key-value metadata in slot i.
func (w *schemaWalk) keyValues(t flatTable, i int64) error {
	at, n, err := t.vector(i, 4)
	if err != nil {
		return err
	}
	for k := range n {
		p, err := flatRef(t.buf, at+4*k)
		if err != nil {
			return err
		}
		kv, err := flatTableAt(t.buf, p)
		if err != nil {
			return err
		}
		if err := w.spend(8); err != nil {
			return err
		}
		if err := w.bytes(kv, 0); err != nil {
			return err
		}
		if err := w.bytes(kv, 1); err != nil {
			return err
		}
	}
	return nil
}

// bytes visits the string in slot i.
func (w *schemaWalk) bytes(t flatTable, i int64) error {
	_, n, err := t.vector(i, 1)
	if err != nil {
		return err
	}
	return w.spend(n)
}

// ipcBlock is where a message lies in a file.
type ipcBlock struct{ at, meta, body int64 }

// footerBlocks returns the dictionaries and record batches of a file, all of
// which must lie between its start and end.
func footerBlocks(buf []byte, start, end int64) (dicts, records []ipcBlock, err error) {
	t, err := flatRoot(buf)
	if err != nil {
		return nil, nil, err
	}
	for i, list := range []*[]ipcBlock{&dicts, &records} {
		at, n, err := t.vector(int64(2+i), 24)
		if err != nil {
			return nil, nil, err
		}
		*list = make([]ipcBlock, n)
		for k := range *list {
			b := buf[at+24*int64(k):]
			x := ipcBlock{
				at:   int64(binary.LittleEndian.Uint64(b)),
				meta: int64(int32(binary.LittleEndian.Uint32(b[8:]))),
				body: int64(binary.LittleEndian.Uint64(b[16:])),
			}
			if x.at < start || x.meta < 8 || x.body < 0 || x.at > end || x.meta > end-x.at || x.body > end-x.at-x.meta {
				return nil, nil, fmt.Errorf("%w: block %d is at %d with %d + %d bytes, the file has messages from %d to %d", errFlat, k, x.at, x.meta, x.body, start, end)
			}
			(*list)[k] = x
		}
	}
	return dicts, records, nil
}

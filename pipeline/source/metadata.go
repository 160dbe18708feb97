package source

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/rosaline-go/rosaline/cpu"
)

// AllMetadata stands for every column or member besides text and id, see [WithMetadata].
const AllMetadata = "*"

// metadataColumn is the name of the column that has all members of JSONL.
const metadataColumn = "metadata"

// JSONMetadata is the key in the metadata of a column of [Records.Meta] whose rows are JSON
// values.
const JSONMetadata = "rosaline:json"

// metadataNames are the columns that are carried along.
type metadataNames struct {
	all   bool
	names []string
}

func (m metadataNames) none() bool { return !m.all && len(m.names) == 0 }

func (m metadataNames) wants(name string) bool { return m.all || slices.Contains(m.names, name) }

// WithMetadata says what is carried along with text and id in [Records.Meta]; by
// default nothing is.
//
// Of tables names are columns, whose types are kept; a table that lacks one cannot
// be read. [AllMetadata] is every column besides text and id; a struct of which the
// text or id is a field stays whole.
//
// Of JSONL names are paths as in [WithTextKey]; each becomes a column of strings, with the text of
// strings and the JSON of other values; null and what is missing are null. [AllMetadata] becomes
// one column, metadata, with a JSON object of the members besides text and id; null if the
// record is no object. Bytes that are not UTF-8 become U+FFFD and are counted in
// [Stats.Replaced]. Lines of text have none.
func WithMetadata(names ...string) DecoderOption {
	return func(c *decoderConfig) {
		c.metadata = metadataNames{names: names}
		if slices.Equal(names, []string{AllMetadata}) {
			c.metadata = metadataNames{all: true}
		}
	}
}

func (m metadataNames) validate() error {
	for i, n := range m.names {
		switch {
		case n == "":
			return fmt.Errorf("%w: WithMetadata: name %d is empty", ErrOption, i)
		case n == AllMetadata:
			return fmt.Errorf("%w: WithMetadata: %q stands beside names; give it alone", ErrOption, n)
		case slices.Contains(m.names[:i], n):
			return fmt.Errorf("%w: WithMetadata: %q stands twice", ErrOption, n)
		}
	}
	if len(m.names) > maxFields {
		return fmt.Errorf("%w: WithMetadata of %d names; at most %d can be, or all by %q", ErrOption, len(m.names), maxFields, AllMetadata)
	}
	return nil
}

// metaOf returns the metadata of rows of a batch; nil if none are wanted or there.
func (p *Projection) metaOf(table *Rows, rows []uint32) (arrow.RecordBatch, error) {
	if p.meta.none() {
		return nil, nil
	}
	batch := table.Batch
	schema := batch.Schema()
	var at []int
	for _, name := range p.meta.names {
		found := schema.FieldIndices(name)
		if len(found) != 1 {
			names := table.Columns
			if names == nil {
				names = fieldNames(schema.Fields())
			}
			return nil, fmt.Errorf("the metadata: %w: %q stands there %d times%s", ErrColumn, name, len(found), insteadOf(name, names))
		}
		at = append(at, found[0])
	}
	if p.meta.all {
		at = p.others(schema)
	}
	if len(at) == 0 {
		return nil, nil
	}
	fields, columns := make([]arrow.Field, len(at)), make([]arrow.Array, len(at))
	for i, j := range at {
		fields[i], columns[i] = schema.Field(j), batch.Column(j)
		if err := ValidateArray(columns[i]); err != nil {
			return nil, fmt.Errorf("column %q: %w", fields[i].Name, corrupt(err))
		}
	}
	meta := array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, batch.NumRows())
	defer meta.Release()
	return pickRows(meta, rows)
}

// others returns the columns that are neither text nor id.
func (p *Projection) others(schema *arrow.Schema) (at []int) {
	own := make(map[int]bool)
	for _, path := range p.paths {
		if len(path.segments) == 0 {
			continue
		}
		if i, rest := findField(schema.Fields(), path.segments); len(rest) == 0 {
			own[i] = true
		}
	}
	for i := range schema.NumFields() {
		if !own[i] {
			at = append(at, i)
		}
	}
	return at
}

// lineMetadata gathers the metadata of lines of JSONL.
type lineMetadata struct {
	schema   *arrow.Schema
	fields   *Fields // nil for all members
	own      []string
	columns  []*array.StringBuilder
	scan     jsonScanner
	buf      []byte
	valid    []byte
	replaced int64
}

// newLineMetadata returns nil if nothing is wanted. Names have been looked at.
func newLineMetadata(p *Projection) *lineMetadata {
	if p.meta.none() {
		return nil
	}
	m := &lineMetadata{scan: jsonScanner{maxDepth: maxNesting}}
	names := []string{metadataColumn}
	if p.meta.all {
		for _, path := range p.paths {
			m.own = append(m.own, path.text)
		}
	} else {
		names = p.meta.names
		m.fields, _ = NewFields(names...)
		for i := range m.fields.scans {
			m.fields.scans[i].maxDepth = maxNesting
		}
	}
	fields := make([]arrow.Field, len(names))
	for i, n := range names {
		fields[i] = arrow.Field{Name: n, Type: arrow.BinaryTypes.String, Nullable: true}
		m.columns = append(m.columns, array.NewStringBuilder(memory.DefaultAllocator))
	}
	if p.meta.all {
		fields[0].Metadata = arrow.MetadataFrom(map[string]string{JSONMetadata: "true"})
	}
	m.schema = arrow.NewSchema(fields, nil)
	return m
}

// add adds those of a line, which is valid JSON.
func (m *lineMetadata) add(line []byte) {
	if m.fields == nil {
		m.members(line)
		return
	}
	if err := m.fields.Scan(line); err != nil {
		for _, c := range m.columns {
			c.AppendNull()
		}
		return
	}
	for i, c := range m.columns {
		raw := m.fields.Raw(i)
		if len(raw) == 0 || raw[0] == 'n' {
			c.AppendNull()
			continue
		}
		if text, ok := m.fields.Text(i); ok {
			raw = text
		}
		m.append(c, raw)
	}
}

// append appends a value, bytes that are not UTF-8 apart.
func (m *lineMetadata) append(c *array.StringBuilder, value []byte) {
	if !cpu.ValidUTF8(value) {
		n, _ := invalidBytes(value)
		m.replaced += int64(n)
		m.valid = appendValid(m.valid[:0], value)
		value = m.valid
	}
	c.BinaryBuilder.Append(value)
}

// members adds the members of a record besides text and id, as an object.
func (m *lineMetadata) members(line []byte) {
	p := &m.scan
	p.reset(line)
	defer p.reset(nil)
	i := p.space(0)
	if p.peek(i) != '{' {
		m.columns[0].AppendNull()
		return
	}
	m.buf = append(m.buf[:0], '{')
	for i = p.space(p.enter(i, true)); p.peek(i) == '"'; i = p.separator(i) {
		name, end := p.name(i)
		own := slices.Contains(m.own, string(name))
		quoted := line[i : end+1]
		var value []byte
		value, i = p.element(p.colon(end + 1))
		if !own {
			if len(m.buf) > 1 {
				m.buf = append(m.buf, ',')
			}
			m.buf = append(append(append(m.buf, quoted...), ':'), value...)
		}
	}
	m.append(m.columns[0], append(m.buf, '}'))
}

// finish returns the batch of what was added.
func (m *lineMetadata) finish(rows int) arrow.RecordBatch {
	columns := make([]arrow.Array, len(m.columns))
	for i, c := range m.columns {
		columns[i] = c.NewArray()
		c.Release()
		defer columns[i].Release()
	}
	return array.NewRecordBatch(m.schema, columns, int64(rows))
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/jsonl"
	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/table"
	"github.com/rosaline-go/rosaline/pipeline/source"
)

// members are the metadata columns of a batch as members of lines of JSONL.
type members []member

type member struct {
	begin []byte // ,"name":
	array arrow.Array
	json  bool // rows are JSON values, see [source.JSONMetadata]
}

// newMembers returns the columns of meta, which may be nil. The error wraps
// [table.ErrColumn]: a line has each name once, and others besides the columns.
func newMembers(meta arrow.RecordBatch, columns table.Columns, others ...string) (members, error) {
	if meta == nil {
		return nil, nil
	}
	taken := map[string]bool{"padded": true}
	for _, name := range append(columns.Names(), others...) {
		taken[name] = true
	}
	var m members
	for i, a := range meta.Columns() {
		f := meta.Schema().Field(i)
		if taken[f.Name] {
			return nil, fmt.Errorf("%w: there would be two members %q; leave it out by naming the others with --metadata", table.ErrColumn, f.Name)
		}
		taken[f.Name] = true
		begin := append(jsonl.AppendString([]byte{','}, f.Name), ':')
		m = append(m, member{begin, a, f.HasMetadata() && f.Metadata.FindKey(source.JSONMetadata) >= 0})
	}
	return m, nil
}

// appendTo appends the members of a row.
func (m members) appendTo(dst []byte, row int) []byte {
	for _, one := range m {
		dst = append(dst, one.begin...)
		if value, ok := one.value(row); ok {
			dst = append(dst, value...)
		} else {
			dst = jsonl.AppendValue(dst, one.array, row)
		}
	}
	return dst
}

// value returns the JSON value that a row holds. Another program may have written
// something else into the column. Ends of lines between the parts of a value, which a line must
// not have, are left out with all that is white there.
func (m *member) value(row int) (value string, ok bool) {
	if !m.json || m.array.IsNull(row) {
		return "", false
	}
	if a, ok := m.array.(array.StringLike); ok {
		value = a.Value(row)
	}
	if strings.ContainsAny(value, "\r\n") {
		var b bytes.Buffer
		err := json.Compact(&b, []byte(value))
		return b.String(), err == nil
	}
	return value, json.Valid([]byte(value))
}

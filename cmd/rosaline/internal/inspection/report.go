package inspection

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// The kinds of files.
const (
	KindArrowFile   = "arrow file"
	KindArrowStream = "arrow stream"
	KindParquet     = "parquet"
)

// Report is what a file holds. Of a file that is not sound it is what precedes the
// fault.
type Report struct {
	Path        string            `json:"path"`
	Kind        string            `json:"kind"`
	Version     string            `json:"version,omitempty"`    // of the format, for Parquet
	CreatedBy   string            `json:"created_by,omitempty"` // the program that wrote it, for Parquet
	Bytes       int64             `json:"bytes"`
	Rows        int64             `json:"rows"`
	Compression []string          `json:"compression"` // codecs in use
	Columns     []Column          `json:"columns"`
	Metadata    map[string]string `json:"metadata,omitempty"`   // of the schema
	Batches     []Group           `json:"batches,omitempty"`    // of Arrow
	RowGroups   []Group           `json:"row_groups,omitempty"` // of Parquet
	Sound       bool              `json:"sound"`
	Fault       *Fault            `json:"fault,omitempty"`

	maxPage int64 // bytes of a page of Parquet that is read; 0 for the default
}

// Column is a top-level column.
type Column struct {
	Name     string            `json:"name"`
	Type     string            `json:"type"`
	Nullable bool              `json:"nullable"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// Group is a record batch or a row group.
type Group struct {
	Offset       int64 `json:"offset"` // byte of the file where it begins
	Rows         int64 `json:"rows"`
	Bytes        int64 `json:"bytes"`                  // as it lies
	Uncompressed int64 `json:"uncompressed,omitempty"` // bytes, for Parquet
}

// Fault is the first thing that is not sound.
type Fault struct {
	Offset int64  `json:"offset"`           // byte of the file where the part at fault begins
	Group  int    `json:"group"`            // number of the record batch or row group; −1 for none
	Column string `json:"column,omitempty"` // "" for none
	Error  string `json:"error"`
	// TooLarge tells that the part is no more than too large to be read at once: whether
	// the file is sound is not known.
	TooLarge bool `json:"too_large,omitempty"`
}

// Verdict says what a fault means for the file, and what to do.
func (f *Fault) Verdict() (means, do string) {
	if f.TooLarge {
		return "not checked to its end", "write it again with smaller pages or record batches to have it checked"
	}
	return "not sound", "get the file again, or write it anew"
}

// String says where the fault is, and what.
func (f *Fault) String() string {
	where := fmt.Sprintf("byte %d", f.Offset)
	if f.Group >= 0 {
		where += fmt.Sprintf(", group %d", f.Group)
	}
	if f.Column != "" {
		where += fmt.Sprintf(", column %q", f.Column)
	}
	return where + ": " + f.Error
}

// Problem implements [Result].
func (r *Report) Problem() error {
	if r.Sound {
		return nil
	}
	means, do := r.Fault.Verdict()
	return fmt.Errorf("%s: %s: %s; %s", r.Path, means, r.Fault, do)
}

// maxFault is the most bytes of an error that are told: it may quote the file.
const maxFault = 300

func (r *Report) fault(offset int64, group int, column string, err error) {
	s := err.Error()
	if len(s) > maxFault {
		s = s[:maxFault] + "…"
	}
	s = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return utf8.RuneError
		}
		return c
	}, s)
	tooLarge := errors.Is(err, stringtensor.ErrMessageTooLarge) || errors.Is(err, errPageTooLarge)
	r.Fault = &Fault{min(max(offset, 0), r.Bytes), group, column, s, tooLarge}
	r.Sound = false
}

// compressedBy adds a codec.
func (r *Report) compressedBy(codec string) {
	if !slices.Contains(r.Compression, codec) {
		r.Compression = append(r.Compression, codec)
	}
}

// schema takes the columns of a schema.
func (r *Report) schema(s *arrow.Schema) {
	for _, f := range s.Fields() {
		r.Columns = append(r.Columns, Column{f.Name, f.Type.String(), f.Nullable, metadataMap(f.Metadata)})
	}
	r.Metadata = metadataMap(s.Metadata())
}

// noFieldID is what the reader of Parquet tells of a column without a field id.
var noFieldID = struct{ key, value string }{"PARQUET:field_id", "-1"}

func metadataMap(m arrow.Metadata) map[string]string {
	if m.Len() == 0 {
		return nil
	}
	out := make(map[string]string, m.Len())
	for i, k := range m.Keys() {
		if v := m.Values()[i]; k != noFieldID.key || v != noFieldID.value {
			out[k] = v
		}
	}
	return out
}

// recovered turns a panic of the Arrow library into an error. It is deferred.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("it cannot be decoded [%v]", p)
	}
}

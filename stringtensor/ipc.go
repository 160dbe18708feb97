package stringtensor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
)

var (
	// ErrNoColumn is returned when a table has no column of the wanted name. The
	// error lists the names there are.
	ErrNoColumn = errors.New("stringtensor: no such column")

	// ErrMessageTooLarge is returned when a message of an Arrow file or stream
	// takes more memory than [WithIPCMaxMessage] allows.
	ErrMessageTooLarge = errors.New("stringtensor: Arrow message too large")

	// ErrClosed is returned when a reader or writer is used after Close.
	ErrClosed = errors.New("stringtensor: closed")
)

// Batch is some rows of a table: columns of one length, each with a name.
type Batch struct {
	Names   []string
	Columns []*Column
	Rows    int
}

// Column returns the column of that name, which stays the batch's. The error is
// [ErrNoColumn].
func (b *Batch) Column(name string) (*Column, error) {
	if i := slices.Index(b.Names, name); i >= 0 {
		return b.Columns[i], nil
	}
	return nil, fmt.Errorf("%w: %q; there are %q", ErrNoColumn, name, b.Names)
}

// Release releases all columns.
func (b *Batch) Release() {
	for _, c := range b.Columns {
		c.Release()
	}
}

// IPCCompression is how the bodies of an Arrow file or stream are compressed.
type IPCCompression uint8

// The codecs Arrow knows. Readers recognise them by themselves.
const (
	IPCUncompressed IPCCompression = iota
	IPCLZ4                         // LZ4 frames
	IPCZstd                        // Zstandard frames
)

// defaultMaxMessage is the memory in bytes one message may take by default.
const defaultMaxMessage = 1 << 30

// IPCOption changes how Arrow files and streams are read and written.
type IPCOption func(*ipcConfig)

type ipcConfig struct {
	typ         ArrowType
	compression IPCCompression
	metadata    map[string]string
	columns     []string
	maxMessage  int64
	endless     bool
	mem         arrowmem.Allocator
	arrow       []ArrowOption
}

func newIPCConfig(opts []IPCOption) ipcConfig {
	c := ipcConfig{maxMessage: defaultMaxMessage, mem: arrowmem.DefaultAllocator}
	for _, o := range opts {
		o(&c)
	}
	return c
}

// WithIPCType sets the Arrow type that columns are written as, default
// [ArrowStringView]. It must not be one of the Auto types, for the schema is
// written before the rows are known.
func WithIPCType(t ArrowType) IPCOption { return func(c *ipcConfig) { c.typ = t } }

// WithIPCCompression sets the codec to write with, default [IPCUncompressed].
func WithIPCCompression(z IPCCompression) IPCOption {
	return func(c *ipcConfig) { c.compression = z }
}

// WithIPCMetadata sets the key-value metadata of the schema that is written; the
// default is none.
func WithIPCMetadata(m map[string]string) IPCOption { return func(c *ipcConfig) { c.metadata = m } }

// WithIPCColumns sets which columns are read, in this order. The default, also
// for no names, is every top-level column that [FromArrow] takes.
func WithIPCColumns(names ...string) IPCOption { return func(c *ipcConfig) { c.columns = names } }

// WithIPCMaxMessage sets how many bytes of memory the reader may take for one
// message, that is one record batch or dictionary, decompressed; from 1 KiB up,
// default 1 GiB; smaller values are moved to 1 KiB. It is what hostile input can
// make the reader take.
func WithIPCMaxMessage(n int64) IPCOption {
	return func(c *ipcConfig) { c.maxMessage = max(n, 1<<10) }
}

// WithIPCOpenEnd accepts a stream that ends between two messages without the end
// marker when v is true. By default that is an error after the last batch,
// because it is how a stream looks whose writer died. Files always have an end.
func WithIPCOpenEnd(v bool) IPCOption { return func(c *ipcConfig) { c.endless = v } }

// WithIPCAllocator sets where the memory of batches comes from, default Arrow's
// default allocator, whose memory the garbage collector frees.
// Of a dictionary of earlier batches, corrupt input may leave a claim that nobody
// gives back: an allocator of other memory sees that as a leak.
func WithIPCAllocator(mem arrowmem.Allocator) IPCOption { return func(c *ipcConfig) { c.mem = mem } }

// WithIPCArrow sets options for the step between Arrow and columns; the default
// is none.
func WithIPCArrow(opts ...ArrowOption) IPCOption { return func(c *ipcConfig) { c.arrow = opts } }

// pickColumns returns the fields of schema to read.
func (c *ipcConfig) pickColumns(schema *arrow.Schema) ([]int, error) {
	var fields []int
	if len(c.columns) == 0 {
		for i, f := range schema.Fields() {
			if isStringLike(f.Type) {
				fields = append(fields, i)
			}
		}
		return fields, nil
	}
	for _, name := range c.columns {
		at := schema.FieldIndices(name)
		switch {
		case len(at) == 0:
			return nil, fmt.Errorf("%w: %q; there are %s", ErrNoColumn, name, describeFields(schema))
		case len(at) > 1:
			return nil, fmt.Errorf("%w: %q names %d columns; there are %s", ErrNoColumn, name, len(at), describeFields(schema))
		case !isStringLike(schema.Field(at[0]).Type):
			return nil, fmt.Errorf("%w: column %q is %s; there are %s", ErrUnsupportedType, name, schema.Field(at[0]).Type, describeFields(schema))
		}
		fields = append(fields, at[0])
	}
	return fields, nil
}

// describeFields lists names and types. It stops after a while, since a schema
// may have thousands of columns.
func describeFields(schema *arrow.Schema) string {
	const most = 50
	var b strings.Builder
	for i, f := range schema.Fields() {
		if i == most {
			fmt.Fprintf(&b, " and %d more", schema.NumFields()-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q (%s)", f.Name, f.Type)
	}
	if b.Len() == 0 {
		return "none"
	}
	return b.String()
}

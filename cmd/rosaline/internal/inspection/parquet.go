package inspection

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/rosaline-go/rosaline/cpu"
	tables "github.com/rosaline-go/rosaline/pipeline/source/parquet"
)

// footerSize is what ends a Parquet file: the length of the footer and the magic.
const footerSize = 8

// parquet reads a Parquet file.
func (r *Report) parquet(in parquet.ReaderAtSeeker) {
	r.Kind = KindParquet
	read, err := openParquet(in, r.maxPage)
	if err != nil {
		r.fault(max(r.Bytes-footerSize, 0), -1, "", fmt.Errorf("%w; without its footer a Parquet file cannot be read", err))
		return
	}
	defer read.Close()
	if err := r.parquetFooter(read); err != nil {
		r.fault(max(r.Bytes-footerSize, 0), -1, "", err)
		return
	}
	for i := range read.NumRowGroups() {
		if !r.rowGroup(read, i) {
			return
		}
	}
	if n := read.NumRows(); n != r.Rows {
		r.fault(max(r.Bytes-footerSize, 0), -1, "", fmt.Errorf("the footer says %d rows, the row groups have %d", n, r.Rows))
	}
}

func openParquet(in parquet.ReaderAtSeeker, maxPage int64) (read *file.Reader, err error) {
	defer recovered(&err)
	props := parquet.NewReaderProperties(nil)
	props.BufferedStreamEnabled = true // a column is not read at once, however long it says it is
	props.MaxCompressedPageSize, props.MaxUncompressedPageSize = maxPage, maxPage
	return file.NewParquetReader(in, file.WithReadProps(props))
}

// parquetFooter takes what the footer tells of the file.
func (r *Report) parquetFooter(read *file.Reader) (err error) {
	defer recovered(&err)
	meta := read.MetaData()
	r.Version, r.CreatedBy = meta.Version().String(), meta.GetCreatedBy()
	var others metadata.KeyValueMetadata
	stored := (*arrow.Schema)(nil)
	for _, kv := range meta.KeyValueMetadata() {
		if kv.Key != tables.ArrowSchemaKey {
			_ = others.Append(kv.Key, kv.GetValue())
		} else if stored, err = tables.DecodeArrowSchema(kv.GetValue()); err != nil {
			return fmt.Errorf("%s: %w", kv.Key, err)
		}
	}
	s, err := pqarrow.FromParquet(meta.Schema, nil, others)
	if err != nil {
		return err
	}
	if stored != nil && sameNames(stored, s) {
		s = stored
	}
	r.schema(s)
	return nil
}

func sameNames(a, b *arrow.Schema) bool {
	return slices.EqualFunc(a.Fields(), b.Fields(), func(f, g arrow.Field) bool { return f.Name == g.Name })
}

// rowGroup reads a row group and reports whether it is sound.
func (r *Report) rowGroup(read *file.Reader, i int) bool {
	g, column, err := Group{}, "", error(nil)
	func() {
		defer recovered(&err)
		rows := read.RowGroup(i)
		meta := rows.MetaData()
		g.Rows, g.Uncompressed = meta.NumRows(), meta.TotalByteSize()
		for c := range rows.NumColumns() {
			var chunk *metadata.ColumnChunkMetaData
			if chunk, err = meta.ColumnChunk(c); err != nil {
				return
			}
			column = chunk.PathInSchema().String()
			if begin := chunkBegin(chunk); c == 0 {
				g.Offset = begin
			}
			g.Bytes += chunk.TotalCompressedSize()
			r.compressedBy(strings.ToLower(chunk.Compression().String()))
			if err = checkColumn(rows, c, meta.NumRows(), chunk.NumValues()); err != nil {
				g.Offset = chunkBegin(chunk)
				return
			}
		}
	}()
	if err != nil {
		r.fault(g.Offset, i, column, err)
		return false
	}
	r.Rows += g.Rows
	r.RowGroups = append(r.RowGroups, g)
	return true
}

// chunkBegin is the byte where the pages of a column begin.
func chunkBegin(c *metadata.ColumnChunkMetaData) int64 {
	if c.HasDictionaryPage() && c.DictionaryPageOffset() > 0 {
		return min(c.DictionaryPageOffset(), c.DataPageOffset())
	}
	return c.DataPageOffset()
}

var errPageTooLarge = errors.New("a page that is larger than what is read at once")

// checkColumn decodes a column of a row group, which must have so many rows and
// values, null ones too.
func checkColumn(g *file.RowGroupReader, i int, rows, values int64) error {
	column, err := g.Column(i)
	if err != nil {
		return err
	}
	c := &columnCheck{descr: column.Descriptor()}
	err = c.read(column)
	if err == nil {
		err = column.Err()
	}
	err = errors.Join(err, column.Close())
	switch {
	case err != nil && tables.IsPageTooLarge(err):
		return fmt.Errorf("behind row %d: %w [%w]", c.rows, errPageTooLarge, err)
	case err != nil:
		return fmt.Errorf("behind row %d: %w", c.rows, err)
	case c.rows != rows:
		return fmt.Errorf("%d rows, the row group has %d", c.rows, rows)
	case c.values != values:
		return fmt.Errorf("%d values, the footer says %d", c.values, values)
	}
	return nil
}

// columnCheck counts what is in a column.
type columnCheck struct {
	descr        *schema.Column
	rows, values int64
}

// read decodes all pages.
func (c *columnCheck) read(column file.ColumnChunkReader) error {
	switch column := column.(type) {
	case *file.BooleanColumnChunkReader:
		return drain(c, column, nil)
	case *file.Int32ColumnChunkReader:
		return drain(c, column, nil)
	case *file.Int64ColumnChunkReader:
		return drain(c, column, nil)
	case *file.Int96ColumnChunkReader:
		return drain(c, column, nil)
	case *file.Float32ColumnChunkReader:
		return drain(c, column, nil)
	case *file.Float64ColumnChunkReader:
		return drain(c, column, nil)
	case *file.FixedLenByteArrayColumnChunkReader:
		return drain(c, column, nil)
	case *file.ByteArrayColumnChunkReader:
		if _, ok := c.descr.LogicalType().(schema.StringLogicalType); ok {
			return drain(c, column, validUTF8)
		}
		return drain(c, column, nil)
	}
	return fmt.Errorf("a column of the type %v", column.Type())
}

func validUTF8(v parquet.ByteArray) error {
	if cpu.ValidUTF8(v) {
		return nil
	}
	return errors.New("a string that is not UTF-8: " + strconv.QuoteToASCII(string(v[:min(len(v), 80)])))
}

// batchReader reads the values of a column of type T.
type batchReader[T any] interface {
	HasNext() bool
	ReadBatch(n int64, values []T, defLevels, repLevels []int16) (total int64, read int, err error)
}

// drainBatch is how many values are decoded at a time.
const drainBatch = 1024

// drain reads a column to its end, and checks each value that is not null if check is
// not nil.
func drain[T any](c *columnCheck, column batchReader[T], check func(T) error) error {
	values := make([]T, drainBatch)
	var def, rep []int16
	if c.descr.MaxDefinitionLevel() > 0 {
		def = make([]int16, drainBatch)
	}
	if c.descr.MaxRepetitionLevel() > 0 {
		rep = make([]int16, drainBatch)
	}
	for column.HasNext() {
		total, n, err := column.ReadBatch(drainBatch, values, def, rep)
		if err != nil {
			return err
		}
		if total <= 0 {
			return errors.New("a page without values where there must be some")
		}
		if check != nil {
			for _, v := range values[:n] {
				if err := check(v); err != nil {
					return err
				}
			}
		}
		clear(values[:n])
		c.values += total
		if rep == nil {
			c.rows += total
			continue
		}
		for _, level := range rep[:total] {
			if level == 0 {
				c.rows++
			}
		}
	}
	return nil
}

package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// parquetEncoder writes a group as a row group of Parquet.
//
// Groups are encoded side by side, each as a Parquet file in memory. Of that, the part
// between the magic and the footer goes into the output, and its row group, moved to
// where it lies now, into the footer there.
//
//	PAR1 │ row group │ row group │ … │ footer │ its length, 4 B │ PAR1
type parquetEncoder struct {
	w      io.Writer
	schema *arrow.Schema
	props  *parquet.WriterProperties
	footer *metadata.FileMetaData
	at     int64 // bytes written
	// underWay are the groups being encoded, in their order.
	underWay []chan encodedGroup
	limit    int
	err      error
}

// encodedGroup is a group as a Parquet file.
type encodedGroup struct {
	file   []byte
	footer *metadata.FileMetaData
	err    error
}

const (
	parquetMagic = "PAR1"
	footerLength = 4 // bytes of the length of the footer
)

// properties are how columns are encoded: texts and ids hardly repeat, so that a
// dictionary and the least and largest value are of no use there.
func properties() *parquet.WriterProperties {
	return parquet.NewWriterProperties(
		parquet.WithCompression(compress.Codecs.Zstd), parquet.WithCompressionLevel(1),
		parquet.WithDictionaryFor(idName, false), parquet.WithDictionaryFor(textName, false),
		parquet.WithStatsFor(textName, false), parquet.WithStatsFor(tokensName+".list.element", false),
		parquet.WithMaxRowGroupLength(int64(groupLimits[Parquet].rows)), parquet.WithCreatedBy("rosaline"),
	)
}

func newParquetEncoder(w io.Writer, schema *arrow.Schema, encoders int) (*parquetEncoder, error) {
	fields := schema.Fields()
	for i := range fields {
		fields[i] = looseField(fields[i])
	}
	e := &parquetEncoder{w: w, schema: arrow.NewSchema(fields, nil), props: properties(), limit: max(encoders, 1)}
	empty := e.encode(nil, 0)
	if empty.err != nil {
		return nil, empty.err
	}
	e.footer = empty.footer
	return e, e.write([]byte(parquetMagic))
}

func (e *parquetEncoder) group(chunks [][]arrow.Array, rows int) error {
	done := make(chan encodedGroup, 1)
	go func() { done <- e.encode(chunks, rows) }()
	e.underWay = append(e.underWay, done)
	if len(e.underWay) > e.limit {
		return e.finish()
	}
	return e.err
}

// encode makes a Parquet file of one row group, or of none.
func (e *parquetEncoder) encode(chunks [][]arrow.Array, rows int) (g encodedGroup) {
	defer caught(&g.err)
	var b bytes.Buffer
	w, err := pqarrow.NewFileWriter(e.schema, &b, e.props, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return encodedGroup{err: fmt.Errorf("%w: Parquet: %w; leave the column out by naming the others with --metadata, or use --out-format arrow", ErrColumn, err)}
	}
	if rows > 0 {
		batch, err := joined(e.schema, chunks, rows, loose)
		if err != nil {
			return encodedGroup{err: err}
		}
		defer batch.Release()
		if err := w.Write(batch); err != nil {
			return encodedGroup{err: fmt.Errorf("table: Parquet: %w", err)}
		}
	}
	if err := w.Close(); err != nil {
		return encodedGroup{err: fmt.Errorf("table: Parquet: %w", err)}
	}
	g.file = b.Bytes()
	end := len(g.file) - len(parquetMagic) - footerLength
	footer := int(binary.LittleEndian.Uint32(g.file[end:]))
	g.footer, g.err = metadata.NewFileMetaData(g.file[end-footer:end], nil)
	g.file = g.file[len(parquetMagic) : end-footer]
	return g
}

// finish writes the group that has been under way longest.
func (e *parquetEncoder) finish() error {
	g := <-e.underWay[0]
	e.underWay = e.underWay[1:]
	if e.err != nil {
		return e.err
	}
	if e.err = g.err; e.err != nil {
		return e.err
	}
	move := e.at - int64(len(parquetMagic))
	for _, group := range g.footer.RowGroups {
		group.Ordinal = nil // 16 bits, and told by the order
		add(group.FileOffset, move)
		for _, c := range group.Columns {
			if c.FileOffset != 0 {
				c.FileOffset += move
			}
			c.MetaData.DataPageOffset += move
			add(c.MetaData.DictionaryPageOffset, move)
			add(c.MetaData.IndexPageOffset, move)
		}
	}
	if e.err = e.footer.AppendRowGroups(g.footer); e.err == nil {
		e.err = e.write(g.file)
	}
	return e.err
}

func add(offset *int64, n int64) {
	if offset != nil {
		*offset += n
	}
}

func (e *parquetEncoder) write(p []byte) error {
	n, err := e.w.Write(p)
	e.at += int64(n)
	return err
}

// close implements [encoder].
func (e *parquetEncoder) close() error {
	for len(e.underWay) > 0 {
		_ = e.finish() // kept in err
	}
	if e.err != nil {
		return e.err
	}
	footer, err := e.footer.Serialize(context.Background())
	if err != nil {
		return fmt.Errorf("table: Parquet: footer: %w", err)
	}
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	return e.write(append(footer, parquetMagic...))
}

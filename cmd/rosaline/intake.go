package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/ordered"
	"github.com/rosaline-go/rosaline/pipeline/source"
	"github.com/rosaline-go/rosaline/stringtensor"
)

// intake makes records of inputs: what every command that reads them has in
// common. next is for one goroutine; decode for any.
type intake struct {
	reader  *source.Reader
	decoder *source.Decoder
	skip    bool
}

// open prepares the inputs that args stand for. Nothing is read yet.
func (f *inputFlags) open(ctx context.Context, stdin io.Reader, files []source.Input) (*intake, error) {
	if f.textKey == "" {
		return nil, usagef("--text-key is empty; use . for the whole record")
	}
	decoder, err := source.NewDecoder(source.WithTextKey(f.textKey), source.WithIDKey(f.idKey),
		source.WithSurrogates(f.surrogates.policy()), source.WithInvalidUTF8(f.invalidUTF8.policy()))
	if err != nil {
		return nil, &usageError{err}
	}
	for _, file := range files {
		if file.Path == source.Stdin {
			stdin = newInterruptible(ctx, stdin)
		}
	}
	open := func(path string) (io.ReadCloser, error) { return openInterruptible(ctx, path) }
	reader, err := source.NewReader(files, source.WithStdin(stdin), source.WithOpen(open),
		source.WithMaxLine(int(f.maxLine.n)), source.WithMaxWindow(int(f.maxWindow.n)), source.WithChunkLines(f.batch.n))
	if err != nil {
		return nil, &usageError{err}
	}
	return &intake{reader, decoder, f.skip()}, nil
}

// next reads the next chunk. The inputs know about the end of the context; the
// reader is not told, so that it still hands out the lines it has.
func (in *intake) next(ctx context.Context) (*source.Chunk, error) {
	c, err := in.reader.Next(context.WithoutCancel(ctx))
	if errors.Is(err, source.ErrWindow) {
		err = fmt.Errorf("%w; the flag is --max-window", err)
	}
	return c, err
}

// records are what a chunk holds.
type records struct {
	text, id *stringtensor.Column
	numberID func(row int) bool // whether the id of a row is a JSON number
	bad      []source.BadRecord // lines that are not records, skipped
	stats    source.Stats       // of the whole chunk
}

// decode makes records of a chunk and releases it. Unless bad records are
// skipped, the first one ends the stream: the records are those before it, and
// the error, marked by [ordered.Last], names its place. Other errors come without
// records.
func (in *intake) decode(c *source.Chunk) (*records, error) {
	defer c.Release()
	r, err := in.decoder.Decode(c)
	if err != nil {
		return nil, err
	}
	out := &records{r.Text, r.ID, r.NumberID, r.Bad, r.Stats}
	if in.skip || len(r.Bad) == 0 {
		return out, nil
	}
	first := r.Bad[0]
	out.bad = nil
	if out.text, err = r.Text.Slice(0, first.Index); err != nil {
		return nil, err
	}
	if out.id, err = r.ID.Slice(0, first.Index); err != nil {
		return nil, err
	}
	return out, ordered.Last(badRecordError(first))
}

// badRecordError says what is wrong with a record, and what to do.
func badRecordError(bad source.BadRecord) error {
	flag := ""
	switch bad.Reason {
	case source.BadLineLength:
		flag = "raise --max-line, or "
	case source.BadSurrogate:
		flag = "add --surrogates replace, or "
	case source.BadUTF8:
		flag = "add --invalid-utf8 replace, or "
	}
	return fmt.Errorf("%w; %sdrop such records with --on-error skip", bad.Err, flag)
}

func (in *intake) close() error { return in.reader.Close() }

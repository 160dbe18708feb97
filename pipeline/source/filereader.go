package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/rosaline-go/rosaline/pipeline"
)

// FileData is a file and what is in it.
type FileData struct {
	Path   string
	Data   []byte
	Padded bool // as in [File]
}

// Size implements [pipeline.Sizer].
func (d FileData) Size() int64 { return int64(len(d.Data) + len(d.Path)) }

// AsPadding implements [pipeline.PadMarker].
func (d FileData) AsPadding() FileData { d.Padded = true; return d }

// ImageData is an image file of an [ImageFolder] and what is in it, not decoded.
type ImageData struct {
	Image
	Data []byte
}

// Size implements [pipeline.Sizer].
func (d ImageData) Size() int64 { return int64(len(d.Data) + len(d.Path)) }

// AsPadding implements [pipeline.PadMarker].
func (d ImageData) AsPadding() ImageData { d.Padded = true; return d }

// FileOption changes how a file is read.
type FileOption func(*fileConfig)

type fileConfig struct{ maxFile int64 }

// maxFileCap is what the size of a file may be capped at: 1 TiB, or what memory
// can be addressed.
const maxFileCap = min(1<<40, math.MaxInt-1)

// WithMaxFile sets the size in bytes up to which a file is read; default 256 MiB,
// range 1 to 1 TiB (2 GiB on 32 bits).
func WithMaxFile(n int64) FileOption { return func(c *fileConfig) { c.maxFile = n } }

// ReadFile returns the transform that reads the files of a [Glob]. Reading is done by the
// workers of the pipeline; a file is open no longer than it is read. Memory is one file a
// worker. The error wraps [ErrOption].
//
// An error about a file names it, and wraps that of the system, such as
// [os.ErrNotExist] when it has vanished since it was listed. A file over
// [WithMaxFile] is an [ErrFileTooLarge] before anything is read; one that grows over it
// meanwhile, as soon as it has. One that becomes shorter while it is read is
// [ErrTruncated]. What is no longer a regular file is not opened.
func ReadFile(opts ...FileOption) (pipeline.Transform[File, FileData], error) {
	c, err := newFileConfig(opts)
	if err != nil {
		return nil, err
	}
	return &fileReader[File, FileData]{
		name: "read file", fileConfig: c,
		path: func(f File) string { return f.Path },
		with: func(f File, data []byte) FileData { return FileData{f.Path, data, f.Padded} },
	}, nil
}

// ReadImage returns the transform that reads the files of an [ImageFolder], as
// [ReadFile] does.
func ReadImage(opts ...FileOption) (pipeline.Transform[Image, ImageData], error) {
	c, err := newFileConfig(opts)
	if err != nil {
		return nil, err
	}
	return &fileReader[Image, ImageData]{
		name: "read image", fileConfig: c,
		path: func(i Image) string { return i.Path },
		with: func(i Image, data []byte) ImageData { return ImageData{i, data} },
	}, nil
}

func newFileConfig(opts []FileOption) (fileConfig, error) {
	c := fileConfig{maxFile: 256 << 20}
	for _, o := range opts {
		o(&c)
	}
	if c.maxFile < 1 || c.maxFile > maxFileCap {
		return c, fmt.Errorf("%w: WithMaxFile(%d) is not from 1 to %d", ErrOption, c.maxFile, int64(maxFileCap))
	}
	return c, nil
}

// fileReader reads the file that an element names.
type fileReader[T, U any] struct {
	name string
	fileConfig
	path func(T) string
	with func(T, []byte) U
}

// Name implements [pipeline.Named].
func (r *fileReader[T, U]) Name() string { return r.name }

// Apply implements [pipeline.Transform].
func (r *fileReader[T, U]) Apply(ctx context.Context, v T, emit func(U)) error {
	data, err := r.read(ctx, r.path(v))
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	emit(r.with(v, data))
	return nil
}

// read reads a whole file.
func (c *fileConfig) read(ctx context.Context, path string) (data []byte, err error) {
	// Opening a named pipe may block for ever, so it is looked at first.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	whole := extentOf(f)
	if whole.size > c.maxFile {
		return nil, c.tooLarge(path, whole.size)
	}
	return c.readAll(ctx, path, f, whole)
}

func (c *fileConfig) tooLarge(path string, size int64) error {
	return fmt.Errorf("%s: %w: %d bytes, the cap is %d; raise it by WithMaxFile", path, ErrFileTooLarge, size, c.maxFile)
}

// readPiece is how much is read between two looks at the context, in bytes.
const readPiece = 4 << 20

// readAll reads in to its end.
func (c *fileConfig) readAll(ctx context.Context, path string, in io.Reader, whole extent) ([]byte, error) {
	// One byte more, so that the end of a file that does not grow is seen
	// without growing the slice.
	data := make([]byte, 0, whole.size+1)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := in.Read(data[len(data):min(cap(data), len(data)+readPiece)])
		data = data[:len(data)+n]
		if int64(len(data)) > c.maxFile {
			return nil, c.tooLarge(path, int64(len(data)))
		}
		switch err = whole.end(err, int64(len(data))); {
		case err == io.EOF:
			return data, nil
		case hasShrunk(err):
			return nil, fmt.Errorf("%s: %w", path, err)
		case err != nil:
			return nil, err
		}
	}
}

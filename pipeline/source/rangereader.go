package source

import (
	"errors"
	"io"
	"io/fs"
)

// rangeBytes is the length of a range in bytes.
const rangeBytes = 256 << 10

// rangeFile is a file that can be read anywhere by several goroutines at once.
type rangeFile interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// rangeReader reads a regular file by ranges, several at once, and gives their bytes in
// the order of the file:
//
//	ReadAt ──▸ range 3 ─┐
//	ReadAt ──▸ range 4 ─┼──▸ Read: range 2
//	ReadAt ──▸ range 5 ─┘
//
// What it gives is what the file would give to one reader: where a range is short the
// ranges behind it are forgotten, and the file is asked for what follows, so that one
// that grows has no gap. Memory is a range for each that is read at once, and one more.
type rangeReader struct {
	file    rangeFile
	atOnce  int
	begun   bool
	at      int64          // in the file, of what is given next
	ahead   int64          // where the next range begins
	pending []chan extract // of the ranges that are being read, in order
	now     extract
	rest    []byte // of now, not given yet
}

// extract is what is in a range.
type extract struct {
	data []byte
	err  error // what comes after data, nil if the range is whole
}

// newRangeReader returns nil if file is not one that several can read, or too small for
// that to pay.
func newRangeReader(file io.ReadCloser, atOnce int) *rangeReader {
	f, ok := file.(rangeFile)
	if !ok || atOnce < 2 {
		return nil
	}
	if e := extentOf(file); e.file == nil || e.size < 2*rangeBytes {
		return nil
	}
	return &rangeReader{file: f, atOnce: atOnce}
}

// Read implements io.Reader.
func (r *rangeReader) Read(p []byte) (int, error) {
	if !r.begun {
		r.begun, r.ahead = true, r.at
		for range r.atOnce {
			r.readAhead(make([]byte, rangeBytes))
		}
	}
	for len(r.rest) == 0 {
		switch err := r.now.err; {
		case err == io.EOF:
			return r.readOn(p)
		case err != nil:
			return 0, err
		}
		if r.now.data != nil {
			r.readAhead(r.now.data[:rangeBytes])
		}
		r.now = <-r.pending[0]
		r.pending = r.pending[1:]
		r.rest = r.now.data
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	r.at += int64(n)
	return n, nil
}

// readAhead begins to read the next range into memory.
func (r *rangeReader) readAhead(memory []byte) {
	done, from, file := make(chan extract, 1), r.ahead, r.file
	r.ahead += rangeBytes
	r.pending = append(r.pending, done)
	go func() {
		n, err := file.ReadAt(memory, from)
		if n == len(memory) {
			err = nil
		}
		done <- extract{memory[:n], err}
	}()
}

// readOn reads behind the end that a range has met.
func (r *rangeReader) readOn(p []byte) (int, error) {
	n, err := r.file.ReadAt(p, r.at)
	r.at += int64(n)
	if n > 0 {
		return n, nil
	}
	return 0, err
}

// Seek implements io.Seeker, before the first Read.
func (r *rangeReader) Seek(offset int64, whence int) (int64, error) {
	if r.begun {
		return 0, errors.New("source: a file that is read by ranges cannot be sought")
	}
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		info, err := r.file.Stat()
		if err != nil {
			return 0, err
		}
		offset += info.Size()
	}
	r.at = offset
	return offset, nil
}

// Stat implements the part of [fs.File] that tells the size.
func (r *rangeReader) Stat() (fs.FileInfo, error) { return r.file.Stat() }

// Close waits for the ranges that are being read and closes the file.
func (r *rangeReader) Close() error {
	for _, p := range r.pending {
		<-p
	}
	r.pending = nil
	return r.file.Close()
}

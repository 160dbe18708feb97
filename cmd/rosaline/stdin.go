package main

import (
	"context"
	"io"
	"os"
)

// stdinBuffer is how much is read from standard input at once, in bytes.
const stdinBuffer = 128 << 10

// stdin is standard input that can be left alone: a read of a terminal or pipe
// may block for ever, and a signal must end the command all the same.
type stdin struct {
	ctx    context.Context
	filled chan filled
	free   chan []byte
	now    filled
	rest   []byte // of now, not read yet
}

type filled struct {
	data []byte
	err  error
}

// interruptible returns in such that its Read returns the cause of ctx once that
// is done. The goroutine that reads in ends with in or at its first read after
// ctx is done; a read that blocks then is left behind until the process ends.
func interruptible(ctx context.Context, in io.Reader) io.Reader {
	if f, ok := in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return in // never blocks
		}
	}
	s := &stdin{ctx: ctx, filled: make(chan filled, 2), free: make(chan []byte, 2)}
	s.free <- make([]byte, stdinBuffer)
	s.free <- make([]byte, stdinBuffer)
	go s.fill(in)
	return s
}

// fill reads ahead by one buffer.
func (s *stdin) fill(in io.Reader) {
	for {
		select {
		case <-s.ctx.Done():
			return
		case b := <-s.free:
			n, err := in.Read(b)
			s.filled <- filled{b[:n], err}
			if err != nil {
				return
			}
		}
	}
}

// Read implements io.Reader.
func (s *stdin) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.now.err != nil {
			return 0, s.now.err
		}
		if s.now.data != nil {
			s.free <- s.now.data[:cap(s.now.data)]
			s.now = filled{}
		}
		select {
		case <-s.ctx.Done():
			return 0, context.Cause(s.ctx)
		case s.now = <-s.filled:
			s.rest = s.now.data
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

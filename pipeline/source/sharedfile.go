package source

import (
	"io"
	"sync/atomic"
)

// sharedFile is an input that blocks still read when the cursor is done with it.
type sharedFile struct {
	file  io.Closer
	users atomic.Int64
}

// shareFile returns f with one user.
func shareFile(f io.Closer) *sharedFile {
	s := &sharedFile{file: f}
	s.users.Store(1)
	return s
}

// hold adds a user. What it returns lets go of the file; of a file that was only
// read, an error of closing says nothing about what was read.
func (s *sharedFile) hold() (release func()) {
	s.users.Add(1)
	return func() { _ = s.release() }
}

// release closes the file for the last user.
func (s *sharedFile) release() error {
	if s.users.Add(-1) > 0 {
		return nil
	}
	return s.file.Close()
}

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// lines writes n lines of JSON.
func lines(w io.Writer, n int) error {
	b := bufio.NewWriter(w)
	for i := range n {
		// A write that failed is remembered and told by Flush.
		fmt.Fprintf(b, `{"id":%d,"label":%d,"text":"the quick brown fox %d jumps over the lazy dog","x":[%d.5,1.25,-3.0,4e2]}`+"\n", i, i%10, i, i%100)
	}
	return b.Flush()
}

// makeLines writes lines-N.jsonl into dir, where the sides look for it. It appears
// whole or not at all.
func makeLines(dir string, n int) (err error) {
	f, err := os.CreateTemp(dir, "lines-*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := errors.Join(lines(f, n), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, fmt.Sprintf("lines-%d.jsonl", n)))
}

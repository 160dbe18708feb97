package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"slices"
)

// files are the input and the output of the rosaline command.
type files struct {
	command, in, out string
}

// fileSpec is a job on files.
type fileSpec struct {
	job, form, stages string
}

// fileSpecs are the jobs of the rosaline command.
func fileSpecs() []fileSpec {
	return []fileSpec{
		{"jsonl", "rosaline run", "clean,quality,dedup"},
		{"jsonl + pii", "rosaline run", "clean,quality,dedup,pii"},
	}
}

// work runs the command from start to end, as a user would.
func (f files) work(stages string) work {
	return work{
		run: func() error {
			var said bytes.Buffer
			cmd := exec.Command(f.command, "run", "--stages", stages, "--workers", "1", "--progress", "off", "-o", f.out, f.in)
			cmd.Stderr = &said
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%w: %s", err, said.Bytes())
			}
			return nil
		},
		rows: f.rows,
	}
}

// rows yields id and text of each record of the output.
func (f files) rows() (iter.Seq[[]byte], error) {
	data, err := os.ReadFile(f.out)
	if err != nil {
		return nil, err
	}
	var rows [][]byte
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var r struct{ ID, Text string }
		switch err := dec.Decode(&r); {
		case errors.Is(err, io.EOF):
			return slices.Values(rows), nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", f.out, err)
		}
		rows = append(rows, []byte(r.ID+"\t"+r.Text))
	}
}

// size returns the lines and bytes of the input.
func (f files) size() (lines int, size int64, err error) {
	in, err := os.Open(f.in)
	if err != nil {
		return 0, 0, err
	}
	defer in.Close()
	r := bufio.NewReader(in)
	for {
		part, err := r.ReadSlice('\n')
		size += int64(len(part))
		switch {
		case err == nil:
			lines++
		case errors.Is(err, io.EOF):
			return lines, size, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return 0, 0, err
		}
	}
}

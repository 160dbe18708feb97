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
	"strconv"

	"github.com/rosaline-go/rosaline/bench/text/internal/measure"
)

// files are the input and the output of the rosaline command.
type files struct {
	command, in, out string
}

// fileSpec is a job on files: the flags of a `rosaline run`.
type fileSpec struct {
	job   string
	flags []string
}

// fileSpecs are the jobs of the rosaline command on the documents.
func fileSpecs() []fileSpec {
	return []fileSpec{
		{"jsonl", []string{"--stages", "clean,quality,dedup"}},
		{"jsonl + pii", []string{"--stages", "clean,quality,dedup,pii"}},
	}
}

// chainSpecs are those that stand beside a chain of Unicode repair, masking and the
// rules of Gopher: all stages as they are by default, and with these rules and repairs,
// where the command has them.
func chainSpecs(repair bool) []fileSpec {
	gopher := []string{"--quality", "gopher"}
	if repair {
		gopher = append(gopher, "--repair", "all")
	}
	return []fileSpec{{"chain", nil}, {"chain, gopher", gopher}}
}

// work runs the command from start to end, as a user would.
func (f files) work(workers int, flags []string) measure.Work {
	return measure.Work{
		Run: func() error {
			var said bytes.Buffer
			cmd := exec.Command(f.command, append([]string{"run", "--workers", strconv.Itoa(workers),
				"--progress", "off", "-o", f.out, f.in}, flags...)...)
			cmd.Stderr = &said
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%w: %s", err, said.Bytes())
			}
			return nil
		},
		Rows: f.rows,
	}
}

// hasFlag reports whether `rosaline run` of the command has a flag.
func (f files) hasFlag(name string) (bool, error) {
	help, err := exec.Command(f.command, "run", "--help").Output()
	if err != nil {
		return false, fmt.Errorf("%s run --help: %w", f.command, err)
	}
	return bytes.Contains(help, []byte("  --"+name+" ")), nil
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

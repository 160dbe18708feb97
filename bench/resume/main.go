package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "resume:", err)
		os.Exit(1)
	}
}

// command is a line that is asked; each has what it needs.
type command struct {
	Do      string `json:"do"`
	Lane    string `json:"lane"`
	Kind    string `json:"kind"` // of a lane
	Form    string `json:"form"` // of a pipeline
	Dir     string `json:"dir"`
	Path    string `json:"path"`
	Hashes  int    `json:"hashes"`
	State   int    `json:"state"` // bytes
	Commits int    `json:"commits"`
	Rows    int    `json:"rows"`
	Bytes   int64  `json:"bytes"`
}

// serve answers commands until there are no more.
func serve(in io.Reader, out io.Writer) (err error) {
	lanes := map[string]*lane{}
	defer func() {
		for _, l := range lanes {
			err = errors.Join(err, l.close())
		}
	}()
	lines, answers := bufio.NewScanner(in), json.NewEncoder(out)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		answer, err := do(c, lanes)
		if err != nil {
			answer = map[string]string{"error": err.Error()}
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

// done is the answer of a command that tells nothing.
type done struct{}

func do(c command, lanes map[string]*lane) (any, error) {
	switch c.Do {
	case "fill":
		return done{}, fill(c.Dir, c.Hashes)
	case "reopen":
		return reopen(c.Dir)
	case "open":
		if lanes[c.Lane] != nil {
			return nil, fmt.Errorf("lane %q is open", c.Lane)
		}
		l, err := openLane(c.Kind, c.Dir, c.State)
		if err == nil {
			lanes[c.Lane] = l
		}
		return done{}, err
	case "commit":
		if lanes[c.Lane] == nil {
			return nil, fmt.Errorf("no lane %q", c.Lane)
		}
		return lanes[c.Lane].commits(c.Commits)
	case "text":
		return writeText(c.Path, c.Bytes)
	case "scan":
		return scan(c.Path)
	case "run":
		return goThrough(c.Form, c.Path, c.Dir, c.Rows)
	case "first":
		return first(c.Form, c.Path, c.Dir)
	}
	return nil, fmt.Errorf("unknown command %q", c.Do)
}

package protocol

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrCommand is returned when a line is not a command.
var ErrCommand = errors.New("protocol: want CASE WORKERS N")

// Command asks for one run of a case.
type Command struct {
	Case    string
	Workers int // 1 or more
	N       int // samples of the data set, 1 or more
}

func (c Command) String() string { return fmt.Sprintf("%s %d %d", c.Case, c.Workers, c.N) }

// ParseCommand is the inverse of [Command.String].
func ParseCommand(line string) (Command, error) {
	words := strings.Fields(line)
	if len(words) != 3 {
		return Command{}, fmt.Errorf("%w, got %q", ErrCommand, line)
	}
	c := Command{Case: words[0]}
	for i, to := range []*int{&c.Workers, &c.N} {
		v, err := strconv.Atoi(words[i+1])
		if err != nil || v < 1 {
			return Command{}, fmt.Errorf("%w, got %q: %q is not a number of 1 or more", ErrCommand, line, words[i+1])
		}
		*to = v
	}
	return c, nil
}

// Hello is the first line of a side.
type Hello struct {
	System  string `json:"system"`
	Version string `json:"version"`
}

// Answer is what a side says of one run.
type Answer struct {
	Case    string  `json:"case"`
	Workers int     `json:"workers"`
	Samples int     `json:"samples"`
	Seconds float64 `json:"seconds"`
	Fold    uint64  `json:"fold"`
}

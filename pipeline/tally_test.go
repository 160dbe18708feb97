package pipeline

import (
	"context"
	"encoding/json"
	"io"
	"sync/atomic"
)

// tally is a source of the numbers 0 to n−1, or without end for n = 0, that takes no
// notice of its context. It counts what is read.
type tally struct {
	n     int
	reads atomic.Int64
}

func (s *tally) Open(_ context.Context, at Start) (Cursor[int], error) {
	c := &tallyCursor{src: s}
	if at.Position != nil {
		if err := json.Unmarshal(at.Position, &c.at); err != nil {
			return nil, err
		}
	}
	return c, nil
}

type tallyCursor struct {
	src *tally
	at  int
}

func (c *tallyCursor) Next(context.Context) (int, error) {
	if c.at == c.src.n && c.src.n > 0 {
		return 0, io.EOF
	}
	c.src.reads.Add(1)
	c.at++
	return c.at - 1, nil
}

func (c *tallyCursor) Position() any { return c.at }
func (c *tallyCursor) Close() error  { return nil }

package main

import (
	"encoding/binary"
	"fmt"

	"github.com/rosaline-go/rosaline/pipeline/sample"
)

// tally is what the consumer makes of the samples, the same on both sides: how
// many there were, and the sum modulo 2⁶⁴ of two numbers of each, the bits of the
// first f32 of x and the i64 of a second field. It does not depend on the order.
type tally struct {
	second  string
	samples int
	fold    uint64
}

// one takes in a sample.
func (t *tally) one(s sample.Sample) error { return t.rows(s, 1) }

// each takes in samples.
func (t *tally) each(ss []sample.Sample) error {
	for _, s := range ss {
		if err := t.rows(s, 1); err != nil {
			return err
		}
	}
	return nil
}

// collated takes in a batch.
func (t *tally) collated(s sample.Sample) error {
	x, ok := s.Get("x")
	if !ok || x.Rank() != 2 {
		return fmt.Errorf("%v is no batch", s)
	}
	return t.rows(s, x.Dim(0))
}

// rows takes in so many samples that lie behind each other.
func (t *tally) rows(s sample.Sample, n int) error {
	x, _ := s.Get("x")
	y, _ := s.Get(t.second)
	xs, ys := x.Bytes(), y.Bytes()
	if n == 0 || len(xs) < 4*n || len(ys) != 8*n {
		return fmt.Errorf("%v is not %d rows of x and %s", s, n, t.second)
	}
	for width := len(xs) / n; len(ys) > 0; xs, ys = xs[width:], ys[8:] {
		t.fold += uint64(binary.LittleEndian.Uint32(xs)) + binary.LittleEndian.Uint64(ys)
	}
	t.samples += n
	return nil
}

package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/rosaline-go/rosaline/bench/pipeline/protocol"
)

// player is a side that can be asked.
type player interface {
	Ask(protocol.Command) (protocol.Answer, error)
}

// side is a player by its name in the report.
type side struct {
	system string
	player
}

// match lets sides run cases in turns.
type match struct {
	sides  []side
	rounds int
	log    io.Writer // a line a case
}

// turn is one run of one side.
type turn struct {
	side
	workers int
}

// turns are those of a round: all sides with each number of workers, next to each
// other. Every other round is the other way round, so that none is always first.
func (m match) turns(b bench, round int) []turn {
	var ts []turn
	for _, w := range b.workers {
		for _, s := range m.sides {
			ts = append(ts, turn{s, w})
		}
	}
	if round%2 == 1 {
		slices.Reverse(ts)
	}
	return ts
}

// play runs a case for a round that does not count, in which the sides make their
// data, and the rounds that do.
func (m match) play(b bench, o *outcome) error {
	for round := range m.rounds + 1 {
		for _, t := range m.turns(b, round) {
			a, err := t.Ask(protocol.Command{Case: b.name, Workers: t.workers, N: b.n})
			if err != nil {
				return err
			}
			if err := o.check(b, t.system, a); err != nil {
				return err
			}
			if round > 0 {
				o.add(t.system, a)
			}
		}
	}
	for _, w := range b.workers {
		fmt.Fprintf(m.log, "  %s, workers %d:", b.name, w)
		for _, s := range m.sides {
			fmt.Fprintf(m.log, " %s %s", s.system, b.show(b, median(o.times(row{b.name, w}, s.system))))
		}
		fmt.Fprintln(m.log)
	}
	return nil
}

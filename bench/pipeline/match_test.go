package main

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/bench/pipeline/protocol"
)

// scripted is a side that notes what it is asked. Its n-th answer takes n seconds.
type scripted struct {
	name  string
	asked *[]string
	count int
	fold  uint64
	fail  error
}

func (s *scripted) Ask(c protocol.Command) (protocol.Answer, error) {
	*s.asked = append(*s.asked, fmt.Sprintf("%s %d", s.name, c.Workers))
	s.count++
	return protocol.Answer{Case: c.Case, Workers: c.Workers, Samples: c.N, Seconds: float64(s.count), Fold: s.fold}, s.fail
}

func TestPlayTakesTurns(t *testing.T) {
	var asked []string
	var log bytes.Buffer
	m := match{rounds: 2, log: &log, sides: []side{
		{theirs, &scripted{name: "T", asked: &asked}}, {ours, &scripted{name: "O", asked: &asked}}}}
	o := newOutcome()
	b := bench{name: "batch", workers: []int{1, 2}, n: 10, show: rate}
	require.NoError(t, m.play(b, o))
	require.Equal(t, []string{
		"T 1", "O 1", "T 2", "O 2", // does not count
		"O 2", "T 2", "O 1", "T 1",
		"T 1", "O 1", "T 2", "O 2",
	}, asked)
	require.Equal(t, []float64{4, 5}, o.times(row{"batch", 1}, theirs))
	require.Equal(t, []float64{3, 6}, o.times(row{"batch", 2}, ours))
	require.Contains(t, log.String(), "batch, workers 1: tenshift-core 0.00222 k/s Rosaline 0.00222 k/s")
}

func TestPlayEndsWithTheFirstError(t *testing.T) {
	var asked []string
	b := bench{name: "batch", workers: []int{1}, n: 10, show: rate}
	broken := errors.New("broken")
	m := match{rounds: 3, log: &bytes.Buffer{}, sides: []side{{ours, &scripted{asked: &asked, fail: broken}}}}
	require.ErrorIs(t, m.play(b, newOutcome()), broken)
	require.Len(t, asked, 1)

	m.sides = []side{{theirs, &scripted{asked: &asked, fold: 1}}, {ours, &scripted{asked: &asked, fold: 2}}}
	require.ErrorIs(t, m.play(b, newOutcome()), errDiffer)
	require.Len(t, asked, 3)
}

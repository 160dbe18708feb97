package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/bench/pipeline/protocol"
	"github.com/rosaline-go/rosaline/pipeline/source"
)

func TestRowsReportWhatIsWrong(t *testing.T) {
	good := `{"label":1,"x":[1]}`
	for _, c := range []struct {
		want error
		text string
		line func(i int) string
	}{
		{source.ErrJSON, "lines-3.jsonl:2", func(i int) string { return good[:len(good)-i] }},
		{source.ErrValue, ": label: ", func(int) string { return `{"label":"a","x":[1]}` }},
		{source.ErrValue, ": x: ", func(int) string { return `{"label":1,"x":[1,"a"]}` }},
	} {
		r := runner{dir: made(t, 3, c.line)}
		_, err := r.run(t.Context(), protocol.Command{Case: "jsonl", Workers: 2, N: 3})
		require.ErrorIs(t, err, c.want)
		require.ErrorContains(t, err, c.text)
	}
}

func TestRowsOfAnyLength(t *testing.T) {
	const n = 300
	r := runner{dir: made(t, n, func(i int) string {
		return fmt.Sprintf(`{"x":[%d%s],"label":%d}`, i, strings.Repeat(",0.5", i%20), i)
	})}
	want := uint64(0)
	for i := range n {
		want += bits(i) + uint64(i)
	}
	got, err := r.run(t.Context(), protocol.Command{Case: "jsonl", Workers: 2, N: n})
	require.NoError(t, err)
	require.Equal(t, want, got.Fold)
}

package main

import (
	"fmt"
	"iter"
	"slices"

	"github.com/valyala/fastjson"

	"github.com/rosaline-go/rosaline/bench/text/internal/measure"
)

// bindField binds getting text and id out of each line of JSON by fastjson, which
// resolves escapes where they are.
func bindField(d *measure.Dataset) (measure.Work, error) {
	lines, size, err := d.Lines()
	if err != nil {
		return measure.Work{}, err
	}
	var p fastjson.Parser
	get := func(i int) (id, text []byte, err error) {
		v, err := p.ParseBytes(lines[i])
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		return v.GetStringBytes("id"), v.GetStringBytes("text"), nil
	}
	return measure.Work{
		Items: len(lines),
		Bytes: size,
		Run: func() error {
			for i := range lines {
				if _, _, err := get(i); err != nil {
					return err
				}
			}
			return nil
		},
		Rows: func() (iter.Seq[[]byte], error) {
			var rows [][]byte
			for i := range lines {
				id, text, err := get(i)
				if err != nil {
					return nil, err
				}
				rows = append(rows, fmt.Appendf(nil, "%s\t%s", id, text))
			}
			return slices.Values(rows), nil
		},
	}, nil
}

package main

import (
	"fmt"
	"iter"
	"slices"

	"github.com/rosaline-go/rosaline/bench/text/internal/measure"
	"github.com/rosaline-go/rosaline/pipeline/source"
)

// fieldSpecs are the jobs on lines of JSON.
func fieldSpecs() []measure.Spec {
	return []measure.Spec{measure.NewSpec("field", "Fields.Scan, Text", bindField)}
}

// bindField binds getting text and id out of each line, escapes resolved.
func bindField(d *measure.Dataset) (measure.Work, error) {
	lines, size, err := d.Lines()
	if err != nil {
		return measure.Work{}, err
	}
	f, err := source.NewFields("text", "id")
	if err != nil {
		return measure.Work{}, err
	}
	get := func(line []byte) (id, text []byte, err error) {
		if err := f.Scan(line); err != nil {
			return nil, nil, err
		}
		text, _ = f.Text(0)
		id, _ = f.Text(1)
		return id, text, nil
	}
	return measure.Work{
		Items: len(lines),
		Bytes: size,
		Run: func() error {
			for i, line := range lines {
				if _, _, err := get(line); err != nil {
					return fmt.Errorf("line %d: %w", i+1, err)
				}
			}
			return nil
		},
		Rows: func() (iter.Seq[[]byte], error) {
			var rows [][]byte
			for i, line := range lines {
				id, text, err := get(line)
				if err != nil {
					return nil, fmt.Errorf("line %d: %w", i+1, err)
				}
				rows = append(rows, fmt.Appendf(nil, "%s\t%s", id, text))
			}
			return slices.Values(rows), nil
		},
	}, nil
}

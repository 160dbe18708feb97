package main

import (
	"iter"
	"slices"

	"github.com/wasilibs/go-re2"

	"github.com/rosaline-go/rosaline/bench/text/internal/measure"
)

// pattern is a kind of personal data as a regular expression.
type pattern struct {
	find *re2.Regexp
	with []byte
}

// The kinds that luminamoon looks for, in its order and with its patterns.
func patterns() []pattern {
	return []pattern{
		{re2.MustCompile(`\b(?:Bearer\s+[A-Za-z0-9_\-\.]{20,}|(?:hf|ghp|gho|sk|glpat|AKIA)[A-Za-z0-9_\-]{16,})\b`), []byte("[API_KEY]")},
		email(),
		{re2.MustCompile(`\b(?:\d{4}[ -]?){3}\d{4}\b`), []byte("[CARD]")},
		{re2.MustCompile(`\b(?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.){3}(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\b`), []byte("[IP]")},
		{re2.MustCompile(`\b(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}\b|(?:::ffff:)?(?:\d{1,3}\.){3}\d{1,3}\b`), []byte("[IP]")},
	}
}

func email() pattern {
	return pattern{re2.MustCompile(`\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}\b`), []byte("[EMAIL]")}
}

// maskSpecs are the jobs that replace personal data by regular expressions.
func maskSpecs() []measure.Spec {
	const form = "go-re2"
	return []measure.Spec{
		measure.NewSpec("pii", form, func(d *measure.Dataset) (measure.Work, error) { return mask(d, patterns()), nil }),
		measure.NewSpec("pii email", form, func(d *measure.Dataset) (measure.Work, error) {
			return mask(d, []pattern{email()}), nil
		}),
	}
}

func mask(d *measure.Dataset, patterns []pattern) measure.Work {
	in, out := make([][]byte, len(d.Rows)), make([][]byte, len(d.Rows))
	for i, row := range d.Rows {
		in[i] = []byte(row)
	}
	return measure.Work{
		Run: func() error {
			for i, row := range in {
				for _, p := range patterns {
					row = p.find.ReplaceAll(row, p.with)
				}
				out[i] = row
			}
			return nil
		},
		Rows: func() (iter.Seq[[]byte], error) { return slices.Values(out), nil },
	}
}

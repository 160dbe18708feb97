package source_test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/source"
)

// Read records one by one, and numbers out of them.
func ExampleJSONL() {
	in := strings.NewReader(`{"label": 1, "x": [1.5, -3e2]}

{"label": 0, "x": [0.25
{"label": 0, "x": [7]}
`)
	src := source.JSONL([]source.Input{{Path: source.Stdin}}, source.WithStdin(in))
	cursor, err := src.Open(context.Background(), pipeline.Start{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cursor.Close()
	fields, err := source.NewFields("label", "x")
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		record, err := cursor.Next(context.Background())
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			continue
		}
		if err := fields.Scan(record.Data); err != nil {
			fmt.Println(err)
			return
		}
		label, err := source.ParseInt64(fields.Raw(0))
		if err != nil {
			fmt.Println(err)
			return
		}
		x, err := source.ParseFloat32s(fields.Raw(1), nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(record.ID(), label, x)
	}
	// Output:
	// -:1 1 [1.5 -300]
	// -:3: at byte 32: source: invalid JSON: byte 24: the line ends early; a record must be on one line
	// -:4 0 [7]
}

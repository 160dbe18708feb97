package source_test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/rosaline-go/rosaline/pipeline/source"
)

// Read JSONL from a stream, and see what is not a record.
func Example() {
	in := strings.NewReader(`{"id": 1, "text": "first"}
{"id": 2, "txt": "second"}
{"id": 3, "text": "third \u2713"}
`)
	r, err := source.NewReader([]source.Input{{Path: source.Stdin}}, source.WithStdin(in))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	d, err := source.NewDecoder(source.WithTextKey("text"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		chunk, err := r.Next(context.Background())
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		records, err := d.Decode(chunk)
		chunk.Release()
		if err != nil {
			fmt.Println(err)
			return
		}
		for i, text := range records.Text.All() {
			fmt.Println(records.Pos(i), records.ID.At(i), text)
		}
		for _, bad := range records.Bad {
			fmt.Println(bad.ID, bad.Reason, bad.Err)
		}
	}
	// Output:
	// -:1 1 first
	// -:3 3 third ✓
	// 2 missing_key -:2: at byte 27: source: missing key: no key "text" in the record; did you mean "txt"? keys: "id", "txt"
}

// A field is found by a dotted path.
func ExampleWithTextKey() {
	const line = `{"pages": [{"body": "one"}, {"body": "two"}], "pages.n": 2}`
	for _, path := range []string{"pages.1.body", "pages.n", "pages"} {
		r, err := source.NewReader([]source.Input{{Path: source.Stdin}}, source.WithStdin(strings.NewReader(line)))
		if err != nil {
			fmt.Println(err)
			return
		}
		d, err := source.NewDecoder(source.WithTextKey(path))
		if err != nil {
			fmt.Println(err)
			return
		}
		chunk, err := r.Next(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		records, err := d.Decode(chunk)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(records.Text.At(0))
		r.Close()
	}
	// Output:
	// two
	// 2
	// [{"body":"one"},{"body":"two"}]
}

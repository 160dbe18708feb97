package source_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rosaline-go/rosaline/pipeline/source"
)

// Stop after the first chunk, save the place, and go on there.
func ExampleReader_Position() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	inputs := []source.Input{{Path: path}}
	r, err := source.NewReader(inputs, source.WithChunkLines(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := r.Next(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	place, _ := json.Marshal(r.Position())
	r.Close()

	var at source.ReaderPosition
	_ = json.Unmarshal(place, &at)
	r, err = source.NewReader(inputs, source.WithPosition(at))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for {
		c, err := r.Next(context.Background())
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		for i := range c.Len() {
			l := c.Line(i)
			fmt.Printf("line %d at byte %d: %s\n", l.Pos.Line, l.Pos.Offset, l.Data)
		}
		c.Release()
	}
	// Output:
	// line 2 at byte 4: two
	// line 3 at byte 8: three
}

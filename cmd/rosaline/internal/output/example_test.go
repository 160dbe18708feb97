package output_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
)

func Example() {
	dir, err := os.MkdirTemp("", "output")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	list := func() {
		names, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, n := range names {
			fmt.Println(filepath.Base(n))
		}
	}

	f, err := output.Create(filepath.Join(dir, "clean.jsonl"), os.Stdout)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Fprintln(f, `{"id":1}`)
	list()
	if err := f.Commit(); err != nil {
		fmt.Println(err)
	}
	list()
	// Output:
	// clean.jsonl.partial
	// clean.jsonl
}

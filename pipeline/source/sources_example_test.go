package source_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/source"
)

// each prints what a source gives.
func each[T any](src pipeline.Source[T], show func(T) string) {
	ctx := context.Background()
	c, err := src.Open(ctx, pipeline.Start{Seed: 7})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	for {
		v, err := c.Next(ctx)
		if err == io.EOF {
			return
		}
		if err != nil {
			text := err.Error() // begins with the path of a temporary folder
			fmt.Println("error:", text[strings.LastIndexByte(text, filepath.Separator)+1:])
			continue
		}
		fmt.Println(show(v))
	}
}

// Values keep their text, and a row that does not fit is an error of its own.
func ExampleCSV() {
	dir, err := os.MkdirTemp("", "csv")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "people.csv")
	if err := os.WriteFile(path, []byte("id,born\n007,1920\n\n008,soon\n009,1931\n"), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	src, err := source.CSV([]string{path}, source.WithColumn("born", source.ColumnInt))
	if err != nil {
		fmt.Println(err)
		return
	}
	each(src, func(r source.Row) string {
		id, _ := r.Get("id")
		born, _ := r.Int("born")
		return fmt.Sprint("line ", r.Pos.Line, ": ", id, " ", born)
	})
	// Output:
	// line 2: 007 1920
	// error: people.csv:4: source: value of another type: column "born": "soon" is not an integer: invalid syntax
	// line 5: 009 1931
}

// Each rank of three sees a third of a data set that is shuffled as a whole.
func ExampleDistributedSampler() {
	letters := source.Memory([]string{"a", "b", "c", "d", "e", "f", "g"})
	for rank := range 3 {
		part, err := source.DistributedSampler(letters, rank, 3, source.WithShardMode(pipeline.Drop))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("rank", rank, "has", part.Len())
	}
	// Output:
	// rank 0 has 2
	// rank 1 has 2
	// rank 2 has 2
}

// Two files at a time, one element of each in turn.
func ExampleInterleave() {
	src, err := source.Interleave(2,
		source.Memory([]string{"a0"}),
		source.Memory([]string{"b0", "b1", "b2"}),
		source.Memory([]string{"c0", "c1"}))
	if err != nil {
		fmt.Println(err)
		return
	}
	each(src, func(s string) string { return s })
	// Output:
	// a0
	// b0
	// c0
	// b1
	// c1
	// b2
}

// Three of four elements come from the second source, as long as there are any.
func ExampleMix() {
	src, err := source.Mix([]pipeline.Source[string]{
		source.Memory([]string{"web 0", "web 1", "web 2"}),
		source.Memory([]string{"book 0", "book 1", "book 2"}),
	}, []float64{1, 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	each(src, func(s string) string { return s })
	// Output:
	// book 0
	// web 0
	// book 1
	// book 2
	// web 1
	// web 2
}

// The bytes of files are read by workers: a transform of the pipeline.
func ExampleReadFile() {
	dir, err := os.MkdirTemp("", "files")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "a.bin"), []byte("abc"), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	files, err := source.Glob([]string{dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	read, err := source.ReadFile(source.WithMaxFile(1 << 20))
	if err != nil {
		fmt.Println(err)
		return
	}
	each(files, func(f source.File) (text string) {
		err := read.Apply(context.Background(), f, func(d source.FileData) {
			text = fmt.Sprintf("%s %q", filepath.Base(d.Path), d.Data)
		})
		if err != nil {
			return err.Error()
		}
		return text
	})
	// Output:
	// a.bin "abc"
}

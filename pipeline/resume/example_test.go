package resume_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/resume"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// A run commits two batches and is stopped after it has written the hashes of a third. Opened
// again, it stands behind the second, and the third is not taken for its own duplicate.
func Example() {
	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	run := func(batches [][]string, stop bool) error {
		tracker, err := resume.OpenStateTracker(filepath.Join(dir, "tracker"), resume.ConfigOf([]byte("--stages dedup")))
		if err != nil {
			return err
		}
		defer tracker.Close()
		at := tracker.State()
		dedup, log, err := resume.OpenDeduplicator(filepath.Join(dir, "log"), at, nil)
		if err != nil {
			return err
		}
		defer log.Close()
		fmt.Printf("behind batch %d, %d texts known, state %q\n", at.Batch, dedup.Count(), log.State())
		for i, batch := range batches[at.Batch:] {
			for _, text := range batch {
				if dedup.IsUnique([]byte(text)) {
					fmt.Println(text)
				}
			}
			hashes, err := dedup.AppendHashes(nil, dedup.Count(), dedup.Position())
			if err != nil {
				return err
			}
			generation, err := tracker.Next()
			if err != nil {
				return err
			}
			if err := log.Append(generation, hashes, fmt.Appendf(nil, "of batch %d", at.Batch+1)); err != nil {
				return err
			}
			if stop && i == len(batches)-1 {
				return nil
			}
			dedup.Commit()
			at.Generation, at.Batch, at.Hashes = generation, at.Batch+1, log.Count()
			if err := tracker.Commit(at); err != nil {
				return err
			}
		}
		return nil
	}
	batches := [][]string{{"ann", "bob"}, {"bob", "cleo"}, {"ann", "dora"}}
	for _, stop := range []bool{true, false} {
		if err := run(batches, stop); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// behind batch 0, 0 texts known, state ""
	// ann
	// bob
	// cleo
	// dora
	// behind batch 2, 3 texts known, state "of batch 2"
	// dora
}

// words is a source of words.
type words []string

func (w words) Open(context.Context, pipeline.Start) (pipeline.Cursor[string], error) {
	return &cursor{w}, nil
}

type cursor struct{ left []string }

func (c *cursor) Next(context.Context) (string, error) {
	if len(c.left) == 0 {
		return "", io.EOF
	}
	w := c.left[0]
	c.left = c.left[1:]
	return w, nil
}

func (c *cursor) Close() error { return nil }

// A run takes words without repeats, two at a time, and stops before its second commit. Opened
// again it takes the second two once more, and goes on to the end.
func ExampleResumablePipeline() {
	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	build := func(at resume.Start) (*pipeline.Pipeline[[]string], error) {
		fmt.Printf("behind batch %d\n", at.Batch)
		list := words{"ann", "bob", "ann", "cleo", "bob", "dora", "ann", "emil"}
		unique := resume.Deduplicate(pipeline.From(list), at.Dedup, func(set *text.StreamDeduplicator, w string) (bool, error) {
			return set.IsUnique([]byte(w)), nil
		})
		return pipeline.BatchRaw(unique, 2), nil
	}
	run := func(commits int) error {
		ctx := context.Background()
		p, err := resume.OpenPipeline(ctx, dir, build, resume.WithConfig(map[string]string{"words": "8"}))
		if err != nil {
			return err
		}
		defer p.Close()
		for batch, err := range p.All(ctx) {
			if err != nil {
				return err
			}
			fmt.Println(batch)
			if commits--; commits < 0 {
				return nil // stopped
			}
			if err := p.Commit(); err != nil {
				return err
			}
		}
		return p.Commit() // of the end
	}
	for _, commits := range []int{1, 100, 100} {
		if err := run(commits); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// behind batch 0
	// [ann bob]
	// [cleo dora]
	// behind batch 1
	// [cleo dora]
	// [emil]
	// behind batch 3
}

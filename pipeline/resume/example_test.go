package resume_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/rosaline-go/rosaline/pipeline/resume"
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

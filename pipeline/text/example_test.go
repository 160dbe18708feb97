package text_test

import (
	"fmt"

	"github.com/rosaline-go/rosaline/pipeline/text"
	"github.com/rosaline-go/rosaline/stringtensor"
)

func ExampleFusedPipeline() {
	records, err := stringtensor.FromStrings([]string{
		"  Write to ann@example.org, she knows the answer.\r\n",
		"!!!",
		"Write to ann@example.org, she knows the answer.",
	})
	if err != nil {
		panic(err)
	}
	pipeline, err := text.NewFusedPipeline()
	if err != nil {
		panic(err)
	}
	result, err := pipeline.Process(records)
	if err != nil {
		panic(err)
	}
	for i, s := range result.Column.All() {
		fmt.Printf("row %d: %s\n", result.Rows[i], s)
	}
	for _, d := range result.Drops {
		fmt.Printf("row %d: dropped by %s, %s %v (bound %v)\n", d.Row, d.Stage, d.Reason, d.Value, d.Bound)
	}
	fmt.Println(pipeline.Deduplicator().Commit(), "texts remembered")
	// Output:
	// row 0: Write to [EMAIL], she knows the answer.
	// row 1: dropped by quality, min_chars 3 (bound 20)
	// row 2: dropped by dedup, duplicate 1 (bound 0)
	// 1 texts remembered
}

func ExampleTextCleaner() {
	c, err := text.NewTextCleaner(text.WithMinBytes(1), text.WithMaxBytes(12), text.WithTruncate(true))
	if err != nil {
		panic(err)
	}
	s, v := c.CleanString("  one\r\ntwo three four\n")
	fmt.Printf("%q %v\n", s, v.Kept())
	_, v = c.CleanString(" \u3000 ")
	fmt.Println(v.Reason, v.Value, v.Bound)
	// Output:
	// "one\ntwo thre" true
	// min_bytes 0 1
}

func ExampleQualityFilter() {
	q, err := text.NewQualityFilter(text.WithPreset(text.PresetPretraining), text.WithMinWords(5))
	if err != nil {
		panic(err)
	}
	m := text.NewMeasurer()
	for _, s := range []string{"to be or not to be or not to be", "all happy families are alike"} {
		metrics := m.Measure([]byte(s))
		v := q.Judge(metrics)
		fmt.Println(metrics.Words, "words:", v.Reason, v.Value, v.Bound)
	}
	// Output:
	// 10 words: max_repetition 0.5 0.35
	// 5 words: none 0 0
}

func ExampleStreamDeduplicator() {
	d, err := text.NewStreamDeduplicator()
	if err != nil {
		panic(err)
	}
	fmt.Println(d.IsUnique([]byte("a")), d.IsUnique([]byte("b")), d.IsUnique([]byte("a")))
	fmt.Println(d.Commit(), "committed")
	fmt.Println(d.IsUnique([]byte("c")), d.Rollback(), "forgotten")
	fmt.Println(d.IsUnique([]byte("c")), d.Count())
	// Output:
	// true true false
	// 2 committed
	// true 1 forgotten
	// true 2
}

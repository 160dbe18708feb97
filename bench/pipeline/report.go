package main

import (
	"fmt"
	"strings"
)

// fact is a line of the head of the report.
type fact struct{ name, text string }

// report writes what was measured as Markdown.
func report(benches []bench, o *outcome, facts []fact) string {
	var b strings.Builder
	b.WriteString(`# The engine beside tenshift-core

Written by ` + "`bench/pipeline/run`" + `; do not edit.
Times are the median of the rounds, in brackets the best. A ratio is their time divided by ours: above 1, Rosaline is
faster. What misses its target is in **bold**.

`)
	b.WriteString("| | |\n|---|---|\n")
	for _, f := range facts {
		fmt.Fprintf(&b, "| %s | %s |\n", f.name, strings.ReplaceAll(f.text, "|", `\|`))
	}
	b.WriteString("\n## Times\n\n")
	b.WriteString(table(benches, o))
	b.WriteString(`
## Reading it

- Both sides do the same work on the same data: the number of samples and a sum over all of them are compared after every
  run. Samples have ` + "`x`, f32[16], and `y`, i64[1]" + `; those of the 22 µs map have 1 KiB of ` + "`x`" + `, of which a byte-by-byte CRC-32 is
  taken ten times in a row.
- The sides take turns, and the order changes with each round. The first round does not count. Making the data is outside of
  the time, which goes from the start of the pipeline to the end of its stream; Go's garbage is collected before each
  run, and within it as its collector sees fit.
- The fastest form of each library counts. With JSONL ours reads chunks of lines, and its workers check each line and parse
  its two fields; theirs checks each line in its source, and its workers parse the two fields with serde into a struct. In
  the row below that they parse the line to a tree of values; ours does the same as before.
- The rows of the slow consumer show what the run takes over the consumer's own 500 µs a batch.
- The first element comes from a source that sleeps 10 ms before each, and is the only one that is taken.
`)
	return b.String()
}

// table has a line for each case and number of workers that was measured.
func table(benches []bench, o *outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| case | workers | samples | %s | %s | ratio | target | measured |\n", theirs, ours)
	b.WriteString("|---|--:|--:|--:|--:|--:|---|---|\n")
	for _, c := range benches {
		for _, w := range c.workers {
			r := row{c.name, w}
			if len(o.times(r, ours)) == 0 {
				continue
			}
			text, verdict := "–", "–"
			measured, met, ok := c.goal.judge(o, c, w)
			if ok {
				text, verdict = c.goal.text, measured+", met"
				if !met {
					verdict = fmt.Sprintf("**%s, MISSED**", measured)
				}
			}
			fmt.Fprintf(&b, "| %s | %d | %d | %s | %s | %s | %s | %s |\n",
				c.title, w, c.taken(), cell(c, o.times(r, theirs)), cell(c, o.times(r, ours)), ratioCell(o, r), text, verdict)
		}
	}
	return b.String()
}

// cell is the median of the times of a row, in brackets the best.
func cell(c bench, times []float64) string {
	if len(times) == 0 {
		return "–"
	}
	return fmt.Sprintf("%s (%s)", c.show(c, median(times)), c.show(c, best(times)))
}

func ratioCell(o *outcome, r row) string {
	m, ok := o.ratio(r)
	if !ok {
		return "–"
	}
	b, _ := o.ratioOf(r, best)
	return fmt.Sprintf("%s× (%s)", number(m, 3), number(b, 3))
}

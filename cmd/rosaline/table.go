package main

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// writeTable writes a report as a table for people.
func writeTable(w io.Writer, t *report) error {
	var s strings.Builder
	fmt.Fprintf(&s, "rosaline run: %s after %.2f s\n", t.State, t.Seconds)
	tab := tabwriter.NewWriter(&s, 0, 0, 2, ' ', tabwriter.AlignRight)
	r, b := t.Records, t.Bytes
	fmt.Fprintf(tab, "\tin\tout\tdropped\t\n")
	fmt.Fprintf(tab, "records\t%s\t%s\t%s\t\n", thousands(r.In), thousands(r.Out), thousands(r.Dropped))
	if r.Padded > 0 {
		fmt.Fprintf(tab, "padding\t%s\t\t\t\n", thousands(r.Padded))
	}
	if t.Source.LeftOut > 0 {
		fmt.Fprintf(tab, "left out\t\t\t%s\t\n", thousands(t.Source.LeftOut))
	}
	fmt.Fprintf(tab, "text bytes\t%s\t%s\t\t\n", thousands(b.TextIn), thousands(b.TextOut))
	fmt.Fprintf(tab, "file bytes\t%s\t%s\t\t\n", thousands(b.Read), thousands(b.Written))
	if err := tab.Flush(); err != nil {
		return err
	}
	s.WriteString("\n")
	tab = tabwriter.NewWriter(&s, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "stage\tin\tkept\tdropped\t\n")
	for i := range t.Stages {
		st := &t.Stages[i]
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t  %s\n", st.Name, thousands(st.In), thousands(st.Out), thousands(st.dropped()), reasons(st))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(&s, "\n%.1f MB/s of text, %s records/s\n", t.Throughput.TextBytes/1e6, thousands(int64(t.Throughput.Records)))
	table := padding.ReplaceAllString(s.String(), "\n")
	_, err := io.WriteString(w, table)
	return err
}

// padding is what tabwriter leaves behind the last cell of a line.
var padding = regexp.MustCompile(` +\n`)

// reasons lists why a stage dropped records and what it masked.
func reasons(s *stageTotals) string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(s.Dropped)) {
		parts = append(parts, reason+" "+thousands(s.Dropped[reason]))
	}
	for _, kind := range slices.Sorted(maps.Keys(s.Masked)) {
		parts = append(parts, kind+" masked "+thousands(s.Masked[kind]))
	}
	return strings.Join(parts, ", ")
}

// thousands writes n with commas between groups of three digits.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

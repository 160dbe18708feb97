package main

import (
	"encoding/json"
	"io"
	"time"

	"github.com/spf13/pflag"
)

// reportSchema is the version of the report's layout, described in
// docs/report.md. Fields may be added without a new number.
const reportSchema = 2

// How a run may end.
const (
	stateDone        = "done"
	stateFailed      = "failed"
	stateInterrupted = "interrupted"
)

// report is what --report writes.
type report struct {
	Schema  int               `json:"schema"`
	Build   build             `json:"build"`
	Flags   map[string]string `json:"flags"`
	Inputs  []string          `json:"inputs"`
	State   string            `json:"state"`
	Error   string            `json:"error,omitempty"`
	Started time.Time         `json:"started"`
	Seconds float64           `json:"seconds"`
	totals
	Throughput throughput   `json:"throughput"`
	Dedup      dedupTotals  `json:"dedup"`
	Engine     engineReport `json:"engine"`
	Device     deviceReport `json:"device"`
	// Resumable is nil for a run without --state.
	Resumable *resumableReport `json:"resumable,omitempty"`
}

// resumableReport tells of a run that more than one process may have worked on. The totals of
// the report are those of all of them, its seconds and engine those of the last.
type resumableReport struct {
	Folder  string  `json:"folder"`
	Runs    int     `json:"runs"`
	Seconds float64 `json:"seconds"`
}

// throughput is what went through in a second of the run.
type throughput struct {
	Records   float64 `json:"records_per_second"`
	TextBytes float64 `json:"text_bytes_per_second"` // of the texts of records that came in
}

func newThroughput(t *totals, seconds float64) throughput {
	return throughput{rate(t.Records.In, seconds), rate(t.Bytes.TextIn, seconds)}
}

// dedupTotals tell what deduplication remembers.
type dedupTotals struct {
	Entries int   `json:"entries"`
	Bytes   int64 `json:"bytes"` // of memory
}

// deviceReport tells where the stages ran.
type deviceReport struct {
	Requested string `json:"requested"`
	Used      string `json:"used"`
	Reason    string `json:"reason"`
}

// flagValues lists all flags of a command with the value they had.
func flagValues(flags *pflag.FlagSet) map[string]string {
	out := map[string]string{}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			out[f.Name] = f.Value.String()
		}
	})
	return out
}

// write writes the report as indented JSON.
func (r *report) write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

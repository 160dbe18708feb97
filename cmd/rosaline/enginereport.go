package main

import "github.com/rosaline-go/rosaline/pipeline"

// engineReport tells how the engine went.
type engineReport struct {
	Workers  int           `json:"workers"`
	Batch    int           `json:"batch"`
	InFlight int           `json:"in_flight"` // most batches at once
	Batches  int64         `json:"batches"`   // written
	Epochs   int64         `json:"epochs"`    // gone through to their end
	Seconds  float64       `json:"seconds"`
	Waited   float64       `json:"wait_seconds"` // that writing waited for a batch
	Stages   []stageReport `json:"stages"`
}

// stageReport tells how a stage of the engine went.
type stageReport struct {
	Name    string           `json:"name"`
	In      int64            `json:"in"`
	Out     int64            `json:"out"`
	Bytes   int64            `json:"bytes,omitempty"`
	Errors  map[string]int64 `json:"errors,omitempty"` // by kind
	Busy    float64          `json:"busy_seconds"`
	WaitIn  float64          `json:"wait_in_seconds"`
	WaitOut float64          `json:"wait_out_seconds"`
	Queue   *queueReport     `json:"queue,omitempty"`
}

// queueReport tells how full the queue behind a stage was.
type queueReport struct {
	Depth int     `json:"depth"` // at the end
	Peak  int     `json:"peak"`
	Mean  float64 `json:"mean"`
	Limit int     `json:"limit"`
}

func newEngineReport(f *engineFlags, s pipeline.Stats) engineReport {
	workers, inFlight := f.size()
	return engineReport{
		Workers: workers, Batch: f.batch.n, InFlight: inFlight, Batches: s.Delivered, Epochs: s.Epoch,
		Seconds: s.Elapsed.Seconds(), Waited: s.Waited.Seconds(), Stages: stageReports(s),
	}
}

// stageReports are the stages of a pipeline.
func stageReports(s pipeline.Stats) []stageReport {
	out := make([]stageReport, 0, len(s.Stages))
	for _, st := range s.Stages {
		r := stageReport{
			Name: st.Name, In: st.In, Out: st.Out, Bytes: st.Bytes,
			Busy: st.Busy.Seconds(), WaitIn: st.WaitIn.Seconds(), WaitOut: st.WaitOut.Seconds(),
		}
		for kind, n := range st.Errors {
			if r.Errors == nil {
				r.Errors = map[string]int64{}
			}
			r.Errors[kind.String()] = n
		}
		if q := st.Queue; q.Limit > 0 {
			r.Queue = &queueReport{q.Depth, q.Peak, q.Mean, q.Limit}
		}
		out = append(out, r)
	}
	return out
}

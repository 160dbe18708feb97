package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rosaline-go/rosaline/pipeline"
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("rosaline_"+name, help, labels, nil)
}

var (
	written       = desc("batches_written_total", "Elements that the consumer received.")
	epoch         = desc("epoch", "Epoch that is being read, from 0.")
	workers       = desc("workers", "Goroutines that work on elements.")
	inFlight      = desc("in_flight", "Elements between the source and the consumer.")
	inFlightBytes = desc("in_flight_bytes", "Their size, if it is known.")
	elapsed       = desc("elapsed_seconds", "Time since the start, up to the end.")
	waited        = desc("wait_seconds_total", "Time that the consumer waited.")
	stageIn       = desc("stage_in_total", "Elements that came to a stage.", "stage")
	stageOut      = desc("stage_out_total", "Elements that a stage made.", "stage")
	stageBytes    = desc("stage_bytes_total", "Size of the elements that a source gave.", "stage")
	stageErrors   = desc("stage_errors_total", "Elements that a stage failed at.", "stage", "kind")
	stageBusy     = desc("stage_busy_seconds_total", "Time in the functions of a stage, of all workers together.", "stage")
	stageWait     = desc("stage_wait_seconds_total", "Time that a stage waited for input, or for room for its output.", "stage", "for")
	queueDepth    = desc("queue_depth", "Chunks in the queue behind a stage.", "stage")
	queuePeak     = desc("queue_peak", "Most chunks that were in it.", "stage")
	queueLimit    = desc("queue_limit", "Most chunks that may be in it.", "stage")
)

var descs = []*prometheus.Desc{
	written, epoch, workers, inFlight, inFlightBytes, elapsed, waited, stageIn, stageOut, stageBytes,
	stageErrors, stageBusy, stageWait, queueDepth, queuePeak, queueLimit,
}

// collector is a [prometheus.Collector] of the statistics of a pipeline.
type collector struct{ stats func() pipeline.Stats }

// NewCollector returns a collector of what stats returns, which is called once a
// collection, by any goroutine.
func NewCollector(stats func() pipeline.Stats) prometheus.Collector { return collector{stats} }

// Describe implements [prometheus.Collector].
func (c collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range descs {
		out <- d
	}
}

// Collect implements [prometheus.Collector].
func (c collector) Collect(out chan<- prometheus.Metric) {
	const count, gauge = prometheus.CounterValue, prometheus.GaugeValue
	send := func(d *prometheus.Desc, t prometheus.ValueType, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, t, v, labels...)
	}
	s := c.stats()
	send(written, count, float64(s.Delivered))
	send(epoch, gauge, float64(s.Epoch))
	send(workers, gauge, float64(s.Workers))
	send(inFlight, gauge, float64(s.InFlight))
	send(inFlightBytes, gauge, float64(s.Bytes))
	send(elapsed, gauge, s.Elapsed.Seconds())
	send(waited, count, s.Waited.Seconds())
	for _, st := range s.Stages {
		send(stageIn, count, float64(st.In), st.Name)
		send(stageOut, count, float64(st.Out), st.Name)
		send(stageBytes, count, float64(st.Bytes), st.Name)
		send(stageBusy, count, st.Busy.Seconds(), st.Name)
		send(stageWait, count, st.WaitIn.Seconds(), st.Name, "input")
		send(stageWait, count, st.WaitOut.Seconds(), st.Name, "output")
		for kind, n := range st.Errors {
			send(stageErrors, count, float64(n), st.Name, kind.String())
		}
		if q := st.Queue; q.Limit > 0 {
			send(queueDepth, gauge, float64(q.Depth), st.Name)
			send(queuePeak, gauge, float64(q.Peak), st.Name)
			send(queueLimit, gauge, float64(q.Limit), st.Name)
		}
	}
}

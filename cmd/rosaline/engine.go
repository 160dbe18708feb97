package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/metrics"
	"github.com/rosaline-go/rosaline/pipeline"
)

// statsInterval is how often the state of the engine is logged.
const statsInterval = 5 * time.Second

// engine runs the pipeline of a command.
type engine struct {
	metrics      *metrics.Server // nil when nobody asked for them
	log          *slog.Logger
	interval     time.Duration // between two messages of the state
	cancelInputs func()        // makes reads that block return
}

// newEngine prepares to run a pipeline: the address of the metrics is open then.
func (c *command) newEngine(f *engineFlags, cancelInputs func()) (*engine, error) {
	e := &engine{log: c.log, interval: statsInterval, cancelInputs: cancelInputs}
	if f.metrics == "" {
		return e, nil
	}
	s, err := metrics.Listen(f.metrics.String())
	if err != nil {
		return nil, fmt.Errorf("--metrics %s: %w; name an address of this machine with a port that is free", &f.metrics, err)
	}
	c.log.Info("metrics are served", "url", "http://"+s.Addr()+"/metrics")
	e.metrics = s
	return e, nil
}

func (e *engine) close() error { return e.metrics.Close() }

// drive starts a pipeline and writes what it gives, up to the first error: that of the
// pipeline in the order of the stream, or that of write. It returns when no
// goroutine is left.
func drive[T any](e *engine, plan *pipeline.Pipeline[T], write func(T) error) (pipeline.Stats, error) {
	// An interrupt comes down the stream, as an error of the inputs: what was read
	// before is written.
	ctx := context.Background()
	it, err := plan.Start(ctx)
	if err != nil {
		return pipeline.Stats{}, err
	}
	stop := e.observe(it.Stats)
	for err == nil {
		var v T
		if v, err = it.Next(ctx); err == nil {
			err = write(v)
		}
	}
	if err == io.EOF {
		err = nil
	}
	e.cancelInputs()
	err = both(streamError(err), it.Close())
	return stop(), err
}

// observe serves and logs the statistics of a pipeline until stop is called, when it has been
// closed; that returns the last ones.
func (e *engine) observe(stats func() pipeline.Stats) (stop func() pipeline.Stats) {
	e.metrics.Serve(stats)
	stopLog := e.logStats(stats)
	return func() pipeline.Stats {
		stopLog()
		last := stats()
		for _, s := range stageReports(last) {
			e.log.Debug("stage", "name", s.Name, "in", s.In, "out", s.Out, "busy", seconds(s.Busy),
				"wait_in", seconds(s.WaitIn), "wait_out", seconds(s.WaitOut))
		}
		return last
	}
}

// seconds makes a duration of seconds, for a message.
func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Microsecond)
}

// streamError returns what an error about an element is about: the place in the inputs
// is in it, and says more than the element's number.
func streamError(err error) error {
	var stage *pipeline.StageError
	switch {
	case errors.Is(err, pipeline.ErrEmptySource):
		return errNothing
	case errors.As(err, &stage) && stage.Kind != pipeline.KindPanic:
		return stage.Err
	}
	return err
}

// logStats logs the state of the engine now and then until stop is called.
func (e *engine) logStats(stats func() pipeline.Stats) (stop func()) {
	if !e.log.Enabled(context.Background(), slog.LevelDebug) {
		return func() {}
	}
	done := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		ticker := time.NewTicker(e.interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
			case <-done:
				return
			}
			s := stats()
			attrs := []any{"written", s.Delivered, "epoch", s.Epoch, "in_flight", s.InFlight, "waited", s.Waited.Round(time.Millisecond)}
			for _, st := range stageReports(s) {
				if q := st.Queue; q != nil {
					attrs = append(attrs, "queue_"+st.Name, q.Depth)
				}
			}
			e.log.Debug("engine", attrs...)
		}
	})
	return func() {
		close(done)
		all.Wait()
	}
}

package pipeline_test

import (
	"bytes"
	"io"
	"runtime/trace"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// Each stage has regions of its own in a trace.
func TestTraceRegions(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("a trace is being taken")
	}
	var out bytes.Buffer
	require.NoError(t, trace.Start(&out))
	_, err := end(t, pipeline.From(hostileCount(1000, nil)).Named("reading").
		Map(func(v int) (int, error) { return v, nil }).Named("doubling").
		Shuffle(100).Named("mixing"))
	trace.Stop()
	require.Equal(t, io.EOF, err)
	for _, stage := range []string{"reading", "doubling", "mixing"} {
		require.True(t, bytes.Contains(out.Bytes(), []byte(stage)), stage)
	}
}

// Workers bound to threads do the same work.
func TestPinThreads(t *testing.T) {
	got, err := end(t, pipeline.From(hostileCount(1000, nil)).Workers(3).PinThreads().
		Map(func(v int) (int, error) { return -v, nil }))
	require.Equal(t, io.EOF, err)
	require.Len(t, got, 1000)
	for i, v := range got {
		require.Equal(t, -i, v)
	}
}

// Close is over soon after the functions of the user have returned.
func TestCloseIsPrompt(t *testing.T) {
	best := time.Hour
	for range 5 {
		var returned time.Time
		inside, leave := make(chan struct{}), make(chan struct{})
		it := begin(t, pipeline.From(hostileCount(-1, nil)).Workers(1).Map(func(v int) (int, error) {
			if v == 100 {
				close(inside)
				<-leave
				returned = time.Now()
			}
			return v, nil
		}).Shuffle(50))
		<-inside
		time.AfterFunc(20*time.Millisecond, func() { close(leave) })
		require.NoError(t, it.Close())
		best = min(best, time.Since(returned))
	}
	require.Less(t, best, 100*time.Millisecond)
}

package metrics

import (
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/pipeline"
)

// planted are statistics made up for tests.
func planted() pipeline.Stats {
	return pipeline.Stats{
		Delivered: 12, Epoch: 2, Elapsed: 1500 * time.Millisecond, Waited: 250 * time.Millisecond,
		Workers: 3, InFlight: 4, Bytes: 500,
		Stages: []pipeline.StageStats{
			{Name: "lines", Out: 20, Bytes: 9000, Busy: time.Second, WaitOut: 2 * time.Second},
			{Name: "scan", In: 20, Out: 15, Errors: map[pipeline.ErrorKind]int64{pipeline.KindTransform: 5},
				WaitIn: 3 * time.Second, Queue: pipeline.QueueStats{Depth: 1, Peak: 6, Limit: 8}},
		},
	}
}

// get asks a server and returns the lines that are not comments.
func get(t *testing.T, url string) (int, []string) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(url)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	var out []string
	for l := range strings.Lines(string(b)) {
		if !strings.HasPrefix(l, "#") {
			out = append(out, strings.TrimSuffix(l, "\n"))
		}
	}
	return res.StatusCode, out
}

func TestServer(t *testing.T) {
	s, err := Listen("localhost:0")
	require.NoError(t, err)
	s.Serve(planted)
	status, got := get(t, "http://"+s.Addr()+"/metrics")
	require.Equal(t, http.StatusOK, status)
	want := []string{
		`rosaline_batches_written_total 12`,
		`rosaline_elapsed_seconds 1.5`,
		`rosaline_epoch 2`,
		`rosaline_in_flight 4`,
		`rosaline_in_flight_bytes 500`,
		`rosaline_queue_depth{stage="scan"} 1`,
		`rosaline_queue_limit{stage="scan"} 8`,
		`rosaline_queue_peak{stage="scan"} 6`,
		`rosaline_stage_busy_seconds_total{stage="lines"} 1`,
		`rosaline_stage_busy_seconds_total{stage="scan"} 0`,
		`rosaline_stage_bytes_total{stage="lines"} 9000`,
		`rosaline_stage_bytes_total{stage="scan"} 0`,
		`rosaline_stage_errors_total{kind="transform",stage="scan"} 5`,
		`rosaline_stage_in_total{stage="lines"} 0`,
		`rosaline_stage_in_total{stage="scan"} 20`,
		`rosaline_stage_out_total{stage="lines"} 20`,
		`rosaline_stage_out_total{stage="scan"} 15`,
		`rosaline_stage_wait_seconds_total{for="input",stage="lines"} 0`,
		`rosaline_stage_wait_seconds_total{for="input",stage="scan"} 3`,
		`rosaline_stage_wait_seconds_total{for="output",stage="lines"} 2`,
		`rosaline_stage_wait_seconds_total{for="output",stage="scan"} 0`,
		`rosaline_wait_seconds_total 0.25`,
		`rosaline_workers 3`,
	}
	slices.Sort(got)
	require.Equal(t, want, got)
	status, _ = get(t, "http://"+s.Addr()+"/")
	require.Equal(t, http.StatusNotFound, status)

	// A connection that is open and silent does not keep Close.
	silent, err := net.Dial("tcp", s.Addr())
	require.NoError(t, err)
	defer silent.Close()
	require.NoError(t, s.Close())
	_, err = net.Dial("tcp", s.Addr())
	require.Error(t, err)
}

func TestAddressInUse(t *testing.T) {
	s, err := Listen("localhost:0")
	require.NoError(t, err)
	_, err = Listen(s.Addr())
	require.ErrorContains(t, err, s.Addr())
	require.NoError(t, s.Close(), "before Serve")
}

func TestNoServer(t *testing.T) {
	var s *Server
	s.Serve(planted)
	require.NoError(t, s.Close())
}

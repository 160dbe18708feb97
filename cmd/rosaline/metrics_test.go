package main

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMetrics asks a running command, which waits for its input, and again when it is
// over.
func TestMetrics(t *testing.T) {
	for _, name := range []string{"run", "quality"} {
		t.Run(name, func(t *testing.T) {
			in, feed := io.Pipe()
			said, say := io.Pipe()
			code := make(chan int, 1)
			go func() {
				code <- execute(context.Background(), []string{name, "-", "--batch", "1", "--metrics", "localhost:0"}, streams{in, io.Discard, say})
				_ = say.Close()
			}()
			var heard strings.Builder
			found := regexp.MustCompile(`url=(http://\S+/metrics)`)
			buf := make([]byte, 1024)
			for !found.MatchString(heard.String()) {
				n, err := said.Read(buf)
				require.NoError(t, err, heard.String())
				heard.Write(buf[:n])
			}
			go func() { _, _ = io.Copy(io.Discard, said) }()
			url := found.FindStringSubmatch(heard.String())[1]
			_, err := io.WriteString(feed, proseRecords(1))
			require.NoError(t, err)
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			res, err := client.Get(url)
			require.NoError(t, err)
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, http.StatusOK, res.StatusCode)
			require.Contains(t, string(body), `rosaline_stage_in_total{stage="decode"}`)
			require.NoError(t, feed.Close())
			require.Equal(t, exitDone, <-code)
			_, err = client.Get(url)
			require.Error(t, err, "the port is closed")
		})
	}
}

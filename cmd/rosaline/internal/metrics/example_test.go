package metrics_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/metrics"
	"github.com/rosaline-go/rosaline/pipeline"
)

// A server gives what the pipeline says when it is asked.
func Example() {
	s, err := metrics.Listen("localhost:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	s.Serve(func() pipeline.Stats { return pipeline.Stats{Delivered: 7} })

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get("http://" + s.Addr() + "/metrics")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	for in := bufio.NewScanner(res.Body); in.Scan(); {
		if strings.HasPrefix(in.Text(), "rosaline_batches") {
			fmt.Println(in.Text())
		}
	}
	// Output:
	// rosaline_batches_written_total 7
}

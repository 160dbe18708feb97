package metrics

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/rosaline-go/rosaline/pipeline"
)

// Server serves metrics over HTTP at /metrics. A nil Server does nothing.
type Server struct {
	listener net.Listener
	http     *http.Server
	running  sync.WaitGroup
}

// Listen opens a TCP address, such as localhost:9090, or :0 for a free port of all
// interfaces. Who connects waits until Serve. The error is that of the system,
// with the address.
func Listen(addr string) (*Server, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	return &Server{listener: l}, nil
}

// Addr returns the address, with the port that was found for :0.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Serve answers requests from now on, with what stats returns. It does not wait, and
// may be called once.
func (s *Server) Serve(stats func() pipeline.Stats) {
	if s == nil {
		return
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(NewCollector(stats))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	s.running.Go(func() {
		_ = s.http.Serve(s.listener) // ends with Close, as whose error it tells
	})
}

// Close ends the server and all its connections, and waits until no goroutine that it
// started is left.
func (s *Server) Close() error {
	if s == nil {
		return nil
	}
	if s.http == nil {
		return s.listener.Close()
	}
	err := s.http.Close()
	s.running.Wait()
	return err
}

package metrics

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// TestCollectorKeepsItsWord: a pedantic registry wants what is collected to be what was
// described.
func TestCollectorKeepsItsWord(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	require.NoError(t, r.Register(NewCollector(planted)))
	families, err := r.Gather()
	require.NoError(t, err)
	require.Len(t, families, len(descs))
}

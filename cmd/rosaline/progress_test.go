package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProgressLosesNoLine logs while a bar is drawn, before its end and after
// 100 %.
func TestProgressLosesNoLine(t *testing.T) {
	for _, total := range []int64{-1, 1000} {
		var b bytes.Buffer
		m := &messages{out: &b}
		log := newLogger(m, slog.LevelInfo, false)
		log.Info("line before")
		p := newProgress(m, total)
		for i := range 20 {
			log.Info(fmt.Sprintf("line %d.", i))
			p.set(int64(i*60), total)
			time.Sleep(10 * time.Millisecond)
		}
		p.stop()
		p.stop()
		log.Info("line after")
		for _, want := range []string{"before", "after"} {
			require.Equal(t, 1, strings.Count(b.String(), "line "+want), b.String())
		}
		for i := range 20 {
			require.Equal(t, 1, strings.Count(b.String(), fmt.Sprintf("line %d.", i)), "total %d, line %d", total, i)
		}
	}
}

func TestNoProgress(t *testing.T) {
	var p *progress
	p.set(1, 2)
	p.stop()
}

func TestProgressFlag(t *testing.T) {
	for mode, drawn := range map[string]bool{"auto": false, "off": false, "on": true} {
		r := inProcess(t, proseRecords(3), "run", "-", "--progress", mode, "--log-level", "error")
		require.Equal(t, exitDone, r.code)
		require.Equal(t, proseRecords(3), r.out, "a bar among the data")
		before, _, _ := strings.Cut(r.err, "rosaline run: done")
		require.Equal(t, drawn, before != "", "%s: %q", mode, before)
	}
}

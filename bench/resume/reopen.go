package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/rosaline-go/rosaline/pipeline/resume"
)

// reopened is what it took to open the files of a run. Bytes are those that came with it.
type reopened struct {
	Seconds  float64 `json:"seconds"`
	Hashes   int     `json:"hashes"`
	Heap     int64   `json:"heap"`     // that is in use
	Resident int64   `json:"resident"` // garbage given back
	Peak     int64   `json:"peak"`     // the most that was resident, garbage and all
}

// reopen opens a tracker, and a deduplicator that knows the hashes of its log. It must be the
// first thing that the process does: a peak is of the whole process.
func reopen(dir string) (r reopened, err error) {
	heap, resident, _, err := memory()
	if err != nil {
		return r, err
	}
	begin := time.Now()
	tracker, err := resume.OpenStateTracker(trackerName(dir), 0)
	if err != nil {
		return r, err
	}
	dedup, log, err := resume.OpenDeduplicator(logName(dir), tracker.State(), nil)
	if err != nil {
		return r, errors.Join(err, tracker.Close())
	}
	r.Seconds = time.Since(begin).Seconds()
	r.Hashes = dedup.Count()
	heapNow, residentNow, peak, err := memory()
	r.Heap, r.Resident, r.Peak = heapNow-heap, residentNow-resident, peak-resident
	runtime.KeepAlive(dedup)
	return r, errors.Join(err, log.Close(), tracker.Close())
}

var statusLine = regexp.MustCompile(`(?m)^(VmHWM|VmRSS):\s*(\d+) kB$`)

// memory tells what the process has, in bytes, garbage given back.
func memory() (heap, resident, peak int64, err error) {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0, 0, fmt.Errorf("resident memory is not known here: %w", err)
	}
	for _, line := range statusLine.FindAllSubmatch(status, -1) {
		kib, err := strconv.ParseInt(string(line[2]), 10, 64)
		if err != nil {
			return 0, 0, 0, err
		}
		if string(line[1]) == "VmHWM" {
			peak = kib << 10
		} else {
			resident = kib << 10
		}
	}
	return int64(m.HeapAlloc), resident, peak, nil
}

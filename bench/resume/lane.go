package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/rosaline-go/rosaline/pipeline/resume"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// lane is the open files of a run, to commit to:
//
//	tracker  a commit of the tracker alone
//	log      one new hash into the log, and a state
//	both     the log, then the tracker: a commit as a run makes it
type lane struct {
	tracker *resume.StateTracker
	log     *resume.Log // nil in a lane of the tracker alone
	dedup   *text.StreamDeduplicator
	slot    bool // the tracker is committed
	state   []byte
	at      resume.State
	row     int
	hashes  []text.Hash128
}

func openLane(kind, dir string, state int) (l *lane, err error) {
	l = &lane{slot: kind != "log", state: make([]byte, state)}
	switch kind {
	case "tracker", "log", "both":
	default:
		return nil, fmt.Errorf("unknown kind %q of a lane", kind)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if l.tracker, err = resume.OpenStateTracker(trackerName(dir), 0); err != nil {
		return nil, err
	}
	l.at = l.tracker.State()
	if kind != "tracker" {
		if l.dedup, l.log, err = resume.OpenDeduplicator(logName(dir), l.at, nil); err != nil {
			return nil, errors.Join(err, l.tracker.Close())
		}
	}
	return l, nil
}

// took is how long each of some commits took.
type took struct {
	Nanoseconds []int64 `json:"nanoseconds"`
}

// commits makes n commits. A text is hashed and looked up before each, outside of its time.
func (l *lane) commits(n int) (took, error) {
	t := took{make([]int64, 0, n)}
	for range n {
		l.row++
		l.at.Generation, l.at.Batch = l.at.Generation+1, l.at.Batch+1
		l.at.Coordinate = resume.Coordinate{Offset: uint64(l.row) << 10, Row: uint64(l.row)}
		if l.dedup != nil && !l.dedup.IsUnique(strconv.AppendInt([]byte("new text "), int64(l.row), 10)) {
			return t, fmt.Errorf("text %d came before", l.row)
		}
		begin := time.Now()
		err := l.commit()
		t.Nanoseconds = append(t.Nanoseconds, time.Since(begin).Nanoseconds())
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

func (l *lane) commit() (err error) {
	if l.log != nil {
		if l.hashes, err = l.dedup.AppendHashes(l.hashes[:0], l.dedup.Count(), l.dedup.Position()); err != nil {
			return err
		}
		if err := l.log.Append(l.at.Generation, l.hashes, l.state); err != nil {
			return err
		}
		l.at.Hashes = l.log.Count()
		l.dedup.Commit()
	}
	if !l.slot {
		return nil
	}
	return l.tracker.Commit(l.at)
}

func (l *lane) close() error {
	var err error
	if l.log != nil {
		err = l.log.Close()
	}
	return errors.Join(err, l.tracker.Close())
}

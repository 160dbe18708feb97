package pipeline

import "encoding/json"

// StateReport is what a state made by [Iterator.State] says, for those who keep states.
type StateReport struct {
	Delivered int64 // elements that the consumer had received, since the very beginning
	Epoch     int64 // of the element received last; of the next, if the end of an epoch was seen
	Source    SourceMark
	// Snapshots are those of the stateful transforms from which the state goes on, the last
	// one of the pipeline first.
	Snapshots []Snapshot
}

// SourceMark is where the source is opened when the state is resumed. What was received may
// reach beyond it: a stage that holds elements back is given them again.
type SourceMark struct {
	Epoch    int64
	Count    uint64          // elements of the epoch before the place
	Position json.RawMessage // of the place, as told by the cursor; nil if it tells none
	Skip     uint32          // elements that are passed over from there on
}

// Snapshot is what a stateful transform remembered, see [Resumable].
type Snapshot struct {
	Epoch int64
	Value json.RawMessage
}

// ReadState reports what is in a state. The error is [ErrState].
func ReadState(raw []byte) (StateReport, error) {
	s, err := parseState(raw)
	if err != nil {
		return StateReport{}, err
	}
	return s.report(), nil
}

func (s *state) report() StateReport {
	r := StateReport{Delivered: s.Delivered, Epoch: s.Epoch}
	for p := s.Place; p != nil && p.At != nil; p = p.At.Up {
		// The source is the only stage that has a count, stateful ones alone have snapshots.
		var at struct {
			Epoch    int64           `json:"epoch"`
			Position json.RawMessage `json:"position"`
			Count    *uint64         `json:"count"`
			Snapshot json.RawMessage `json:"snapshot"`
		}
		switch err := json.Unmarshal(p.At.State, &at); {
		case err != nil: // another kind of stage
		case p.At.Up == nil && at.Count != nil:
			r.Source = SourceMark{at.Epoch, *at.Count, told(at.Position), p.Skip}
		case told(at.Snapshot) != nil:
			r.Snapshots = append(r.Snapshots, Snapshot{at.Epoch, at.Snapshot})
		}
	}
	return r
}

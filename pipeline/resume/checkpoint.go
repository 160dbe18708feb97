package resume

import (
	"encoding/json"
	"fmt"

	"github.com/rosaline-go/rosaline/pipeline"
)

// checkpointVersion is that of the form of a [Checkpoint].
const checkpointVersion = 1

// Checkpoint is what a [ResumablePipeline] keeps of a commit besides the hashes: the state in
// the frames of its log, as JSON.
type Checkpoint struct {
	Version  int             `json:"version"`
	Pipeline json.RawMessage `json:"pipeline"`        // state of the iterator
	Extra    json.RawMessage `json:"extra,omitempty"` // what the function of [WithBeforeCommit] returned
	Ended    bool            `json:"ended,omitempty"` // the consumer has seen the end of the stream
	Known    int             `json:"known,omitempty"` // hashes of another program beside the log
}

// ReadCheckpoint reads what [Log.State] returns for the log of a [ResumablePipeline]. The error
// is [ErrCheckpoint], or [ErrVersion] if a newer program wrote it.
func ReadCheckpoint(state []byte) (Checkpoint, error) {
	var c Checkpoint
	if err := json.Unmarshal(state, &c); err != nil {
		return Checkpoint{}, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	switch {
	case c.Version > checkpointVersion:
		return Checkpoint{}, fmt.Errorf("%w %d of a checkpoint, this program reads %d; go on with the newer program", ErrVersion, c.Version, checkpointVersion)
	case c.Version != checkpointVersion || len(c.Pipeline) == 0:
		return Checkpoint{}, fmt.Errorf("%w: it has no pipeline", ErrCheckpoint)
	}
	return c, nil
}

// encode makes the bytes that are kept.
func (c Checkpoint) encode() ([]byte, error) {
	c.Version = checkpointVersion
	return json.Marshal(c)
}

// checkpointPlace is where a pipeline stands at a checkpoint.
type checkpointPlace struct {
	pipeline.StateReport
	snapshot *dedupSnapshot // of the deduplication that goes on; nil: none does
	epoch    int64          // of the snapshot
}

// place reads where the pipeline stands; of one that has not begun all is zero.
func (c Checkpoint) place() (at checkpointPlace, err error) {
	if len(c.Pipeline) == 0 {
		return at, nil
	}
	if at.StateReport, err = pipeline.ReadState(c.Pipeline); err == nil && !c.Ended {
		at.snapshot, at.epoch = snapshotIn(at.StateReport)
	}
	return at, err
}

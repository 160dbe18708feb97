package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
)

// mark is where a stage that runs in order stood at some point of the stream: enough
// to let it go on from there, given its input from up on.
//
//	place ─at─▸ mark of the last such stage ─up─▸ place ─at─▸ mark of the one before … the source
type mark struct {
	stage string // for checking
	state any    // becomes JSON
	up    place  // of its input; without a mark for the source
	// cut says that behind the mark the stage gave out what it held, because of an error:
	// 1 and how many values it had been given then, from up on. If the error is gone when
	// the stream is resumed that must come all the same. 0 is not at all.
	cut uint64
	// begun is the epoch that the stage is in, as those behind it see it: the ends of
	// those before were passed on, though up may lie before them.
	begun int64

	st    *stage // nil if the mark was read, or if the stage cannot be cut again
	start uint64 // values that the stage had been given before up
}

// recut is the mark as it is now that stages have been cut.
func (m *mark) recut() *mark {
	if m == nil {
		return nil
	}
	out := *m
	if m.cut == 0 && m.st != nil && m.st.cut > 0 {
		out.cut = m.st.cut - m.start
	}
	out.up.at = m.up.at.recut()
	return &out
}

// place is a place between two values of a stream: behind the first skip outputs
// of the stage that at belongs to, and behind the first drop values that the stages which
// do not run in order made of the next one. The zero place is the beginning.
type place struct {
	at   *mark
	skip uint32
	drop uint32
}

// markJSON and placeJSON are the form of marks and places in a state.
type markJSON struct {
	Stage string          `json:"stage"`
	State json.RawMessage `json:"state,omitempty"`
	Up    *placeJSON      `json:"up,omitempty"`
	Cut   uint64          `json:"cut,omitempty"`
	Begun int64           `json:"begun,omitempty"`
}

type placeJSON struct {
	At   *markJSON `json:"at,omitempty"`
	Skip uint32    `json:"skip,omitempty"`
	Drop uint32    `json:"drop,omitempty"`
}

func (p place) encode() (*placeJSON, error) {
	out := &placeJSON{Skip: p.skip, Drop: p.drop}
	if p.at == nil {
		return out, nil
	}
	state, err := marshal(p.at.state)
	if err != nil {
		return nil, fmt.Errorf("pipeline: the state of %s: %w", p.at.stage, err)
	}
	out.At = &markJSON{Stage: p.at.stage, State: state, Cut: p.at.cut, Begun: p.at.begun}
	if p.at.up != (place{}) {
		if out.At.Up, err = p.at.up.encode(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// marshal makes JSON of a value of the user, whose methods may panic.
func marshal(v any) (raw json.RawMessage, err error) {
	defer caught(&err)
	return json.Marshal(v)
}

func (p *placeJSON) decode() place {
	if p == nil {
		return place{}
	}
	out := place{skip: p.Skip, drop: p.Drop}
	if p.At != nil {
		out.at = &mark{stage: p.At.Stage, state: p.At.State, up: p.At.Up.decode(), cut: p.At.Cut, begun: p.At.Begun}
	}
	return out
}

// restore fills state from a mark that was decoded; m may be nil.
func (m *mark) restore(state any) error {
	if m == nil {
		return nil
	}
	raw, _ := m.state.(json.RawMessage)
	if raw == nil {
		return errors.New("it has no state")
	}
	return json.Unmarshal(raw, state)
}

package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strings"
)

// stateVersion is that of the form of a state.
const stateVersion = 1

// state is what [Iterator.State] makes: which pipeline, and which place of its stream.
type state struct {
	Version int         `json:"rosaline_pipeline_state"`
	Config  stateConfig `json:"config"`
	// Delivered counts what the consumer had received, since the very beginning.
	Delivered int64 `json:"delivered"`
	// Ended says that the consumer has seen the end of the epoch that Place is at the
	// end of.
	Ended bool       `json:"epoch_ended,omitempty"`
	Epoch int64      `json:"epoch"`
	Place *placeJSON `json:"place"`
	Sum   uint32     `json:"crc32c"` // of the rest; see [checksum]
}

// stateConfig is what the order of a stream depends on.
type stateConfig struct {
	Source    string   `json:"source"`
	Stages    []string `json:"stages"`
	Seed      uint64   `json:"seed"`
	Policy    string   `json:"on_error"`
	Shard     string   `json:"shard,omitempty"`
	Canonical int      `json:"canonical_shards,omitempty"`
	DropLast  bool     `json:"drop_last,omitempty"`
	Straddle  bool     `json:"across_epochs,omitempty"`
	// Epochs matters where batches go over: only the very last one may be shorter.
	Epochs int64 `json:"epochs,omitempty"`
}

func (p plan) stateConfig() stateConfig {
	c := stateConfig{
		Source: p.stages[0].param, Seed: p.cfg.seed, Policy: p.cfg.policy.String(),
		Canonical: p.cfg.canonical, DropLast: p.cfg.dropLast, Straddle: p.cfg.straddle,
		Stages: []string{},
	}
	for _, s := range p.stages[1:] {
		name := s.name
		if s.param != "" {
			name += "(" + s.param + ")"
		}
		c.Stages = append(c.Stages, name)
	}
	if c.Straddle {
		c.Epochs = p.cfg.epochs
	}
	if s := p.cfg.sharding; s != nil {
		c.Shard = fmt.Sprintf("%d/%d %v", s.Rank, s.World, s.Mode)
		if p.cfg.byFile {
			c.Shard += " by file"
		}
	}
	return c
}

// differences lists what is not the same in two configurations.
func (c stateConfig) differences(o stateConfig) []string {
	var out []string
	for _, f := range []struct {
		name      string
		then, now any
	}{
		{"source", c.Source, o.Source},
		{"stages", strings.Join(c.Stages, " → "), strings.Join(o.Stages, " → ")},
		{"seed", c.Seed, o.Seed},
		{"on_error", c.Policy, o.Policy},
		{"shard", c.Shard, o.Shard},
		{"canonical_shards", c.Canonical, o.Canonical},
		{"drop_last", c.DropLast, o.DropLast},
		{"across_epochs", c.Straddle, o.Straddle},
		{"epochs", c.Epochs, o.Epochs},
	} {
		if f.then != f.now {
			out = append(out, fmt.Sprintf("%s was %v and is %v", f.name, orNone(f.then), orNone(f.now)))
		}
	}
	return out
}

// orNone is how a value of a configuration is written.
func orNone(v any) any {
	if v == "" {
		return "none"
	}
	return v
}

// checksum is the CRC-32C of a state without its crc32c, so that no damage is taken for
// another place. It is of the values: spaces and the order of keys do not matter, because
// states may be kept in other JSON.
func checksum(raw []byte) (uint32, error) {
	var fields map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		return 0, err
	}
	delete(fields, "crc32c")
	sorted, err := json.Marshal(fields)
	return crc32.Checksum(sorted, crc32.MakeTable(crc32.Castagnoli)), err
}

// encode makes the JSON of a state.
func (s state) encode() ([]byte, error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	if s.Sum, err = checksum(raw); err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// parseState reads a state.
func parseState(raw []byte) (*state, error) {
	var version struct {
		Version *int `json:"rosaline_pipeline_state"`
	}
	if err := json.Unmarshal(raw, &version); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	switch v := version.Version; {
	case v == nil:
		return nil, fmt.Errorf("%w: it has no rosaline_pipeline_state", ErrState)
	case *v != stateVersion:
		return nil, fmt.Errorf("%w: version %d; this program reads version %d", ErrState, *v, stateVersion)
	}
	s := new(state)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	if sum, err := checksum(raw); err != nil || sum != s.Sum {
		return nil, fmt.Errorf("%w: it is damaged: its checksum is %08x, what it says is %08x", ErrState, sum, s.Sum)
	}
	if s.Place == nil || s.Delivered < 0 || s.Epoch < 0 {
		return nil, fmt.Errorf("%w: it has no place, or negative counts", ErrState)
	}
	return s, nil
}

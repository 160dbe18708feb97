package pipeline

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a state says of the source is where a cursor is opened when it is resumed.
func TestReadStateOfASource(t *testing.T) {
	for _, seek := range []bool{true, false} {
		src := upTo(100)
		src.seek = seek
		p := From[rec](src).Epochs(2).ChunkSize(4)
		it := begin(t, p)
		for k := range 200 {
			r, err := ReadState(saved(t, it))
			require.NoError(t, err)
			require.EqualValues(t, k, r.Delivered)
			if k%100 > 0 { // an end may have been seen or not
				require.EqualValues(t, k/100, r.Epoch)
			}
			require.Empty(t, r.Snapshots)
			if k > 0 {
				at := r.Source
				count := 100*at.Epoch + int64(at.Count) + int64(at.Skip)
				require.EqualValues(t, k, count, "%+v", at)
				require.LessOrEqual(t, at.Skip, uint32(marksEvery+4))
				if seek {
					require.JSONEq(t, string(at.Position), string(marshaled(t, at.Count)))
				} else {
					require.Nil(t, at.Position)
				}
			}
			takeN(t, it, 1)
		}
		takeRest(t, it)
		r, err := ReadState(saved(t, it))
		require.NoError(t, err)
		require.EqualValues(t, 200, r.Delivered)
		require.EqualValues(t, 2, r.Epoch)
	}
}

func marshaled(t testing.TB, v any) json.RawMessage {
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return raw
}

// The source is no further than what was received and what is held.
func TestReadStateBehindAShuffle(t *testing.T) {
	p := BatchRaw(From[rec](upTo(200)).Shuffle(20), 4)
	it := begin(t, p)
	seen := map[int]bool{}
	for range 50 {
		r, err := ReadState(saved(t, it))
		require.NoError(t, err)
		at := int(r.Source.Count) + int(r.Source.Skip)
		for i := range at {
			require.True(t, seen[i], "the source is at %d, and %d has not come", at, i)
		}
		for _, v := range takeN(t, it, 1)[0] {
			seen[v.V[0]] = true
		}
	}
}

// Snapshots are those of the transforms that have one, the last first.
func TestReadStateSnapshots(t *testing.T) {
	p := From[rec](upTo(60)).
		Stateful(func() StatefulTransform[rec, rec] { return new(savedHoard) }).
		Stateful(func() StatefulTransform[rec, rec] { return new(delay) }). // cannot be saved
		Shuffle(3).
		Stateful(func() StatefulTransform[rec, rec] { return new(savedDelay) }).
		Epochs(2).ChunkSize(3)
	it := begin(t, p)
	n := len(allOf(t, p))
	most, epochs := 0, map[int64]bool{}
	for range n {
		state, r, err := it.ReportState()
		require.NoError(t, err)
		require.Equal(t, string(saved(t, it)), string(state))
		read, err := ReadState(state)
		require.NoError(t, err)
		require.Equal(t, read, r)
		for i, s := range r.Snapshots {
			epochs[s.Epoch] = true
			var kind struct{ Came *int }
			require.NoError(t, json.Unmarshal(s.Value, &kind))
			isHoard := kind.Came != nil
			require.Equal(t, isHoard, i == len(r.Snapshots)-1 && (len(r.Snapshots) == 2 || isHoard), "%s", s.Value)
			if !isHoard {
				var held delay
				require.NoError(t, json.Unmarshal(s.Value, &held))
				require.LessOrEqual(t, len(held.Held), 3)
			}
		}
		most = max(most, len(r.Snapshots))
		takeN(t, it, 1)
	}
	require.Equal(t, map[int64]bool{0: true, 1: true}, epochs)
	require.Positive(t, most)
}

// What is not a state as it was made is refused.
func TestReadStateOfDamage(t *testing.T) {
	it := begin(t, damagedPlan())
	takeN(t, it, 30)
	state := saved(t, it)
	_, err := ReadState(state)
	require.NoError(t, err)
	for n := range state {
		_, err := ReadState(state[:n])
		require.ErrorIs(t, err, ErrState)
	}
	for i := range state {
		for bit := range 8 {
			flipped := slices.Clone(state)
			flipped[i] ^= 1 << bit
			_, err := ReadState(flipped)
			require.ErrorIs(t, err, ErrState, "%s", flipped)
		}
	}
	for _, junk := range []string{"", "null", "{}", "[]", `{"rosaline_pipeline_state":1}`} {
		_, err := ReadState([]byte(junk))
		require.ErrorIs(t, err, ErrState)
	}
	// Contents that no run had are no panic, whatever they are taken for.
	var fields map[string]any
	require.NoError(t, unmarshal(state, &fields))
	for _, v := range []any{nil, true, "x", -1, 1.5, []any{}, map[string]any{}, map[string]any{"at": map[string]any{"stage": 1}},
		map[string]any{"at": map[string]any{"stage": "x", "state": []any{1}, "up": map[string]any{}}}} {
		fields["place"] = v
		_, _ = ReadState(resealed(t, indented(t, fields)))
	}
}

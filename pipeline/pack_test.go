package pipeline_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/pipeline"
)

type (
	tokens = []int32
	packed = pipeline.Packed[int32]
)

// sequences makes sequences of lengths, whose tokens are all different, and positive.
func sequences(lengths []int) listed[tokens] {
	return listed[tokens]{of: func(epoch int64) []tokens {
		out := make([]tokens, len(lengths))
		for i, n := range lengths {
			out[i] = make(tokens, n)
			for j := range out[i] {
				out[i][j] = int32(epoch)*100_000_000 + int32(i)*100_000 + int32(j) + 1
			}
		}
		return out
	}}
}

// packModel packs sequences, one after the other. A row is the list of its segments until
// it is given out.
type packModel struct {
	length             int
	rows               int // open at once; 0: sequences are cut
	truncate           bool
	eos                bool
	dropLast, straddle bool
	unfinished         bool // the epoch has not ended
}

const (
	padToken = -7
	eosToken = -9
)

func (m packModel) mode() pipeline.PackMode {
	mode := pipeline.PackConcat()
	switch m.rows {
	case 0:
	case 1:
		mode = pipeline.PackWhole()
	default:
		mode = pipeline.PackBestFit(m.rows)
	}
	if m.truncate {
		mode = mode.Truncate()
	}
	return mode
}

// plan is the same as a pipeline.
func (m packModel) plan(p *pipeline.Pipeline[tokens]) *pipeline.Pipeline[packed] {
	opts := []pipeline.PackOption[int32]{pipeline.WithPadToken[int32](padToken)}
	if m.eos {
		opts = append(opts, pipeline.WithEOS[int32](eosToken))
	}
	out := pipeline.Pack(p, m.length, m.mode(), opts...)
	if m.dropLast {
		out = out.DropLast()
	}
	if m.straddle {
		out = out.AcrossEpochs()
	}
	return out
}

// packedOf makes a row of segments.
func (m packModel) packedOf(segments []tokens) packed {
	var row packed
	for i, s := range segments {
		for j, v := range s {
			row.Tokens = append(row.Tokens, v)
			row.Segments = append(row.Segments, int32(i)+1)
			row.Positions = append(row.Positions, int32(j))
		}
	}
	for len(row.Tokens) < m.length {
		row.Tokens = append(row.Tokens, padToken)
		row.Segments = append(row.Segments, 0)
		row.Positions = append(row.Positions, 0)
	}
	return row
}

func filled(segments []tokens) int {
	n := 0
	for _, s := range segments {
		n += len(s)
	}
	return n
}

func (m packModel) pack(epochs [][]tokens) []packed {
	out := []packed{}
	var open [][]tokens // rows
	give := func(i int) {
		out = append(out, m.packedOf(open[i]))
		open = slices.Delete(open, i, i+1)
	}
	for e, list := range epochs {
		for _, s := range list {
			if m.truncate {
				most := m.length
				if m.eos {
					most--
				}
				s = s[:min(len(s), most)]
			}
			if m.eos {
				s = append(slices.Clone(s), eosToken)
			}
			for m.rows == 0 && len(s) > 0 {
				if len(open) == 0 {
					open = append(open, nil)
				}
				n := min(len(s), m.length-filled(open[0]))
				open[0] = append(open[0], s[:n])
				if s = s[n:]; filled(open[0]) == m.length {
					give(0)
				}
			}
			if len(s) == 0 {
				continue
			}
			// The row that is filled best, then oldest.
			best := -1
			for used := m.length - len(s); used > 0 && best < 0; used-- {
				best = slices.IndexFunc(open, func(row []tokens) bool { return filled(row) == used })
			}
			if best < 0 {
				if len(open) == m.rows {
					give(0)
				}
				open = append(open, nil)
				best = len(open) - 1
			}
			if open[best] = append(open[best], s); filled(open[best]) == m.length {
				give(best)
			}
		}
		if m.straddle && e < len(epochs)-1 || m.unfinished {
			continue
		}
		if m.dropLast && m.rows == 0 {
			open = nil
		}
		for len(open) > 0 {
			give(0)
		}
	}
	return out
}

func drawPack(t *rapid.T) packModel {
	m := packModel{
		length: rapid.IntRange(1, 30).Draw(t, "length"), rows: rapid.IntRange(0, 5).Draw(t, "rows"),
		eos: rapid.Bool().Draw(t, "eos"), dropLast: rapid.Bool().Draw(t, "dropLast"), straddle: rapid.Bool().Draw(t, "straddle"),
	}
	m.truncate = m.rows > 0 // lengths are drawn without regard to that of a row
	return m
}

func TestPackIsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawPack(t)
		p := before(t, sequences(drawLengths(t)), func(v tokens, n int) tokens { return v[:len(v)*n/2] })
		want := m.pack(byEpoch(t, p))
		plan, cuts := restart(t, m.plan(p))
		got, _ := inGenerations(t, plan, cuts)
		require.Equal(t, want, got)
	})
}

// Rows are made of batches of rows: places are in the middle of a batch.
func TestPackIsResumedBehindABatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawPack(t)
		m.straddle, m.dropLast = false, false
		p := before(t, sequences(drawLengths(t)), func(v tokens, n int) tokens { return v[:len(v)*n/2] })
		want := [][]packed{}
		for _, epoch := range byEpoch(t, p) {
			want = append(want, slices.Collect(slices.Chunk(m.pack([][]tokens{epoch}), 3))...)
		}
		plan, cuts := restart(t, pipeline.BatchRaw(m.plan(p), 3))
		got, _ := inGenerations(t, plan, cuts)
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, want[i], got[i])
		}
	})
}

func TestPackIsResumedAfterEveryRow(t *testing.T) {
	lengths := make([]int, 130)
	for i := range lengths {
		lengths[i] = i * i % 23
	}
	for _, m := range []packModel{
		{length: 31},
		{length: 5, eos: true, straddle: true},
		{length: 40, rows: 1},
		{length: 30, rows: 4, eos: true, straddle: true},
		{length: 25, rows: 3, truncate: true},
	} {
		p := pipeline.From[tokens](sequences(lengths)).Epochs(2).ChunkSize(9)
		want := m.pack(byEpoch(t, p))
		for k := 0; k <= len(want); k += 1 + k/60 {
			got, _ := inGenerations(t, func(int) *pipeline.Pipeline[packed] { return m.plan(p) }, []int{k, 0, 1, 3})
			require.Equal(t, want, got, "after %d rows", k)
		}
	}
}

// Each token of each sequence is in the rows once, and rows say where it was.
func TestPackGivesEachTokenOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawPack(t)
		m.dropLast, m.truncate, m.eos = false, false, false
		lengths := drawLengths(t)
		if m.rows > 0 {
			m.length = max(m.length, slices.Max(append(lengths, 1)))
		}
		plan, cuts := restart(t, m.plan(pipeline.From[tokens](sequences(lengths))))
		rows, _ := inGenerations(t, plan, cuts)
		came := make([][]int, len(lengths))
		for i, n := range lengths {
			came[i] = make([]int, n)
		}
		for _, row := range rows {
			require.Len(t, row.Tokens, m.length)
			require.Len(t, row.Segments, m.length)
			require.Len(t, row.Positions, m.length)
			for i, v := range row.Tokens {
				if row.Segments[i] == 0 {
					require.EqualValues(t, padToken, v)
					require.Zero(t, row.Positions[i])
					continue
				}
				seq, at := v/100_000, v%100_000-1
				came[seq][at]++
				if m.rows > 0 {
					require.Equal(t, at, row.Positions[i])
				}
				if i > 0 && row.Segments[i] == row.Segments[i-1] {
					require.Equal(t, row.Tokens[i-1]+1, v)
					require.Equal(t, row.Positions[i-1]+1, row.Positions[i])
				}
			}
		}
		for seq := range came {
			for at, n := range came[seq] {
				require.Equal(t, 1, n, "token %d of sequence %d", at, seq)
			}
		}
	})
}

// The rows are those that Grain's ConcatThenSplitIterDataset makes of the same
// sequences: n times the token n, from 1 to 7, then 1 and 2 again.
func TestPackConcatIsThatOfGrain(t *testing.T) {
	src := listed[tokens]{of: func(int64) []tokens {
		var out []tokens
		for _, n := range []int32{1, 2, 3, 4, 5, 6, 7, 1, 2} {
			out = append(out, slices.Repeat(tokens{n}, int(n)))
		}
		return out
	}}
	require.Equal(t, []packed{
		{tokens{1, 2, 2, 3, 3, 3}, tokens{1, 2, 2, 3, 3, 3}, tokens{0, 0, 1, 0, 1, 2}},
		{tokens{4, 4, 4, 4, 5, 5}, tokens{1, 1, 1, 1, 2, 2}, tokens{0, 1, 2, 3, 0, 1}},
		{tokens{5, 5, 5, 6, 6, 6}, tokens{1, 1, 1, 2, 2, 2}, tokens{0, 1, 2, 0, 1, 2}},
		{tokens{6, 6, 6, 7, 7, 7}, tokens{1, 1, 1, 2, 2, 2}, tokens{0, 1, 2, 0, 1, 2}},
		{tokens{7, 7, 7, 7, 1, 2}, tokens{1, 1, 1, 1, 2, 3}, tokens{0, 1, 2, 3, 0, 0}},
		{tokens{2, 0, 0, 0, 0, 0}, tokens{1, 0, 0, 0, 0, 0}, tokens{0, 0, 0, 0, 0, 0}},
	}, byEpoch(t, pipeline.Pack(pipeline.From[tokens](src), 6, pipeline.PackConcat()))[0])
}

func TestPackGoesOnBehindAnError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawPack(t)
		m.straddle = false
		lengths := rapid.SliceOfN(rapid.IntRange(0, 20), 1, 90).Draw(t, "lengths")
		at := rapid.IntRange(0, len(lengths)-1).Draw(t, "broken")
		src := sequences(lengths)
		src.seek, src.broken = rapid.Bool().Draw(t, "seek"), new(atomic.Int64)
		src.broken.Store(int64(at) + 1)
		plan, _ := restart(t, m.plan(pipeline.From[tokens](src)))

		it, err := plan(0).Start(context.Background())
		require.NoError(t, err)
		got := []packed{}
		for {
			row, err := it.Next(context.Background())
			if err != nil {
				require.ErrorIs(t, err, errBroken)
				break
			}
			got = append(got, row)
		}
		state, err := it.State()
		require.NoError(t, err)
		require.NoError(t, it.Close())

		src.broken.Store(0)
		it, err = plan(1).Resume(context.Background(), state)
		require.NoError(t, err)
		for row, err := range it.All(context.Background()) {
			require.NoError(t, err)
			got = append(got, row)
		}
		all := src.of(0)
		want := m.pack([][]tokens{all[:at], all[at:]})
		if m.dropLast && m.rows == 0 { // what is held is not given out, and not lost
			want = m.pack([][]tokens{all})
		}
		require.Equal(t, want, got)
	})
}

func TestPackIsResumedAroundAnError(t *testing.T) {
	lengths := make([]int, 90)
	for i := range lengths {
		lengths[i] = i * i % 23
	}
	for _, m := range []packModel{
		{length: 31},
		{length: 9, dropLast: true, eos: true},
		{length: 40, rows: 1},
		{length: 60, rows: 5},
	} {
		for _, at := range []int{0, 3, 17, 40, 61} {
			src := sequences(lengths)
			src.broken = new(atomic.Int64)
			all := src.of(0)
			healthy := m.pack([][]tokens{all})
			want := m.pack([][]tokens{all[:at], all[at:]})
			if m.dropLast {
				want = healthy
			}
			plan := func(g int) *pipeline.Pipeline[packed] {
				return m.plan(pipeline.From[tokens](src)).ChunkSize(5 + 4*g)
			}
			begun := m
			begun.unfinished = true
			brokenAnywhere(t, plan, src.broken, at, len(begun.pack([][]tokens{all[:at]})), healthy, want)
		}
	}
}

func TestPackFailsBeforeItHasGoneBack(t *testing.T) {
	lengths := make([]int, 60)
	for i := range lengths {
		lengths[i] = 1 + i*i%9
	}
	for mode, rows := range map[pipeline.PackMode]int{pipeline.PackConcat(): 7, pipeline.PackWhole(): 7, pipeline.PackBestFit(4): 16} {
		src := sequences(lengths)
		src.broken, src.seek = new(atomic.Int64), true
		p := pipeline.Pack(pipeline.From[tokens](src).ChunkSize(1), 13, mode)
		brokenAgain(t, p, src.broken, len(lengths), rows, func(row packed) (ids []int) {
			for i, v := range row.Tokens {
				if row.Segments[i] > 0 && v%100_000 == 1 { // the first token of a sequence
					ids = append(ids, int(v)/100_000)
				}
			}
			return ids
		})
	}
}

// A stage behind must not be told again of the end of an epoch that is gone back over.
func TestPackPassesEndsOfEpochsOnOnce(t *testing.T) {
	lengths := slices.Repeat([]int{10}, 40)
	lengths[38] = 3 // is in a row that is open through the next epoch
	p := pipeline.Pack(pipeline.From[tokens](sequences(lengths)).ChunkSize(3).Epochs(3), 10, pipeline.PackBestFit(4)).AcrossEpochs().Skip(7).Take(31)
	want := slices.Concat(byEpoch(t, p)...)
	require.Len(t, want, 3*31)
	for k := range want {
		got, _ := inGenerations(t, func(int) *pipeline.Pipeline[packed] { return p }, []int{k})
		require.Equal(t, want, got, "after %d rows", k)
	}
}

func TestPackBestFitNeedsLittlePadding(t *testing.T) {
	lengths := make([]int, 4000)
	for i := range lengths {
		lengths[i] = 1 + i*7919%97*(i*104729%89)/88 // short ones are more frequent
	}
	total := 0
	for _, n := range lengths {
		total += n
	}
	share := func(mode pipeline.PackMode) float64 {
		rows := byEpoch(t, pipeline.Pack(pipeline.From[tokens](sequences(lengths)), 128, mode))[0]
		return 1 - float64(total)/float64(128*len(rows))
	}
	concat, whole, best4, best16 := share(pipeline.PackConcat()), share(pipeline.PackWhole()), share(pipeline.PackBestFit(4)), share(pipeline.PackBestFit(16))
	require.Less(t, concat, 128/float64(total), "the last row alone is padded")
	require.Greater(t, whole, 0.1)
	require.Less(t, best4, whole/2)
	require.Less(t, best16, 0.02)
}

func TestPackStateIsSmall(t *testing.T) {
	lengths := make([]int, 20_000)
	for i := range lengths {
		lengths[i] = 1 + i*7919%19
	}
	for _, mode := range []pipeline.PackMode{pipeline.PackConcat(), pipeline.PackWhole(), pipeline.PackBestFit(8)} {
		p := pipeline.Pack(pipeline.From[tokens](sequences(lengths)), 4096, mode)
		_, largest := inGenerations(t, func(int) *pipeline.Pipeline[packed] { return p }, []int{1, 9, 1, 11})
		require.Less(t, largest, 600, "bytes, %v, while up to 3,000 sequences are held", mode)
	}
}

func TestPackAllocatesTheRowsAlone(t *testing.T) {
	const rows, per = 200, 100
	list := sequences(slices.Repeat([]int{10}, rows*per)).of(0)
	src := listed[tokens]{of: func(int64) []tokens { return list }}
	for _, mode := range []pipeline.PackMode{pipeline.PackConcat(), pipeline.PackWhole(), pipeline.PackBestFit(4)} {
		p := pipeline.Pack(pipeline.From[tokens](src), 10*per, mode)
		allocs := func(f func()) int {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			before := m.Mallocs
			f()
			runtime.ReadMemStats(&m)
			return int(m.Mallocs - before)
		}
		n := allocs(func() { require.Len(t, byEpoch(t, p)[0], rows) })
		base := allocs(func() { byEpoch(t, pipeline.From[tokens](src)) })
		require.Less(t, n-base, rows*per/4, "%v: allocations for %d rows of %d sequences each", mode, rows, per)
	}
}

func TestPackRefusesLongSequences(t *testing.T) {
	p := pipeline.From[tokens](sequences([]int{2, 4, 5, 1}))
	pad, eos := pipeline.WithPadToken[int32](padToken), pipeline.WithEOS[int32](eosToken)
	for _, c := range []struct {
		plan *pipeline.Pipeline[packed]
		want []tokens // under Skip
	}{
		{pipeline.Pack(p, 4, pipeline.PackWhole(), pad), []tokens{{1, 2, -7, -7}, {100_001, 100_002, 100_003, 100_004}, {300_001, -7, -7, -7}}},
		{pipeline.Pack(p, 4, pipeline.PackWhole(), pad, eos), []tokens{{1, 2, -9, -7}, {300_001, -9, -7, -7}}},
		{pipeline.Pack(p, 4, pipeline.PackBestFit(2), pad, nil), []tokens{{100_001, 100_002, 100_003, 100_004}, {1, 2, 300_001, -7}}},
	} {
		it, err := c.plan.Start(context.Background())
		require.NoError(t, err)
		for err == nil {
			_, err = it.Next(context.Background())
		}
		require.ErrorIs(t, err, pipeline.ErrTooLong)
		require.NoError(t, it.Close())

		var got []tokens
		for _, row := range byEpoch(t, c.plan.OnError(pipeline.Skip))[0] {
			got = append(got, row.Tokens)
		}
		require.Equal(t, c.want, got)
	}
}

func TestPackRefusesAnotherInput(t *testing.T) {
	lengths := slices.Repeat([]int{3, 7, 5, 9, 2}, 20)
	plan := func(mode pipeline.PackMode, lengths []int) *pipeline.Pipeline[packed] {
		return pipeline.Pack(pipeline.From[tokens](sequences(lengths)).ChunkSize(1).OnError(pipeline.Skip), 10, mode)
	}
	for _, mode := range []pipeline.PackMode{pipeline.PackConcat(), pipeline.PackBestFit(4)} {
		refused := 0
		for n := range 40 {
			it, err := plan(mode, lengths).Start(context.Background())
			require.NoError(t, err)
			for range n {
				_, err = it.Next(context.Background())
				require.NoError(t, err)
			}
			state, err := it.State()
			require.NoError(t, err)
			require.NoError(t, it.Close())
			if !strings.Contains(string(state), `"given"`) && !strings.Contains(string(state), `"offset"`) {
				continue
			}
			it, err = plan(mode, slices.Repeat([]int{1, 2}, 50)).Resume(context.Background(), state)
			require.NoError(t, err)
			for err == nil {
				_, err = it.Next(context.Background())
			}
			if err != io.EOF {
				require.ErrorIs(t, err, pipeline.ErrStateMismatch)
				refused++
			}
			require.NoError(t, it.Close())
		}
		require.Greater(t, refused, 5, "%v", mode)
	}
}

func TestPackRefusesDamagedStates(t *testing.T) {
	for _, mode := range []pipeline.PackMode{pipeline.PackConcat(), pipeline.PackBestFit(3)} {
		p := pipeline.Pack(pipeline.From[tokens](sequences(slices.Repeat([]int{3, 7, 5}, 20))), 10, mode)
		it, err := p.Start(context.Background())
		require.NoError(t, err)
		_, err = it.Next(context.Background())
		require.NoError(t, err)
		state, err := it.State()
		require.NoError(t, err)
		require.NoError(t, it.Close())
		states := map[string]string{
			`{"given":3,"beside":[1,2]}`:   "",
			`{"given":3,"beside":[1,2,3]}`: "it has 3 rows beside the oldest, the pipeline has 2 at most",
			`{"given":3,"beside":[10]}`:    "a row of 10 has 10 tokens",
			`{"given":3,"beside":[-1]}`:    "a row of 10 has -1 tokens",
			`{"given":1,"beside":[1,1]}`:   "contradict",
			`{"given":-1}`:                 "cannot unmarshal",
		}
		if mode == pipeline.PackConcat() {
			states = map[string]string{`{"offset":1}`: "", `{"offset":-1}`: "begins -1 tokens into", `{"offset":"a"}`: "cannot unmarshal"}
		}
		for stage, want := range states {
			it, err := p.Resume(context.Background(), resealed(t, state, stage))
			if want == "" {
				require.NoError(t, err)
				require.NoError(t, it.Close())
				continue
			}
			require.ErrorIs(t, err, pipeline.ErrState)
			require.ErrorContains(t, err, want)
		}
	}
}

// A state is refused by a pipeline that packs otherwise.
func TestPackStateTellsTheMode(t *testing.T) {
	p := pipeline.From[tokens](sequences([]int{1, 2, 3}))
	plans := []*pipeline.Pipeline[packed]{
		pipeline.Pack(p, 8, pipeline.PackConcat()),
		pipeline.Pack(p, 9, pipeline.PackConcat()),
		pipeline.Pack(p, 8, pipeline.PackWhole()),
		pipeline.Pack(p, 8, pipeline.PackWhole().Truncate()),
		pipeline.Pack(p, 8, pipeline.PackBestFit(2)),
		pipeline.Pack(p, 8, pipeline.PackConcat(), pipeline.WithPadToken[int32](3)),
		pipeline.Pack(p, 8, pipeline.PackConcat(), pipeline.WithEOS[int32](3)),
		pipeline.Pack(p, 8, pipeline.PackConcat(), pipeline.WithEOS[int32](4)),
	}
	for i, a := range plans {
		it, err := a.Start(context.Background())
		require.NoError(t, err)
		state, err := it.State()
		require.NoError(t, err)
		require.NoError(t, it.Close())
		for j, b := range plans {
			it, err := b.Resume(context.Background(), state)
			if i == j {
				require.NoError(t, err)
				require.NoError(t, it.Close())
			} else {
				require.ErrorIs(t, err, pipeline.ErrStateMismatch, "%d, %d", i, j)
			}
		}
	}
}

func TestPackNamesAllThatIsWrong(t *testing.T) {
	p := pipeline.From[tokens](sequences(nil))
	for want, bad := range map[string]*pipeline.Pipeline[packed]{
		"Pack(0): the length of a row is from 1 to 16777216; PackBestFit(-2) is not from 0 to 1024": pipeline.Pack(p, 0, pipeline.PackBestFit(-2)),
		"Pack(16777217): ": pipeline.Pack(p, 1<<24+1, pipeline.PackWhole()),
		"Truncate needs a mode that keeps sequences whole": pipeline.Pack(p, 1, pipeline.PackConcat().Truncate()),
		"PackBestFit(1025) is not from 0 to 1024":          pipeline.Pack(p, 1, pipeline.PackBestFit(1025)),
	} {
		_, err := bad.Start(context.Background())
		require.ErrorIs(t, err, pipeline.ErrConfig)
		require.ErrorContains(t, err, want)
	}
}

func ExamplePack() {
	docs := listed[[]string]{of: func(int64) [][]string {
		return [][]string{{"a", "b", "c"}, {"d", "e"}, {"f", "g", "h", "i"}, {"j"}}
	}}
	for _, mode := range []pipeline.PackMode{pipeline.PackConcat(), pipeline.PackWhole(), pipeline.PackBestFit(2)} {
		fmt.Println(mode)
		it, err := pipeline.Pack(pipeline.From[[]string](docs), 6, mode, pipeline.WithPadToken("·")).Start(context.Background())
		if err != nil {
			panic(err)
		}
		for row, err := range it.All(context.Background()) {
			fmt.Println(row.Tokens, row.Segments, row.Positions, err)
		}
	}
	// Output:
	// concat
	// [a b c d e f] [1 1 1 2 2 3] [0 1 2 0 1 0] <nil>
	// [g h i j · ·] [1 1 1 2 0 0] [0 1 2 0 0 0] <nil>
	// whole
	// [a b c d e ·] [1 1 1 2 2 0] [0 1 2 0 1 0] <nil>
	// [f g h i j ·] [1 1 1 1 2 0] [0 1 2 3 0 0] <nil>
	// best fit of 2
	// [a b c d e j] [1 1 1 2 2 3] [0 1 2 0 1 0] <nil>
	// [f g h i · ·] [1 1 1 1 0 0] [0 1 2 3 0 0] <nil>
}

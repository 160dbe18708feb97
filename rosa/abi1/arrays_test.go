package abi1

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/rosa"
)

// some returns arrays of two rows that have some tokens.
func some(t *testing.T, ragged bool) *Arrays {
	a := empty(2, 8, ragged)
	s := bindTo(t, a)
	defer s.Close()
	next := make([]int64, 2)
	for _, token := range []int64{1, 2, 1, 1, 2} {
		if ragged {
			require.NoError(t, s.StepMasked(next, []int64{token, token % 2}, []uint8{1, 1}, nil))
		} else {
			require.NoError(t, s.Step(next, []int64{token, token % 2}))
		}
	}
	return a
}

// TestBindRefuses whatever is not the arrays of an automaton.
func TestBindRefuses(t *testing.T) {
	wide := func(a *Arrays) int { return a.Head.Shape[1] }
	for name, c := range map[string]struct {
		damage func(a *Arrays)
		want   error
	}{
		"version":             {func(a *Arrays) { a.Version = 2 }, ErrVersion},
		"missing":             {func(a *Arrays) { a.LCTLazy.Data = nil }, ErrMissing},
		"missing position":    {func(a *Arrays) { a.Position = nil }, ErrMissing},
		"read-only":           {func(a *Arrays) { a.EdgeNext.ReadOnly = true }, ErrReadOnly},
		"batch":               {func(a *Arrays) { a.BatchSize = 0 }, ErrLayout},
		"other batch":         {func(a *Arrays) { a.BatchSize = 3 }, ErrLayout},
		"max_length":          {func(a *Arrays) { a.MaxLength = -1 }, ErrLayout},
		"shape":               {func(a *Arrays) { a.Length.Shape = []int{1, 2 * wide(a)} }, ErrLayout},
		"dimensions":          {func(a *Arrays) { a.Head.Shape = []int{2 * wide(a)} }, ErrLayout},
		"too little memory":   {func(a *Arrays) { a.LCTLeft.Data = a.LCTLeft.Data[1:] }, ErrLayout},
		"Fortran order":       {func(a *Arrays) { a.Length.Strides = []int{1, 2} }, ErrLayout},
		"strides":             {func(a *Arrays) { a.History.Strides = []int{8} }, ErrLayout},
		"too long for a word": {func(a *Arrays) { a.Head.Shape = []int{2, 1 << 30, 1 << 30, 1 << 30} }, ErrLayout},
		"few states": {func(a *Arrays) {
			for _, s := range []*Array[int32]{&a.Head, &a.SuffixLink, &a.Length, &a.LCTLeft, &a.LCTRight, &a.LCTParent, &a.LCTStack} {
				s.Data, s.Shape = s.Data[:2*16], []int{2, 16}
			}
			a.LCTValue.Data, a.LCTValue.Shape = a.LCTValue.Data[:2*16], []int{2, 16}
			a.LCTLazy.Data, a.LCTLazy.Shape = a.LCTLazy.Data[:2*16], []int{2, 16}
			a.LCTLazyValid.Data, a.LCTLazyValid.Shape = a.LCTLazyValid.Data[:2*16], []int{2, 16}
		}, ErrLayout},
		"few slots": {func(a *Arrays) {
			a.HashState.Data, a.HashState.Shape = a.HashState.Data[:2], []int{2, 1}
			a.HashToken.Data, a.HashToken.Shape = a.HashToken.Data[:2], []int{2, 1}
			a.HashEdge.Data, a.HashEdge.Shape = a.HashEdge.Data[:2], []int{2, 1}
		}, ErrLayout},
		"slots": {func(a *Arrays) {
			a.HashState, a.HashToken, a.HashEdge = filled[int32](-1, 2, 100), filled[int64](0, 2, 100), filled[int32](0, 2, 100)
		}, ErrLayout},
		"overlap": {func(a *Arrays) { a.LCTRight = a.LCTLeft }, ErrOverlap},
		"overlap by one": {func(a *Arrays) {
			both := make([]int32, 2*len(a.Head.Data)-1)
			copy(both, a.LCTLeft.Data)
			a.LCTLeft.Data, a.LCTStack.Data = both[:len(a.Head.Data)], both[len(a.Head.Data)-1:]
		}, ErrOverlap},
		"overlap of position": {func(a *Arrays) { a.Position = &a.History.Data[7] }, ErrOverlap},
		"position":            {func(a *Arrays) { *a.Position = -1 }, ErrCounters},
		"position too far":    {func(a *Arrays) { *a.Position = 9 }, ErrCounters},
		"another position":    {func(a *Arrays) { *a.Position = 4 }, ErrCounters},
		"last":                {func(a *Arrays) { a.Last.Data[1] = -1 }, ErrCounters},
		"last beyond size":    {func(a *Arrays) { a.Last.Data[1] = a.Size.Data[1] }, ErrCounters},
		"size":                {func(a *Arrays) { a.Size.Data[0] = 18 }, ErrCounters},
		"no size":             {func(a *Arrays) { a.Size.Data[0] = 0 }, ErrCounters},
		"edge count":          {func(a *Arrays) { a.EdgeCount.Data[0] = 34 }, ErrCounters},
		"garbage":             {func(a *Arrays) { a.Last.Data[0], a.Size.Data[0] = 2, 1 }, ErrCounters},
		"root":                {func(a *Arrays) { a.SuffixLink.Data[0] = 0 }, ErrUnsound},
		"suffix link":         {func(a *Arrays) { a.SuffixLink.Data[2] = 3 }, ErrUnsound},
		"suffix link outside": {func(a *Arrays) { a.SuffixLink.Data[2] = 99 }, ErrUnsound},
		"length":              {func(a *Arrays) { a.Length.Data[1] = 100 }, ErrUnsound},
		"head":                {func(a *Arrays) { a.Head.Data[0] = a.EdgeCount.Data[0] }, ErrUnsound},
		"edge list":           {func(a *Arrays) { a.EdgeNext.Data[a.Head.Data[0]] = a.Head.Data[0] }, ErrUnsound},
		"no edges":            {func(a *Arrays) { a.Head.Data[0] = -1 }, ErrUnsound},
		"edge target":         {func(a *Arrays) { a.EdgeTarget.Data[0] = 0 }, ErrUnsound},
		"edge token":          {func(a *Arrays) { a.EdgeToken.Data[0] = 50 }, ErrUnsound},
		"full hash table": {func(a *Arrays) {
			for i, s := range a.HashState.Data {
				if s == -1 {
					a.HashState.Data[i] = 16
				}
			}
		}, ErrUnsound},
		"splay child":   {func(a *Arrays) { a.LCTLeft.Data[3] = 17 }, ErrUnsound},
		"splay parent":  {func(a *Arrays) { a.LCTParent.Data[1] = -2 }, ErrUnsound},
		"no parent":     {func(a *Arrays) { a.LCTParent.Data[1], a.LCTLeft.Data[1], a.LCTRight.Data[1] = 1, -1, -1 }, ErrUnsound},
		"both children": {func(a *Arrays) { a.LCTLeft.Data[1], a.LCTRight.Data[1], a.LCTParent.Data[2] = 2, 2, 1 }, ErrUnsound},
		"newest end":    {func(a *Arrays) { a.LCTValue.Data[2] = 5 }, ErrUnsound},
		"pending end":   {func(a *Arrays) { a.LCTLazyValid.Data[0], a.LCTLazy.Data[0] = 1, 5 }, ErrUnsound},
	} {
		a := some(t, false)
		c.damage(a)
		before := snapshot(a)
		_, err := Bind(a)
		require.ErrorIs(t, err, c.want, name)
		require.Equal(t, before, snapshot(a), name)
	}
	a := some(t, true)
	a.Positions.Data[1] = -3
	_, err := Bind(a)
	require.ErrorIs(t, err, ErrCounters)
	a.Positions.Data[1] = 99
	_, err = Bind(a)
	require.ErrorIs(t, err, ErrCounters)
	a.Positions.Shape = []int{1, 2}
	_, err = Bind(a)
	require.ErrorIs(t, err, ErrLayout)
}

// snapshot copies the arrays that are of int32, and the positions.
func snapshot(a *Arrays) (all [][]int32) {
	for _, x := range []*Array[int32]{
		&a.Head, &a.EdgeTarget, &a.EdgeNext, &a.HashState, &a.HashEdge, &a.SuffixLink, &a.Length,
		&a.LCTLeft, &a.LCTRight, &a.LCTParent, &a.LCTStack, &a.Last, &a.Size, &a.EdgeCount,
	} {
		all = append(all, append([]int32{}, x.Data...))
	}
	for _, p := range a.Positions.Data {
		all = append(all, []int32{int32(p)})
	}
	if a.Position != nil {
		all = append(all, []int32{int32(*a.Position)})
	}
	return all
}

// TestRefusals: what a call refuses changes nothing.
func TestRefusals(t *testing.T) {
	u, r := some(t, false), some(t, true)
	uniform, ragged := bindTo(t, u), bindTo(t, r)
	yes, two, out := []uint8{1, 1}, []int64{5, 6}, make([]int64, 2)
	beforeU, beforeR := snapshot(u), snapshot(r)
	for name, c := range map[string]struct {
		got  error
		want error
	}{
		"step of ragged":      {ragged.Step(out, two), rosa.ErrMode},
		"prefill of ragged":   {ragged.Prefill(out, two), rosa.ErrMode},
		"reset of ragged":     {ragged.Reset(), rosa.ErrMode},
		"masked of uniform":   {uniform.StepMasked(out, two, yes, nil), rosa.ErrMode},
		"reset of uniform":    {uniform.ResetMasked(yes), rosa.ErrMode},
		"tokens":              {uniform.Step(out, two[:1]), rosa.ErrLength},
		"results":             {uniform.Step(out[:1], two), rosa.ErrLength},
		"masks":               {ragged.StepMasked(out, two, yes[:1], nil), rosa.ErrLength},
		"no mask":             {ragged.StepMasked(out, two, nil, nil), rosa.ErrLength},
		"reset mask":          {ragged.StepMasked(out, two, yes, yes[:1]), rosa.ErrLength},
		"reset":               {ragged.ResetMasked(nil), rosa.ErrLength},
		"prefill not empty":   {uniform.Prefill(out, two), ErrNotEmpty},
		"prefill of nothing":  {uniform.Prefill(nil, nil), ErrNotEmpty},
		"odd prefill":         {uniform.Prefill(out[:1], two[:1]), rosa.ErrLength},
		"results are tokens":  {uniform.Step(two, two), ErrOverlap},
		"results are history": {uniform.Step(u.History.Data[:2], two), ErrOverlap},
		"tokens are history":  {uniform.Step(out, u.History.Data[:2]), ErrOverlap},
		"mask is an array":    {ragged.StepMasked(out, two, r.LCTLazyValid.Data[:2], nil), ErrOverlap},
	} {
		require.ErrorIs(t, c.got, c.want, name)
	}
	require.Equal(t, beforeU, snapshot(u))
	require.Equal(t, beforeR, snapshot(r))

	// Row 1 is full: row 0 is not stepped, and not reset either.
	for range 3 {
		require.NoError(t, ragged.StepMasked(out, two, []uint8{0, 255}, nil))
	}
	beforeR = snapshot(r)
	require.ErrorIs(t, ragged.StepMasked(out, two, yes, nil), rosa.ErrFull)
	require.ErrorIs(t, ragged.StepMasked(out, two, yes, []uint8{1, 0}), rosa.ErrFull)
	// Positions are read before each call.
	r.Positions.Data[1] = -1
	require.ErrorIs(t, ragged.StepMasked(out, two, yes, yes), ErrCounters)
	require.ErrorIs(t, ragged.ResetMasked(yes), ErrCounters)
	r.Positions.Data[1] = 8
	require.Equal(t, beforeR, snapshot(r))
	ragged.Positions()[0] = 4
	require.Equal(t, []int64{5, 8}, ragged.Positions())
	require.NoError(t, ragged.StepMasked(out, two, yes, []uint8{0, 1}))
	require.Equal(t, []int64{6, 1}, r.Positions.Data)

	*u.Position = 4
	require.ErrorIs(t, uniform.Step(out, two), ErrCounters)
	*u.Position = 5
	require.NoError(t, uniform.Step(out, two))
	require.NoError(t, uniform.Reset())
	require.ErrorIs(t, uniform.Prefill(make([]int64, 18), make([]int64, 18)), rosa.ErrFull)
	require.NoError(t, uniform.Prefill(nil, nil))
	require.NoError(t, uniform.Prefill(make([]int64, 16), make([]int64, 16)))
	uniform.Close()
	require.ErrorIs(t, uniform.Reset(), rosa.ErrClosed)
	ragged.Close()
	require.ErrorIs(t, ragged.ResetMasked(yes), rosa.ErrClosed)
}

// TestDamage: arrays that others damage after they were bound are an error, never a panic
// or a loop, and the state is of no more use.
func TestDamage(t *testing.T) {
	for _, damage := range []func(a *Arrays){
		func(a *Arrays) {
			for i := range a.HashState.Data {
				a.HashState.Data[i] = 99
			}
		},
		func(a *Arrays) {
			for i := range a.SuffixLink.Data {
				a.SuffixLink.Data[i] = 1000
			}
		},
		func(a *Arrays) {
			for i := range a.LCTParent.Data {
				a.LCTParent.Data[i] = int32(i)
			}
		},
		func(a *Arrays) {
			for i := range a.LCTParent.Data {
				a.LCTParent.Data[i], a.LCTLeft.Data[i] = 1, 1
			}
		},
		func(a *Arrays) {
			for i := range a.LCTValue.Data {
				a.LCTValue.Data[i] = -100
				a.LCTLazyValid.Data[i] = 0
			}
		},
		func(a *Arrays) {
			for i := range a.EdgeNext.Data {
				a.EdgeNext.Data[i] = 0
			}
		},
	} {
		a := some(t, false)
		s := bindTo(t, a)
		damage(a)
		var err error
		for _, token := range []int64{1, 3, 2} {
			if err = s.Step(make([]int64, 2), []int64{token, token}); err != nil {
				break
			}
		}
		if err == nil {
			err = s.Reset()
		}
		require.ErrorIs(t, err, rosa.ErrBroken)
		require.ErrorIs(t, s.Reset(), rosa.ErrBroken)
		s.Close()
	}
}

func TestCandidateRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(a *CandidateArrays)
		want   error
	}{
		"version":             {func(a *CandidateArrays) { a.Version = 0 }, ErrVersion},
		"K":                   {func(a *CandidateArrays) { a.SuffixK = 0 }, ErrLayout},
		"R":                   {func(a *CandidateArrays) { a.OccurrencesR = 3 }, ErrLayout},
		"K·R":                 {func(a *CandidateArrays) { a.SuffixK = 1 << 30 }, ErrLayout},
		"Fortran order":       {func(a *CandidateArrays) { a.Frequency.Strides = []int{1, 2} }, ErrLayout},
		"missing":             {func(a *CandidateArrays) { a.LazyDelta.Data = nil }, ErrMissing},
		"ragged, no position": {func(a *CandidateArrays) { a.Positions.Data, a.Ragged = nil, true }, ErrMissing},
		"two positions":       {func(a *CandidateArrays) { a.Positions.Data[1] = 4 }, ErrCounters},
		"held":                {func(a *CandidateArrays) { a.OccurrenceSize.Data[1] = 3 }, ErrUnsound},
		"owed":                {func(a *CandidateArrays) { a.LazySize.Data[1] = -1 }, ErrUnsound},
		"end":                 {func(a *CandidateArrays) { a.Occurrences.Data[2] = 5 }, ErrUnsound},
		"frequency":           {func(a *CandidateArrays) { a.Frequency.Data[1] = -1 }, ErrUnsound},
		"more":                {func(a *CandidateArrays) { a.LazyDelta.Data[1] = 6 }, ErrUnsound},
	} {
		a := emptyCandidates(2, 8, 3, 2, false)
		s := bindCandidatesTo(t, a)
		for range 5 {
			require.NoError(t, s.Step(dirty(2, 6), []int64{1, 1}))
		}
		c.damage(a)
		_, err := BindCandidates(a)
		require.ErrorIs(t, err, c.want, name)
	}
	a := emptyCandidates(2, 8, 3, 2, false)
	s := bindCandidatesTo(t, a)
	out, two, twelve := dirty(2, 6), []int64{1, 2}, make([]int64, 12)
	short := *out
	short.State = short.State[1:]
	same := *out
	same.State = same.Length
	array := *out
	array.Count = a.Last.Data
	counts := *out
	counts.Count = unsafe.Slice((*int32)(unsafe.Pointer(&two[0])), 2)
	for name, c := range map[string]struct {
		got  error
		want error
	}{
		"mode":            {s.StepMasked(out, two, []uint8{1, 1}, nil), rosa.ErrMode},
		"reset":           {s.ResetMasked([]uint8{1, 1}), rosa.ErrMode},
		"tokens":          {s.Step(out, two[:1]), rosa.ErrLength},
		"results":         {s.Step(&short, two), rosa.ErrLength},
		"one memory":      {s.Step(&same, two), ErrOverlap},
		"an array":        {s.Step(&array, two), ErrOverlap},
		"tokens' memory":  {s.Step(&counts, two), ErrOverlap},
		"prefill":         {s.Prefill(out, twelve), rosa.ErrLength},
		"no query":        {s.PrefillSelected(dirty(0, 6), twelve, nil), rosa.ErrQuery},
		"query":           {s.PrefillSelected(out, twelve, []int64{0, 6}), rosa.ErrQuery},
		"negative query":  {s.PrefillSelected(out, twelve, []int64{-1, 0}), rosa.ErrQuery},
		"query twice":     {s.PrefillSelected(dirty(4, 6), twelve, []int64{0, 1, 2, 2}), rosa.ErrQuery},
		"queries of rows": {s.PrefillSelected(dirty(3, 6), twelve, []int64{0, 1, 2}), rosa.ErrLength},
		"full":            {s.Prefill(dirty(18, 6), make([]int64, 18)), rosa.ErrFull},
	} {
		require.ErrorIs(t, c.got, c.want, name)
	}
	require.Equal(t, emptyCandidates(2, 8, 3, 2, false).Size, a.Size)
	require.EqualValues(t, 77, out.Source[0])
	require.NoError(t, s.Prefill(dirty(12, 6), twelve))
	require.ErrorIs(t, s.Prefill(dirty(0, 6), nil), ErrNotEmpty)
	s.Close()
	require.ErrorIs(t, s.Step(out, two), rosa.ErrClosed)
}

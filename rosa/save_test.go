package rosa

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func saved(t require.TestingT, s *State) []byte {
	var b bytes.Buffer
	require.NoError(t, s.Save(&b))
	return b.Bytes()
}

// TestSaveLoad: a loaded state goes on as the one that was saved, whether the steps of either
// are bounded or not.
func TestSaveLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawTokens(t)
		cut := rapid.IntRange(0, len(x)).Draw(t, "cut")
		options := [][]StateOption{{WithRollback(3)}, {WithBoundedSteps()}}
		option := rapid.IntRange(0, 1)
		s := NewState(options[option.Draw(t, "saved")]...)
		_, err := s.Prefill(x[:cut])
		require.NoError(t, err)
		plain := NewState()
		_, err = plain.Prefill(x[:cut])
		require.NoError(t, err)
		require.Equal(t, saved(t, plain), saved(t, s))
		file := bytes.NewReader(append(saved(t, s), "more"...))
		loaded, err := Load(iotest.HalfReader(file), options[option.Draw(t, "loaded")]...)
		require.NoError(t, err)
		require.Equal(t, 4, file.Len(), "it reads no more than its own")
		require.Equal(t, s.Predict(), loaded.Predict())
		got, err := loaded.Prefill(x[cut:])
		require.NoError(t, err)
		require.Equal(t, brute(x)[cut:], got)
		require.Equal(t, x, loaded.Tokens(nil))
	})
}

// TestLoadDamaged: every byte changed, every length, and what a right checksum vouches for.
// TestLoadForgotten: what a window had forgotten cannot be rolled back to, whatever the
// loaded state has for options, and positions go on.
func TestLoadForgotten(t *testing.T) {
	for _, x := range [][]int64{{1, 2, 3, 1, 2, 3, 1, 2}, {1001, 2, 3, 1001, 2, 3, 1001, 2}} {
		for _, opts := range [][]StateOption{nil, {WithRollback(8)}, {WithWindow(5)}, {WithBoundedSteps()}} {
			s := NewState(WithWindow(3))
			_, err := s.Prefill(x)
			require.NoError(t, err)
			loaded, err := Load(bytes.NewReader(saved(t, s)), opts...)
			require.NoError(t, err)
			require.ErrorIs(t, loaded.Rollback(7), ErrRollback)
			require.Equal(t, s.Predict(), loaded.Predict())
			require.Equal(t, x[5:], loaded.Tokens(nil))
			got, err := loaded.Prefill(x[2:4])
			require.NoError(t, err)
			require.Equal(t, []Match{{x[0], 5, 1}, {2, 6, 2}}, got)
		}
	}
}

// TestLoadWindow: a window that is smaller than the saved one, or as small, gives up names
// while the file is read, whose codes stay as they were.
func TestLoadWindow(t *testing.T) {
	x := make([]int64, 1000)
	for i := range x {
		x[i] = 1000 + int64(i*7%400)
	}
	for _, window := range []int{5, 10, 300} {
		for n := 200; n <= len(x); n += 67 {
			s, same := NewState(), NewState(WithWindow(window))
			_, err := s.Prefill(x[:n])
			require.NoError(t, err)
			_, err = same.Prefill(x[:n])
			require.NoError(t, err)
			for _, from := range []*State{s, same} {
				loaded, err := Load(bytes.NewReader(saved(t, from)), WithWindow(window))
				require.NoError(t, err)
				require.Equal(t, x[max(0, n-window):n], loaded.Tokens(nil))
				require.Equal(t, same.Predict(), loaded.Predict())
			}
		}
	}
}

// TestSaveForgotten: a state of whose tokens none are held is saved and loaded.
func TestSaveForgotten(t *testing.T) {
	s := NewState(WithWindow(3))
	_, err := s.Prefill([]int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	require.NoError(t, err)
	for _, opts := range [][]StateOption{nil, {WithRollback(8)}, {WithBoundedSteps()}, {WithWindow(3), WithRollback(3)}} {
		loaded, err := Load(bytes.NewReader(saved(t, s)), opts...)
		require.NoError(t, err)
		if err = loaded.Rollback(3); err != nil {
			continue // by a window
		}
		require.Equal(t, 7, loaded.Len())
		again, err := Load(bytes.NewReader(saved(t, loaded)), opts...)
		require.NoError(t, err)
		require.Equal(t, 7, again.Len())
		m, err := again.Prefill([]int64{5, 5, -1, 5})
		require.NoError(t, err)
		require.Equal(t, []Match{none, {5, 7, 1}, none, {-1, 8, 1}}, m)
	}
}

func TestLoadDamaged(t *testing.T) {
	for _, x := range [][]int64{nil, {1, 2, 1, 2, 9}, {1, -5, 1 << 40, -5, 1}} {
		s := NewState()
		_, err := s.Prefill(x)
		require.NoError(t, err)
		file := saved(t, s)
		for i := range file {
			_, err := Load(bytes.NewReader(file[:i]))
			require.ErrorIs(t, err, ErrCorrupt, "%d of %d bytes", i, len(file))
			bad := bytes.Clone(file)
			bad[i] ^= 0x41
			_, err = Load(bytes.NewReader(bad))
			require.Error(t, err, "byte %d", i)
			require.True(t, errors.Is(err, ErrCorrupt) || errors.Is(err, ErrVersion), err)
		}
	}
	forge := func(width uint32, tokens uint64, names []int64, text ...byte) error {
		b := binary.LittleEndian.AppendUint32([]byte(saveMagic), saveVersion)
		b = binary.LittleEndian.AppendUint32(b, width)
		b = binary.LittleEndian.AppendUint64(b, 0)
		b = binary.LittleEndian.AppendUint64(b, tokens)
		b = binary.LittleEndian.AppendUint64(b, uint64(len(names)))
		for _, n := range names {
			b = binary.LittleEndian.AppendUint64(b, uint64(n))
		}
		b = append(b, text...)
		_, err := Load(bytes.NewReader(binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))))
		return err
	}
	require.NoError(t, forge(4, 1, []int64{-7}, 0, 1, 0, 0))
	require.ErrorIs(t, forge(4, 1, []int64{-7}, 1, 1, 0, 0), ErrCorrupt, "a code that no name has")
	require.ErrorIs(t, forge(4, 2, []int64{-7, -7}, 0, 1, 0, 0, 0, 1, 0, 0), ErrCorrupt, "a name twice")
	require.ErrorIs(t, forge(4, 1, []int64{65}, 0, 1, 0, 0), ErrCorrupt, "a byte as a name")
	require.ErrorIs(t, forge(2, 1, nil, 1, 1), ErrCorrupt)
	require.ErrorIs(t, forge(1, 1<<40, nil, 1), ErrCorrupt)
	require.ErrorIs(t, forge(1, MaxTokens, nil, 1), ErrCorrupt, "more than there is")
	broken := errors.New("disk on fire")
	_, err := Load(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
	require.ErrorIs(t, NewState().Save(failingWriter{broken}), broken)
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

var _ io.Writer = failingWriter{}

func FuzzLoad(f *testing.F) {
	for _, x := range [][]int64{nil, {1, 2, 1}, {5, -1, 5}} {
		s := NewState()
		_, _ = s.Prefill(x)
		f.Add(saved(f, s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		s, err := Load(bytes.NewReader(file))
		bounded, same := Load(bytes.NewReader(file), WithBoundedSteps())
		require.Equal(t, err, same)
		if err != nil {
			require.True(t, errors.Is(err, ErrCorrupt) || errors.Is(err, ErrVersion), err)
			return
		}
		require.Equal(t, file[:len(saved(t, s))], saved(t, s))
		require.Equal(t, s.Predict(), bounded.Predict())
		require.Equal(t, s.Tokens(nil), bounded.Tokens(nil))
	})
}

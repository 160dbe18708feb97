package source

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/stretchr/testify/require"
)

// A source that tells positions is sought; one that does not is read again.
func TestNestedReadsAgainOnlyWhatItMust(t *testing.T) {
	reads := 0
	n, err := openNested[int64](context.Background(), unseekable[int64]{numbers(0, 1000, 3), &reads}, pipeline.Start{}, nestedPosition{Read: 500})
	require.NoError(t, err)
	require.Equal(t, 500, reads)
	v, err := n.next(context.Background())
	require.NoError(t, err)
	require.Equal(t, int64(500), v)
	require.Equal(t, nestedPosition{Read: 501}, n.position())
	require.NoError(t, n.close())
	require.NoError(t, n.close(), "closing twice")

	made := 0
	seekable := Generate(1000, func(i int64) (int64, error) { made++; return i, nil })
	n, err = openNested[int64](context.Background(), seekable, pipeline.Start{}, nestedPosition{At: json.RawMessage(`{"index":999}`)})
	require.NoError(t, err)
	v, err = n.next(context.Background())
	require.NoError(t, err)
	require.Equal(t, int64(999), v)
	require.Equal(t, 1, made)
	require.NoError(t, n.close())
}

// Numbers in the position of a source must come back as they were.
func TestNestedPositionIsKeptToTheDigit(t *testing.T) {
	const index = 1<<53 + 1
	src := Generate(1<<62, func(i int64) (int64, error) { return i, nil })
	n, err := openNested[int64](context.Background(), src, pipeline.Start{}, nestedPosition{At: json.RawMessage(`{"index":9007199254740993}`)})
	require.NoError(t, err)
	raw, err := json.Marshal(n.position())
	require.NoError(t, err)
	var p nestedPosition
	require.NoError(t, json.Unmarshal(raw, &p))
	again, err := openNested[int64](context.Background(), src, pipeline.Start{}, p)
	require.NoError(t, err)
	v, err := again.next(context.Background())
	require.NoError(t, err)
	require.Equal(t, int64(index), v)
}

// nilPosition is a cursor whose position is JSON null.
type nilPosition struct{ sliceCursor[string] }

func (nilPosition) Position() any { return nil }

type nilPositionSource struct{ at *[]json.RawMessage }

func (s nilPositionSource) Open(_ context.Context, at pipeline.Start) (pipeline.Cursor[string], error) {
	*s.at = append(*s.at, at.Position)
	return &nilPosition{sliceCursor[string]{items: []string{"x"}}}, nil
}

func TestNestedTellsNullFromTheBeginning(t *testing.T) {
	var at []json.RawMessage
	src := nilPositionSource{&at}
	n, err := openNested[string](context.Background(), src, pipeline.Start{Position: json.RawMessage(`"of another"`)}, nestedPosition{})
	require.NoError(t, err)
	raw, err := json.Marshal(n.position())
	require.NoError(t, err)
	var p nestedPosition
	require.NoError(t, json.Unmarshal(raw, &p))
	_, err = openNested[string](context.Background(), src, pipeline.Start{}, p)
	require.NoError(t, err)
	require.Equal(t, []json.RawMessage{nil, json.RawMessage("null")}, at)
}

// noCursor is a source that breaks the contract.
type noCursor struct{}

func (noCursor) Open(context.Context, pipeline.Start) (pipeline.Cursor[string], error) {
	return nil, nil
}

func TestNestedSourceWithoutCursor(t *testing.T) {
	_, err := openNested[string](context.Background(), noCursor{}, pipeline.Start{}, nestedPosition{})
	require.ErrorContains(t, err, "source.noCursor")
}

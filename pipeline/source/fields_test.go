package source

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const fieldsLine = `{"id":1,"label":-7,"text":"the \"quick\" brown fox","x":[1.5,1.25,-3.0,4e2],"a":{"b":[{"c":null}, true]}}`

func TestFields(t *testing.T) {
	f, err := NewFields("x", "label", "text", "a.b.0.c", "a.b.1", "a.z", ".", "id", "a.b.7")
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, f.Scan([]byte(" "+fieldsLine+"\t")))
		for i, want := range []string{"[1.5,1.25,-3.0,4e2]", "-7", `"the \"quick\" brown fox"`, "null", "true", "", fieldsLine, "1", ""} {
			require.Equal(t, want, string(f.Raw(i)), i)
		}
		text, ok := f.Text(2)
		require.True(t, ok)
		require.Equal(t, `the "quick" brown fox`, string(text))
		_, ok = f.Text(1)
		require.False(t, ok)
		_, ok = f.Text(5)
		require.False(t, ok)
	}
	require.NoError(t, f.Scan([]byte(`{"text":"plain"}`)))
	text, ok := f.Text(2)
	require.True(t, ok)
	require.Equal(t, "plain", string(text))
	require.Empty(t, f.Raw(0), "nothing stays of the line before")

	require.ErrorIs(t, f.Scan([]byte(`{"text":"plain"`)), ErrJSON)
	require.Empty(t, f.Raw(2))
	deep := make([]byte, 1001)
	for i := range deep {
		deep[i] = '['
	}
	require.ErrorIs(t, f.Scan(deep), ErrDepth)
	require.ErrorIs(t, f.Scan(nil), ErrJSON)
}

func TestFieldsOptions(t *testing.T) {
	_, err := NewFields()
	require.ErrorIs(t, err, ErrOption)
	_, err = NewFields("a", "")
	require.ErrorIs(t, err, ErrOption)
	_, err = NewFields(make([]string, maxFields+1)...)
	require.ErrorIs(t, err, ErrOption)
}

// All of an object's members are found, as encoding/json finds them.
func TestFieldsAgreeWithEncodingJSON(t *testing.T) {
	name := rapid.StringMatching(`[a-e]{1,2}|é|"|\\`)
	value := rapid.OneOf(
		rapid.Map(rapid.Float64(), func(f float64) any { return f }),
		rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.SliceOfN(rapid.Int(), 0, 3), func(v []int) any { return v }),
	)
	rapid.Check(t, func(t *rapid.T) {
		object := rapid.MapOfN(name, value, 1, 12).Draw(t, "object")
		line, err := json.Marshal(object)
		require.NoError(t, err)
		var paths []string
		for n := range object {
			paths = append(paths, n)
		}
		f, err := NewFields(paths...)
		require.NoError(t, err)
		require.NoError(t, f.Scan(line))
		for i, p := range paths {
			want, err := json.Marshal(object[p])
			require.NoError(t, err)
			require.Equal(t, string(want), string(f.Raw(i)))
			if s, ok := object[p].(string); ok {
				text, ok := f.Text(i)
				require.True(t, ok)
				require.Equal(t, s, string(text))
			}
		}
	})
}

func TestFieldsAllocateNothing(t *testing.T) {
	f, err := NewFields("x", "label", "text")
	require.NoError(t, err)
	line := []byte(fieldsLine)
	var x []float32
	var labels []int64
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if err := f.Scan(line); err != nil {
			t.Fatal(err)
		}
		x, _ = ParseFloat32s(f.Raw(0), x[:0])
		labels, _ = ParseInt64s(f.Raw(1), labels[:0])
		f.Text(2)
	}))
	require.Equal(t, "[1.5 1.25 -3 400] [-7]", fmt.Sprint(x, labels))
}

func BenchmarkFields(b *testing.B) {
	line := []byte(`{"id":1,"label":1,"text":"the quick brown fox jumps over the lazy dog","x":[1.5,1.25,-3.0,4e2]}`)
	f, err := NewFields("x", "label")
	if err != nil {
		b.Fatal(err)
	}
	var x []float32
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Scan(line); err != nil {
			b.Fatal(err)
		}
		if x, err = ParseFloat32s(f.Raw(0), x[:0]); err != nil {
			b.Fatal(err)
		}
		if _, err := ParseInt64(f.Raw(1)); err != nil {
			b.Fatal(err)
		}
	}
}

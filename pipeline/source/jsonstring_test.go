package source

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestValidBytesAreThoseOfGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SliceOf(rapid.SampledFrom([]byte("a\x7f\x80\xbf\xc3\xe6\x97\xa5\xed\xa0\xf0\x9f\x98\x80\xf4\xff"))).Draw(t, "s")
		want := []byte(string([]rune(string(s)))) // each byte that is no UTF-8 becomes U+FFFD
		require.Equal(t, string(want), string(appendValid(nil, s)))
		n, first := invalidBytes(s)
		require.Equal(t, n > 0, first >= 0)
		require.Equal(t, bytes.Count(want, []byte("\ufffd")), n+bytes.Count(s, []byte("\ufffd")))
	})
}

package source

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// Two differences from encoding/json are meant: the limit of depth, and bytes that are
// not UTF-8, which Fields keeps.
func FuzzFields(f *testing.F) {
	for _, line := range append(jsonLines,
		`{"id":"1","text":"two\nlines","n":1}`, `{"text":"a","text":"\u00e9\ud83d\ude00"}`, `{"te\u0078t":"\ud800","id":-1.5e3}`,
		"{\"text\":\"\xff\\\"\", \"id\" : [1,{\"text\":2}]}", `{"text":{"text":"x"},"id":null}`) {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.Count(line, []byte("["))+bytes.Count(line, []byte("{")) > 1000 {
			t.Skip("the limits of depth differ")
		}
		fields, err := NewFields("text", "id", "text")
		require.NoError(t, err)
		require.Equal(t, json.Valid(line), fields.Scan(line) == nil, "%q", line)
		var record map[string]json.RawMessage
		if json.Unmarshal(line, &record) != nil {
			return
		}
		for i, name := range []string{"text", "id", "text"} {
			raw := record[name]
			require.Equal(t, string(raw), string(fields.Raw(i)), "%q", line)
			text, ok := fields.Text(i)
			require.Equal(t, len(raw) > 0 && raw[0] == '"', ok, "%q", line)
			if ok {
				var want string
				require.NoError(t, json.Unmarshal(raw, &want))
				require.Equal(t, want, string(appendValid(nil, text)), "%q", line)
			}
		}
	})
}

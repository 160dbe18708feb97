package main

import (
	"strconv"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/jsonl"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

// spansMember is the member of a line of output that lists its spans.
const spansMember = "pii"

// appendSpans appends the member with the spans of survivor i, if spans are reported:
// ,"pii":[{"kind":…,"start":…,"end":…}] in bytes of the text.
func appendSpans(dst []byte, m *text.PIIMasker, r *text.Result, i int) []byte {
	if r.Spans == nil {
		return dst
	}
	dst = append(dst, `,"`+spansMember+`":[`...)
	for j, s := range r.Spans[i] {
		if j > 0 {
			dst = append(dst, ',')
		}
		dst = jsonl.AppendString(append(dst, `{"kind":`...), m.Name(s.Kind))
		dst = strconv.AppendInt(append(dst, `,"start":`...), int64(s.Start), 10)
		dst = append(strconv.AppendInt(append(dst, `,"end":`...), int64(s.End), 10), '}')
	}
	return append(dst, ']')
}

package cpu

import "bytes"

// Equal reports whether a and b are the same bytes, as [bytes.Equal] does, which is as
// fast where they are short or near. O(len(a)).
func Equal(a, b []byte) bool { return len(a) == len(b) && equal(a, b) }

func equalGeneric(a, b []byte) bool { return bytes.Equal(a, b) }

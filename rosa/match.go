package rosa

// Match is the newest earlier occurrence of the longest suffix that has one.
type Match struct {
	Next   int64 // the token behind the occurrence, −1 if there is none (and where it is −1)
	Source int   // position of its last token, −1 if there is none
	Length int   // in tokens
}

// none is what stands for no match.
var none = Match{Next: -1, Source: -1}

// Found reports whether there is a match.
func (m Match) Found() bool { return m.Length > 0 }

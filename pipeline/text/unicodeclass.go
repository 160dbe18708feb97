package text

//go:generate go run ./internal/genclass -o unicodeclass_table.go

// classPage holds the classes of 256 code points, one bit each: bit r%64 of
// word r/64%4.
type classPage struct {
	alnum [4]uint64 // Alphabetic, or a number of any kind (N*)
	space [4]uint64 // White_Space
}

// pageOf returns the page of r, which must be at most U+10FFFF and not negative,
// as what package utf8 decodes always is.
func pageOf(r rune) *classPage { return &classPages[classPageOf[uint32(r)>>8]] }

// isAlnum reports whether r, of this page, is Alphabetic or a number.
func (p *classPage) isAlnum(r rune) bool { return p.alnum[r>>6&3]>>(r&63)&1 != 0 }

// isSpace reports whether r, of this page, is White_Space.
func (p *classPage) isSpace(r rune) bool { return p.space[r>>6&3]>>(r&63)&1 != 0 }

// isAlnum reports whether r, which package utf8 decoded, is Alphabetic or a
// number.
func isAlnum(r rune) bool { return pageOf(r).isAlnum(r) }

// isSpace reports whether r, which package utf8 decoded, is White_Space.
func isSpace(r rune) bool { return pageOf(r).isSpace(r) }

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

// classGroup holds the classes of 64 code points, one bit each.
type classGroup struct{ alnum, space uint64 }

// classGroups has those up to FFFF: what the pages say, with one look-up less.
var classGroups = func() (t [0x10000 / 64]classGroup) {
	for i := range t {
		t[i] = pageOf(rune(i * 64)).group(rune(i * 64))
	}
	return t
}()

// group returns the classes of the 64 code points of this page that r is among.
func (p *classPage) group(r rune) classGroup {
	return classGroup{p.alnum[r>>6&3], p.space[r>>6&3]}
}

// groupOf returns the group of r, which package utf8 decoded.
func groupOf(r rune) classGroup {
	if g := uint32(r) / 64; g < uint32(len(classGroups)) {
		return classGroups[g]
	}
	return pageOf(r).group(r)
}

package text

import (
	"bytes"
	"slices"

	"github.com/zeebo/xxh3"
)

// lineCutter cuts a text into lines. A line ends at LF, CR LF or CR, which do not
// belong to it; what follows the last end is a line if it is not empty.
type lineCutter struct {
	rest []byte
	cr   bool // rest has one: few texts do
}

func cutLines(s []byte) lineCutter { return lineCutter{s, bytes.IndexByte(s, '\r') >= 0} }

// more reports whether there is another line.
func (c *lineCutter) more() bool { return len(c.rest) > 0 }

// next cuts off the first line.
func (c *lineCutter) next() []byte {
	s := c.rest
	var end int
	if !c.cr {
		end = bytes.IndexByte(s, '\n')
	} else {
		end = slices.IndexFunc(s, func(b byte) bool { return b == '\n' || b == '\r' })
	}
	if end < 0 {
		c.rest = nil
		return s
	}
	c.rest = s[end+1:]
	if s[end] == '\r' && len(c.rest) > 0 && c.rest[0] == '\n' {
		c.rest = c.rest[1:]
	}
	return s[:end]
}

// repeats tells how much of a text are pieces that came before.
type repeats struct {
	pieces     int // all of them
	duplicates int // those that came before
	chars      int // code points of these
}

// share returns the share of pieces that are duplicates, 0 where there are none.
func (r repeats) share() float64 { return ratio(r.duplicates, r.pieces) }

// repeatSet finds pieces of one text that are equal, by 64-bit hashes with a key drawn
// at random. It is scratch.
type repeatSet struct {
	table gramTable
	repeats
}

func (d *repeatSet) reset() {
	d.table.reset(0)
	d.repeats = repeats{}
}

func (d *repeatSet) add(piece []byte) {
	place := uint32(d.pieces)
	d.pieces++
	if d.table.first(xxh3.HashSeed(piece, d.table.key[1]), place) != place {
		d.duplicates++
		d.chars += countChars(piece)
	}
}

// lines returns the repeats among the lines of s that are not empty. O(len(s)).
func (d *repeatSet) lines(s []byte) repeats {
	d.reset()
	for c := cutLines(s); c.more(); {
		if line := c.next(); len(line) > 0 {
			d.add(line)
		}
	}
	return d.repeats
}

// paragraphs returns the repeats among the paragraphs of s: lines in a row that are
// not empty, white space at both ends of s left aside. O(len(s)).
func (d *repeatSet) paragraphs(s []byte) repeats {
	d.reset()
	s = trimSpace(s)
	from, end := 0, 0 // of the paragraph
	for c := cutLines(s); c.more(); {
		at := len(s) - len(c.rest)
		line := c.next()
		switch {
		case len(line) > 0:
			end = at + len(line)
			continue
		case end > from:
			d.add(s[from:end])
		}
		from = len(s) - len(c.rest)
		end = from
	}
	if end > from {
		d.add(s[from:end])
	}
	return d.repeats
}

// ratio returns a/b, and 0 where b is 0.
func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

package text

import (
	"bytes"
	"math/bits"

	"github.com/rosaline-go/rosaline/cpu"
)

// keyForms is a set of the forms of keys that a text may hold.
type keyForms uint8

const (
	formBearer keyForms = 1 << iota
	formToken
	formNamed
	allKeyForms = formBearer | formToken | formNamed
)

// screenKeys says which forms the text may hold, each run with an anchor being looked at
// once. Most runs are addresses, links and long words, which begin like no key and have
// neither Bearer nor a name before them.
//
// What it says holds for the text as it is, without walls. A wall only takes away what a
// bearer token or a named value needs before it, but behind one a token may begin in
// the midst of a run.
func screenKeys(s []byte, c *classes) (found keyForms) {
	var r region // a literal would be copied
	r.s, r.blocks, r.hi = s, c.blocks, len(s)
	done, start := 0, -1 // the end of the last run, and the start of what it is a part of
	for i := range c.anchors {
		a := &c.anchors[i]
		for m := a.from(done, a.key); m != 0; m = a.from(done, m&(m-1)) {
			at := a.block*cpu.BlockSize + bits.TrailingZeros64(m)
			lo, end := keyRunStart(c.blocks, at), keyRunEnd(c.blocks, at, len(s))
			joined := isIn(r.at(lo-1), charBearer)
			if end-lo < minToken && !joined && !isIn(r.at(end), charBearer) {
				done = end // too short for any
				continue
			}
			if hasTokenStart(s[lo:end]) {
				found |= formToken
			}
			// A run is a part of a longer one if slashes and the like join it to others,
			// maybe to the last run and what that is a part of.
			q := lo
			if joined {
				if q = r.runStart(lo, charToken|charBearer, done); q == done && start >= 0 {
					q = start
				}
			}
			if q != start {
				found |= r.screenBefore(q)
			}
			if found == allKeyForms {
				return found
			}
			start, done = q, end
		}
	}
	return found
}

// keyRunStart returns the start of the run of key characters that the one at position at
// is in.
func keyRunStart(blocks []cpu.Block, at int) int {
	b := at / cpu.BlockSize
	gaps := ^blocks[b].Key << (cpu.BlockSize - 1 - uint(at)%cpu.BlockSize)
	if gaps != 0 {
		return at + 1 - bits.LeadingZeros64(gaps)
	}
	for b--; b >= 0; b-- {
		if gaps = ^blocks[b].Key; gaps != 0 {
			return (b+1)*cpu.BlockSize - bits.LeadingZeros64(gaps)
		}
	}
	return 0
}

// keyRunEnd returns the end of the same run, in a text of n bytes.
func keyRunEnd(blocks []cpu.Block, at, n int) int {
	b := at / cpu.BlockSize
	gaps := ^blocks[b].Key >> (uint(at) % cpu.BlockSize)
	if gaps != 0 {
		return at + bits.TrailingZeros64(gaps)
	}
	for b++; b < len(blocks); b++ {
		if gaps = ^blocks[b].Key; gaps != 0 {
			return b*cpu.BlockSize + bits.TrailingZeros64(gaps)
		}
	}
	return n
}

// hasTokenStart says whether a piece of the run between its dots begins like a key.
func hasTokenStart(run []byte) bool {
	for len(run) >= minToken {
		p := 0
		for p < len(run) && isIn(run[p], charScore|charHyphen) {
			p++
		}
		if p < len(run) && beginsLikeKey(run[p:]) {
			return true
		}
		dot := bytes.IndexByte(run[p:], '.')
		if dot < 0 {
			return false
		}
		run = run[p+dot+1:]
	}
	return false
}

// beginsLikeKey says whether s begins as keys with a prefix or with dots do, by its first
// two bytes.
func beginsLikeKey(s []byte) bool {
	return len(s) > 1 && keyFirst[s[0]]&keySecond[s[1]] != 0
}

// keyFirst has a bit for each byte that keys begin with, and keySecond, for each byte, those
// of the bytes before it.
var keyFirst, keySecond = func() (first, second [256]uint16) {
	n := 0
	add := func(s string) {
		if first[s[0]] == 0 {
			first[s[0]] = 1 << n
			n++
		}
		second[s[1]] |= first[s[0]]
	}
	for _, x := range keyPrefixes {
		add(x.text)
	}
	for _, s := range []string{"AKIA", "ASIA", "eyJ", "SG.", "ya29."} {
		add(s)
	}
	return first, second
}()

// screenBefore says which forms may have their token or value begin at q, by what stands
// before it.
func (r *region) screenBefore(q int) keyForms {
	switch b := r.at(q - 1); b {
	case ' ', '\t':
		p := q
		for p > 0 && isBlank(r.s[p-1]) {
			p--
		}
		if bytes.HasSuffix(r.s[:p], []byte(bearerWord)) {
			return formBearer // and no name, nor a scheme, ends so
		}
		fallthrough
	case ':', '=', '>', '"', '\'', '`':
		if r.signBefore(q) {
			return formNamed
		}
	}
	return 0
}

package text

import (
	"math"
	"math/bits"

	"github.com/rosaline-go/rosaline/cpu"
)

// stopWords finds words of a list in a text.
type stopWords struct {
	list    []string        // the words it was made for
	table   gramTable       // their places in it, by their hashes
	begin   [2]*cpu.ByteSet // their first and second bytes; nil if one has a byte alone
	lengths []int           // the bytes that they may have, each once
	found   []bool
	masks   [2][stopBlocks]uint64
}

// stopBlocks is how many blocks of a text are looked at together. Most texts of a
// language have soon shown enough words of its list.
const stopBlocks = 8

// prepare readies the set for a list.
func (w *stopWords) prepare(list []string) {
	if len(list) == len(w.list) && &list[0] == &w.list[0] {
		clear(w.found)
		return
	}
	*w = stopWords{list: list, table: w.table, found: make([]bool, len(list))}
	w.table.reset(len(list))
	var begin [2][]byte
	var lengths [64]bool
	for i, s := range list {
		if len(s) == 0 {
			continue
		}
		w.table.first(wordKeys.any([]byte(s)), uint32(i))
		begin[0] = append(begin[0], s[0])
		if len(s) > 1 {
			begin[1] = append(begin[1], s[1])
		}
		lengths[min(len(s), 63)] = true
	}
	for i := range begin {
		if i == 0 || !lengths[1] {
			w.begin[i] = cpu.NewByteSet(begin[i]...)
		}
	}
	for n, some := range lengths {
		if some {
			w.lengths = append(w.lengths, n)
		}
	}
}

// count returns how many words of a list there are in s, of which b are the bounds. It
// stops at a limit. O(len(s)).
func (w *stopWords) count(s []byte, b *wordBounds, list []string, limit int) (n int) {
	if len(list) == 0 || limit <= 0 {
		return 0
	}
	w.prepare(list)
	for block := 0; block*64 < len(s); block += stopBlocks {
		for i, set := range w.begin {
			w.maskAny(i, s[min(block*64+i, len(s)):min((block+stopBlocks)*64+i, len(s))], set)
		}
		for i := range min(stopBlocks, len(b.starts)-1-block) {
			at := b.starts[block+i] & w.masks[0][i] & w.masks[1][i]
			if at == 0 {
				continue
			}
			for at &= w.fitting(b.ends[block+i], b.ends[block+i+1]); at != 0; at &= at - 1 {
				from := (block+i)*64 + bits.TrailingZeros64(at)
				if w.find(s, b, from) {
					if n++; n == limit {
						return n
					}
				}
			}
		}
	}
	return n
}

// maskAny finds which bytes of s are a first or second byte.
func (w *stopWords) maskAny(i int, s []byte, set *cpu.ByteSet) {
	masks := w.masks[i][:]
	clear(masks)
	if set != nil {
		cpu.MaskAny(masks, s, set)
		return
	}
	for j := range masks {
		masks[j] = math.MaxUint64
	}
}

// fitting returns the places of a block that have the end of a word so far behind them as
// a word of the list is long; next are the ends in the block behind.
func (w *stopWords) fitting(ends, next uint64) (at uint64) {
	for _, n := range w.lengths {
		if n == 63 {
			return math.MaxUint64 // or longer
		}
		at |= ends>>n | next<<(64-n)
	}
	return at
}

// find reports whether the word of s that begins at a byte is on the list and was not
// found before.
func (w *stopWords) find(s []byte, b *wordBounds, from int) bool {
	to, _ := b.ends.next(from + 1)
	i, ok := w.table.find(wordKeys.any(s[from:to]))
	if !ok || w.found[i] {
		return false
	}
	w.found[i] = true
	return true
}

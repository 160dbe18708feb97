package stringtensor

import (
	"fmt"
	"math"
)

// Concat returns the rows of all columns, one after the other. Views are copied,
// payload is shared: each distinct buffer is in the result once, however many of
// the columns use it, and one that no row uses is not. Buffers are the same when
// they are over the same memory. It takes time linear in the rows and in the
// distinct lists of buffers. The errors are [ErrTooManyRows] and, for more than
// 2³¹−1 buffers, [ErrOffsetOverflow].
func Concat(columns ...*Column) (*Column, error) {
	var rows int64
	nulls := 0
	for _, c := range columns {
		rows += int64(len(c.views))
		nulls += c.nulls
		if rows > maxRows {
			return nil, fmt.Errorf("%w: %d and more", ErrTooManyRows, rows)
		}
	}
	views := unzeroed[StringView16](int(rows))[:0]
	var valid bitmap
	if nulls > 0 {
		valid = newBitmap(int(rows))
	}
	pool := bufferPool{places: map[region]int{}, lists: map[bufferList][]uint32{}}
	for _, c := range columns {
		at := len(views)
		if nulls > 0 {
			valid.put(at, c.valid, len(c.views))
		}
		views = append(views, c.views...)
		if len(c.buffers) == 0 {
			continue
		}
		to := pool.placesOf(c.buffers)
		for i := at; i < len(views); i++ {
			v := &views[i]
			if v.IsInline() {
				continue
			}
			b := v.Buffer()
			if to[b] == 0 {
				if len(pool.buffers) == math.MaxInt32 {
					return nil, fmt.Errorf("%w: more than %d buffers", ErrOffsetOverflow, math.MaxInt32)
				}
				to[b] = pool.add(c.buffers[b])
			}
			v.hi = v.hi&^math.MaxUint32 | uint64(to[b]-1)
		}
	}
	return newColumn(views, pool.buffers, valid, nulls), nil
}

// bufferPool collects the buffers of several columns, each once.
type bufferPool struct {
	buffers []*Buffer
	places  map[region]int
	// lists has, for each list of buffers seen, 1 + the place in the pool of each
	// of its buffers, or 0 while none of its rows was met. Slices of one column
	// share its list and so the places.
	lists map[bufferList][]uint32
}

// bufferList identifies a list of buffers by where it lies.
type bufferList struct {
	first **Buffer
	n     int
}

func (p *bufferPool) placesOf(list []*Buffer) []uint32 {
	key := bufferList{&list[0], len(list)}
	to := p.lists[key]
	if to == nil {
		to = make([]uint32, len(list))
		p.lists[key] = to
	}
	return to
}

// add returns 1 + the place of b, which it adds unless its memory is there.
func (p *bufferPool) add(b *Buffer) uint32 {
	m := b.region()
	i, ok := p.places[m]
	if !ok {
		i = len(p.buffers)
		p.places[m] = i
		p.buffers = append(p.buffers, b)
	}
	return uint32(i + 1)
}

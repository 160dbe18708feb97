package text

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/rosaline-go/rosaline/stringtensor"
)

func newDedup(t require.TestingT, opts ...DedupOption) *StreamDeduplicator {
	d, err := NewStreamDeduplicator(opts...)
	require.NoError(t, err)
	return d
}

func column(t require.TestingT, s ...string) *stringtensor.Column {
	c, err := stringtensor.FromStrings(s)
	require.NoError(t, err)
	return c
}

// columnWithNulls takes nil for null.
func columnWithNulls(t require.TestingT, s ...any) *stringtensor.Column {
	var b stringtensor.Builder
	for _, x := range s {
		if x == nil {
			b.AppendNull()
		} else {
			require.NoError(t, b.AppendString(x.(string)))
		}
	}
	return b.Finish()
}

func committedHashes(t require.TestingT, d *StreamDeduplicator) []Hash128 {
	h, err := d.AppendHashes(nil, 0, d.Count())
	require.NoError(t, err)
	return h
}

// TestDedupGoldens replays the recorded operations. The recording keeps 64-bit
// hashes: ours lead back to the texts, and these to XXH3-64.
func TestDedupGoldens(t *testing.T) {
	type golden struct {
		ID    string
		Ops   [][3]json.RawMessage
		Final []string `json:"final_hashes_sorted"`
	}
	decode := func(raw json.RawMessage, v any) { require.NoError(t, json.Unmarshal(raw, v)) }
	deviations := readDeviations(t)
	for _, g := range readGoldens[golden](t, "dedup_ops.jsonl") {
		d := newDedup(t)
		texts := map[Hash128]string{}
		know := func(s string) string { texts[HashOf([]byte(s))] = s; return s }
		equal := true
		for _, op := range g.Ops {
			var name string
			decode(op[0], &name)
			switch name {
			case "is_unique", "is_seen":
				var s string
				var want bool
				decode(op[1], &s)
				decode(op[2], &want)
				f := d.IsSeen
				if name == "is_unique" {
					f = d.IsUnique
				}
				equal = equal && f([]byte(know(s))) == want
			case "filter_batch":
				var in, want []string
				decode(op[1], &in)
				decode(op[2], &want)
				for _, s := range in {
					know(s)
				}
				col := column(t, in...)
				kept, err := col.Filter(d.Filter(col))
				require.NoError(t, err)
				equal = equal && equalStrings(kept.Strings(), want)
			case "commit", "rollback", "count":
				var want int
				decode(op[2], &want)
				f := map[string]func() int{"commit": d.Commit, "rollback": d.Rollback, "count": d.Count}[name]
				equal = equal && f() == want
			default:
				require.Fail(t, "unknown operation", name)
			}
		}
		equal = equal && equalStrings(sorted64(t, committedHashes(t, d), texts), g.Final)
		requireGolden(t, deviations, g.ID, equal, "other decisions, counts or hashes")
	}
}

// sorted64 returns the XXH3-64 of the texts of hashes, in ascending order.
func sorted64(t *testing.T, hashes []Hash128, texts map[Hash128]string) (out []string) {
	var words []uint64
	for _, h := range hashes {
		require.Contains(t, texts, h)
		words = append(words, xxh3.HashString(texts[h]))
	}
	slices.Sort(words)
	for _, w := range words {
		out = append(out, strconv.FormatUint(w, 10))
	}
	return out
}

// numbered is a text of each number, every seventh too long for XXH3 to have a hash of 64
// bits of its own for.
func numbered(n int) string {
	if n%7 == 0 {
		return strconv.Itoa(n) + strings.Repeat(" long", 50+n%100)
	}
	return strconv.Itoa(n)
}

// everyThird returns the XXH3-64 of every third of those texts up to a number, in order, and the
// texts.
func everyThird(n int) (hashes []uint64, texts map[string]bool) {
	texts = map[string]bool{}
	for i := 0; i < n; i += 3 {
		texts[numbered(i)] = true
		hashes = append(hashes, xxh3.HashString(numbered(i)))
	}
	slices.Sort(hashes)
	return hashes, texts
}

// TestDedupProperty compares every operation with maps of strings, with a hash
// of few values under byte check, and with the real one, without and with texts
// that another program knows.
func TestDedupProperty(t *testing.T) {
	list, listed := everyThird(700)
	for name, opts := range map[string][]DedupOption{
		"hash":             nil,
		"known":            {WithKnown64(list)},
		"known byte check": {WithByteCheck(true), WithKnown64(list)},
		"byte check":       {WithByteCheck(true)},
		"collisions":       {WithByteCheck(true), withHash(func(s []byte) Hash128 { return Hash128{uint64(len(s)) % 3, 7} })},
		"one hash":         {WithByteCheck(true), withHash(func([]byte) Hash128 { return nullHash })},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				d := newDedup(t, append(slices.Clone(opts), WithNulls(NullsEqual))...)
				known := map[string]bool{} // true when committed
				const null = "\x00null"
				var order []string
				text := rapid.Custom(func(t *rapid.T) string { return numbered(rapid.IntRange(0, 700).Draw(t, "n")) })
				isListed := func(s string) bool { return listed[s] && strings.HasPrefix(name, "known") }
				stage := func(s string) bool {
					if _, ok := known[s]; ok || isListed(s) {
						return false
					}
					known[s] = false
					order = append(order, s)
					return true
				}
				commit := func(n int) {
					for _, s := range order[:n] {
						known[s] = true
					}
				}
				count := func() (n int) {
					for _, c := range known {
						if c {
							n++
						}
					}
					return n
				}
				t.Repeat(map[string]func(*rapid.T){
					"unique": func(t *rapid.T) {
						s := text.Draw(t, "text")
						require.Equal(t, stage(s), d.IsUnique([]byte(s)))
					},
					"empty": func(t *rapid.T) { require.Equal(t, stage(""), d.IsUnique(nil)) },
					"null":  func(t *rapid.T) { require.Equal(t, stage(null), d.IsUniqueNull()) },
					"seen": func(t *rapid.T) {
						s := text.Draw(t, "text")
						_, want := known[s]
						require.Equal(t, want || isListed(s), d.IsSeen([]byte(s)))
					},
					"filter": func(t *rapid.T) {
						in := rapid.SliceOfN(text, 0, 300).Draw(t, "texts")
						want := stringtensor.Selection{}
						for i, s := range in {
							if stage(s) {
								want = append(want, uint32(i))
							}
						}
						require.Equal(t, want, d.Filter(column(t, in...)))
					},
					"commit": func(t *rapid.T) {
						staged := len(known) - count()
						commit(len(order))
						require.Equal(t, staged, d.Commit())
					},
					"commit to": func(t *rapid.T) {
						before := count()
						p := rapid.IntRange(before, len(order)).Draw(t, "position")
						commit(p)
						n, err := d.CommitTo(p)
						require.NoError(t, err)
						require.Equal(t, p-before, n)
					},
					"rollback": func(t *rapid.T) {
						n := count()
						for _, s := range order[n:] {
							delete(known, s)
						}
						require.Equal(t, len(order)-n, d.Rollback())
						order = order[:n]
					},
					"": func(t *rapid.T) {
						require.Equal(t, count(), d.Count())
						require.Equal(t, len(order), d.Position())
						hashes, err := d.AppendHashes(nil, 0, len(order))
						require.NoError(t, err)
						for i, s := range order {
							want := nullHash
							if s != null {
								want = d.hash([]byte(s))
							}
							require.Equal(t, want, hashes[i], "order of entry %d", i)
						}
					},
				})
			})
		})
	}
}

// TestDedupNull: null is not the empty text, under either policy, whatever came
// first, and whatever the hash.
func TestDedupNull(t *testing.T) {
	nullLike := withHash(func([]byte) Hash128 { return nullHash })
	for _, opts := range [][]DedupOption{nil, {WithByteCheck(true)}, {nullLike}, {nullLike, WithByteCheck(true)}} {
		distinct := newDedup(t, opts...)
		require.Equal(t, stringtensor.Selection{0, 1, 2, 4}, distinct.Filter(columnWithNulls(t, nil, "", nil, "", nil)))
		require.Equal(t, 1, distinct.Commit())

		equal := newDedup(t, append(opts, WithNulls(NullsEqual))...)
		require.Equal(t, stringtensor.Selection{0, 1}, equal.Filter(columnWithNulls(t, nil, "", nil, "")))
		require.Equal(t, 2, equal.Rollback())
		require.Equal(t, stringtensor.Selection{0, 1}, equal.Filter(columnWithNulls(t, "", nil, nil, "")))
	}

	// Growing must not give null a place that a text can find.
	d := newDedup(t, nullLike, WithByteCheck(true), WithNulls(NullsEqual))
	require.True(t, d.IsUniqueNull())
	for i := range 2 * minSlots {
		require.True(t, d.IsUnique(strconv.AppendInt(nil, int64(i), 10)))
	}
	require.Equal(t, 2*minSlots+1, d.Rollback())
	require.True(t, d.IsUniqueNull())
}

// TestDedupByteCheck uses a hash under which all texts are equal.
func TestDedupByteCheck(t *testing.T) {
	constant := withHash(func([]byte) Hash128 { return Hash128{1, 2} })
	col := column(t, "a", "b", "", "a", "b", "", "c")
	require.Equal(t, stringtensor.Selection{0}, newDedup(t, constant).Filter(col))
	d := newDedup(t, constant, WithByteCheck(true))
	require.Equal(t, stringtensor.Selection{0, 1, 2, 6}, d.Filter(col))
	require.Equal(t, 4, d.Rollback())
	require.Equal(t, stringtensor.Selection{0, 1, 2, 6}, d.Filter(col))

	// Of a hash from before, the text is not known: the hash decides.
	d = newDedup(t, constant, WithByteCheck(true), WithHashes(slices.Values([]Hash128{{1, 2}})))
	require.Empty(t, d.Filter(col))
}

// collision returns the i-th of 2³² texts with one XXH3-128: where four bytes of a
// text equal the secret of XXH3, the four after them are not multiplied but only
// added, and here what they add in one place they take away in another.
func collision(i uint32) []byte {
	s := make([]byte, 512)
	copy(s[0:], "\xb8\xfe\x6c\x39")
	copy(s[64:], "\x7c\x01\x81\x2c")
	binary.LittleEndian.PutUint32(s[4:], i)
	binary.LittleEndian.PutUint32(s[68:], -i)
	return s
}

// TestDedupCollisions adds different texts of one hash, and counts how far each
// lies from where its search begins.
func TestDedupCollisions(t *testing.T) {
	const n = 5000
	d := newDedup(t, WithByteCheck(true), WithHashes(slices.Values([]Hash128{{1, 2}})))
	for i := range uint32(n) {
		require.Equal(t, HashOf(collision(0)), HashOf(collision(i)))
		require.True(t, d.IsUnique(collision(i)))
		require.False(t, d.IsUnique(collision(i)))
	}
	moved := 0
	for i, x := range d.set.slots {
		if x != 0 {
			moved += (i - d.set.startAt(int(x&positionMask)-1)) & (len(d.set.slots) - 1)
		}
	}
	require.Less(t, moved, 20*n)
	require.Equal(t, n, d.Rollback())
	require.True(t, d.IsUnique(collision(1)))
	require.False(t, newDedup(t, WithHashes(slices.Values([]Hash128{HashOf(collision(0))}))).IsUnique(collision(1)))
}

// TestDedupKeepsItsTexts changes the caller's memory after the call.
func TestDedupKeepsItsTexts(t *testing.T) {
	d := newDedup(t, WithByteCheck(true))
	s := []byte("one")
	require.True(t, d.IsUnique(s))
	copy(s, "two")
	require.False(t, d.IsUnique([]byte("one")))
	require.True(t, d.IsUnique(s))
}

// TestDedupRestart hands the hashes of one run to the next, null included.
func TestDedupRestart(t *testing.T) {
	first := newDedup(t, WithNulls(NullsEqual))
	first.Filter(columnWithNulls(t, "a", nil, ""))
	first.Commit()
	require.True(t, first.IsUnique([]byte("staged only")))
	hashes := committedHashes(t, first)

	again := newDedup(t, WithNulls(NullsEqual), WithHashes(slices.Values(append(hashes, hashes...))))
	require.Equal(t, 3, again.Count())
	require.Equal(t, hashes, committedHashes(t, again))
	require.Equal(t, stringtensor.Selection{3}, again.Filter(columnWithNulls(t, "", "a", nil, "staged only")))
	require.Equal(t, 1, again.Rollback())
	require.Equal(t, 3, again.Count())
}

func TestDedupErrors(t *testing.T) {
	for _, n := range []int{-1, math.MinInt, math.MaxInt, maxEntries + 1} {
		_, err := NewStreamDeduplicator(WithCapacity(n))
		require.ErrorIs(t, err, ErrOption, n)
	}
	_, err := NewStreamDeduplicator(WithNulls(7))
	require.ErrorIs(t, err, ErrOption)
	_, err = NewStreamDeduplicator(WithKnown64([]uint64{1, 5, 5, 4, 9}))
	require.ErrorIs(t, err, ErrOption)
	require.ErrorContains(t, err, "known hash 3 is 0x4, before it comes 0x5")

	d := newDedup(t)
	d.Filter(column(t, "a", "b"))
	_, err = d.CommitTo(3)
	require.ErrorIs(t, err, ErrPosition)
	_, err = d.CommitTo(1)
	require.NoError(t, err)
	_, err = d.CommitTo(0)
	require.ErrorIs(t, err, ErrPosition)
	for _, r := range [][2]int{{-1, 0}, {1, 0}, {0, 3}} {
		_, err = d.AppendHashes(nil, r[0], r[1])
		require.ErrorIs(t, err, ErrPosition)
	}
}

// numbers yields n hashes, as those of n different texts.
func numbers(from, n int) iter.Seq[Hash128] {
	return func(yield func(Hash128) bool) {
		for i := range n {
			if !yield(HashOf(strconv.AppendInt(nil, int64(from+i), 10))) {
				return
			}
		}
	}
}

// TestDedupHashBlocks: hashes in pieces of any size, in memory that is used again, are those of
// a plain loop.
func TestDedupHashBlocks(t *testing.T) {
	hash := rapid.Custom(func(t *rapid.T) Hash128 {
		if i := rapid.Uint64Range(0, 3000).Draw(t, "hash"); i > 0 {
			return Hash128{i, i * i}
		}
		return Hash128{stringtensor.NullHash, stringtensor.NullHash}
	})
	rapid.Check(t, func(t *rapid.T) {
		blocks := rapid.SliceOfN(rapid.SliceOfN(hash, 0, 150), 0, 10).Draw(t, "blocks")
		var want []Hash128
		for _, h := range slices.Concat(blocks...) {
			if !slices.Contains(want, h) {
				want = append(want, h)
			}
		}
		opts := []DedupOption{WithNulls(NullsEqual), WithByteCheck(rapid.Bool().Draw(t, "byte check")), WithCapacity(rapid.IntRange(0, 2000).Draw(t, "capacity"))}
		pieces := func(yield func([]Hash128) bool) {
			piece := make([]Hash128, 150)
			for _, b := range blocks {
				if !yield(piece[:copy(piece, b)]) {
					return
				}
				clear(piece)
			}
		}
		for _, given := range []DedupOption{WithHashBlocks(pieces), WithHashes(slices.Values(slices.Concat(blocks...)))} {
			d := newDedup(t, append(opts, given)...)
			require.Equal(t, want, committedHashes(t, d))
			require.Equal(t, len(want), d.Position())
			require.Equal(t, !slices.Contains(want, nullHash), d.IsUniqueNull())
			for i, h := range want {
				slot, found := d.set.find(h, nil)
				if h == nullHash {
					require.False(t, found)
					require.Equal(t, i+1, d.set.null)
				} else {
					require.True(t, found)
					require.EqualValues(t, i+1, d.set.slots[slot]&positionMask)
				}
			}
		}
	})
	require.Zero(t, newDedup(t, WithHashes(nil)).Count())
	require.Zero(t, newDedup(t, WithHashBlocks(nil)).Count())
}

// TestSum64: the hash of 64 bits of texts of every length about where XXH3 changes its ways.
func TestSum64(t *testing.T) {
	s := make([]byte, 70_000)
	for i := range s {
		s[i] = byte(i*i>>3 + i)
	}
	for n := range len(s) - 8 {
		if n > 3000 && n%1009 > 1 {
			continue
		}
		x := s[n%7:][:n] // at any alignment
		require.Equal(t, xxh3.Hash(x), sum64(HashOf(x), x), "%d bytes", n)
	}
}

// TestHashes64 compares the search with a map, for lists that are spread evenly and for
// others.
func TestHashes64(t *testing.T) {
	values := map[string]*rapid.Generator[uint64]{
		"even":   rapid.Custom(func(t *rapid.T) uint64 { return mixed(rapid.Uint64().Draw(t, "h")) }),
		"any":    rapid.Uint64(),
		"low":    rapid.Uint64Range(0, 500),
		"high":   rapid.Uint64Range(math.MaxUint64-500, math.MaxUint64),
		"a few":  rapid.SampledFrom([]uint64{0, 1, 1 << 63, math.MaxUint64}),
		"middle": rapid.Uint64Range(1<<63-300, 1<<63+300),
	}
	for name, value := range values {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				list := rapid.SliceOfN(value, 1, 400).Draw(t, "list")
				in := map[uint64]bool{}
				for _, h := range list {
					in[h] = true
				}
				slices.Sort(list)
				known, err := newHashes64(list)
				require.NoError(t, err)
				for _, h := range append(rapid.SliceOfN(value, 0, 50).Draw(t, "asked"), 0, 1, 1<<63, math.MaxUint64) {
					require.Equal(t, in[h], known.has(h), h)
				}
				for _, h := range list {
					require.True(t, known.has(h))
					require.Equal(t, in[h+1], known.has(h+1))
					require.Equal(t, in[h-1], known.has(h-1))
				}
			})
		})
	}
	known, err := newHashes64(nil)
	require.NoError(t, err)
	require.Empty(t, known)
}

// mixed spreads numbers evenly: SplitMix64 of Steele, Lea and Flood, 2014.
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// TestDedupHeap: a hash takes at most 40 bytes of the heap where room was asked for, for a
// number of them that is just too large for a table.
func TestDedupHeap(t *testing.T) {
	const n = 1<<20/5*4 + 1000
	blocks := func(yield func([]Hash128) bool) {
		block := make([]Hash128, 1000)
		for lo := 0; lo < n; lo += len(block) {
			block = block[:min(len(block), n-lo)]
			for i := range block {
				block[i] = Hash128{mixed(uint64(2 * (lo + i))), mixed(uint64(2*(lo+i) + 1))}
			}
			yield(block)
		}
	}
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapInuse
	}
	before := inUse()
	d := newDedup(t, WithCapacity(n), WithHashBlocks(blocks))
	each := float64(inUse()-before) / n
	require.Equal(t, n, d.Count())
	require.Less(t, each, 40.0)
	require.Greater(t, each, 24.0) // or nothing was measured
	require.InDelta(t, float64(d.Bytes())/n, each, 2)
}

// TestDedupMemory grows through several sizes and back.
func TestDedupMemory(t *testing.T) {
	for _, n := range []int{16_384, 52_400, 52_500, 100_000} {
		d := newDedup(t, WithHashes(numbers(0, n)))
		require.Equal(t, n, d.Count())
		require.Less(t, float64(d.Bytes())/float64(n), 37.0, "%d entries", n)
		for i := range 1000 {
			require.True(t, d.IsUnique(strconv.AppendInt(nil, int64(n+i), 10)))
		}
		require.Equal(t, 1000, d.Rollback())
		for h := range numbers(0, n) {
			_, found := d.set.find(h, nil)
			require.True(t, found)
		}
	}
	d := newDedup(t, WithCapacity(100_000))
	slots := len(d.set.slots)
	for h := range numbers(0, 100_000) {
		d.stage(h, nil)
	}
	require.Len(t, d.set.slots, slots, "the table grew although room was asked for")
}

// TestDedupFlood adds hashes that share low bits, high bits and tags, and counts
// how far each lies from where its search begins.
func TestDedupFlood(t *testing.T) {
	const n = 20_000
	for name, hash := range map[string]func(i uint64) Hash128{
		"low":        func(i uint64) Hash128 { return Hash128{0, i << 40} },
		"high":       func(i uint64) Hash128 { return Hash128{0, i} },
		"other half": func(i uint64) Hash128 { return Hash128{i, 7} },
	} {
		best := math.MaxInt
		for range 5 { // an unlucky multiplier is possible, five are not
			d := newDedup(t)
			for i := range uint64(n) {
				require.True(t, d.stage(hash(i+1), nil))
			}
			moved := 0
			for i, x := range d.set.slots {
				if x != 0 {
					h := d.set.at(int(x&positionMask) - 1)
					moved += (i - d.set.start(*h)) & (len(d.set.slots) - 1)
				}
			}
			best = min(best, moved)
		}
		require.Less(t, best, 40*n, name)
	}
}

// TestDedupConcurrent lets goroutines race for the same texts: each must be
// unique to exactly one of them.
func TestDedupConcurrent(t *testing.T) {
	const workers, texts = 8, 2000
	d := newDedup(t)
	var unique, committed atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range texts {
				s := fmt.Appendf(nil, "text %d", (i*7+w*131)%texts)
				if d.IsUnique(s) {
					unique.Add(1)
				}
				if !d.IsSeen(s) {
					t.Error("staged text is not seen")
				}
				if i%100 == 0 {
					committed.Add(int64(d.Commit()))
				}
			}
		})
	}
	wg.Wait()
	committed.Add(int64(d.Commit()))
	require.EqualValues(t, texts, unique.Load())
	require.EqualValues(t, texts, committed.Load())
	require.Equal(t, texts, d.Count())
}

// BenchmarkDedupHashes starts with a million hashes.
func BenchmarkDedupHashes(b *testing.B) {
	hashes := make([]Hash128, 1_000_000)
	for i := range hashes {
		hashes[i] = Hash128{mixed(uint64(2 * i)), mixed(uint64(2*i + 1))}
	}
	for name, given := range map[string]DedupOption{
		"hashes": WithHashes(slices.Values(hashes)), "blocks": WithHashBlocks(slices.Chunk(hashes, 1000)),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(16 * len(hashes)))
			for b.Loop() {
				newDedup(b, WithCapacity(len(hashes)), given)
			}
		})
	}
}

// BenchmarkKnown64 asks for hashes of which half are in a list.
func BenchmarkKnown64(b *testing.B) {
	for _, n := range []int{1_000_000, 30_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			list, asked := make([]uint64, n), make([]uint64, 1<<16)
			for i := range list {
				list[i] = mixed(uint64(i))
			}
			for i := range asked {
				asked[i] = mixed(mixed(uint64(i)) % uint64(2*n))
			}
			slices.Sort(list)
			known, err := newHashes64(list)
			require.NoError(b, err)
			i, found := 0, 0
			for b.Loop() {
				if known.has(asked[i%len(asked)]) {
					found++
				}
				i++
			}
			b.ReportMetric(float64(found)/float64(i), "found/op")
		})
	}
}

func BenchmarkDedup(b *testing.B) {
	texts := make([][]byte, 1<<16)
	for i := range texts {
		texts[i] = []byte(strconv.Itoa(i) + strings.Repeat(" text", 100))
	}
	b.SetBytes(int64(len(texts[0])))
	b.ReportAllocs()
	d := newDedup(b, WithCapacity(len(texts)))
	i := 0
	for b.Loop() {
		if i == len(texts) {
			i = 0
			d.Rollback()
		}
		d.IsUnique(texts[i])
		i++
	}
}

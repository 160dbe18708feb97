package stringtensor

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// shapes are the columns that benchmarks run over: 8-byte strings inside their
// views, 28-byte ones, and documents of half a kilobyte.
// run says how many rows an operation goes through.
func shapes(b *testing.B, run func(b *testing.B, c *Column) (rows int)) {
	for _, s := range []struct {
		name string
		rows int
		size int
	}{{"short", 300_000, 8}, {"medium", 300_000, 28}, {"docs", 36_000, 527}} {
		b.Run(s.name, func(b *testing.B) {
			rows := make([]string, s.rows)
			for i := range rows {
				row := fmt.Sprintf("%05d", i*7919%99991)
				rows[i] = row + strings.Repeat("x", s.size-len(row))
			}
			c, err := FromStrings(rows)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(c.PayloadBytes())
			b.ReportAllocs()
			n := run(b, c)
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkFromStrings(b *testing.B) {
	shapes(b, func(b *testing.B, c *Column) int {
		rows := c.Strings()
		for b.Loop() {
			if _, err := FromStrings(rows); err != nil {
				b.Fatal(err)
			}
		}
		return c.Len()
	})
}

func BenchmarkWherePrefix(b *testing.B) {
	shapes(b, func(b *testing.B, c *Column) int {
		var dst Selection
		for b.Loop() {
			dst = c.WherePrefixInto(dst, "012")
		}
		return c.Len()
	})
}

func BenchmarkWhereLength(b *testing.B) {
	shapes(b, func(b *testing.B, c *Column) int {
		var dst Selection
		for b.Loop() {
			dst = c.WhereLengthInto(dst, 9, 27)
		}
		return c.Len()
	})
}

func BenchmarkWhereContains(b *testing.B) {
	shapes(b, func(b *testing.B, c *Column) int {
		var dst Selection
		for b.Loop() {
			dst = c.WhereContainsInto(dst, "42x")
		}
		return c.Len()
	})
}

func BenchmarkWhereIn(b *testing.B) {
	shapes(b, func(b *testing.B, c *Column) int {
		set := NewSet(c.Strings()[:1000]...)
		var dst Selection
		for b.Loop() {
			dst = c.WhereInInto(dst, set)
		}
		return c.Len()
	})
}

func BenchmarkEqual(b *testing.B) {
	shapes(b, func(b *testing.B, c *Column) int {
		d, err := FromStrings(c.Strings())
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if !c.Equal(d) {
				b.Fatal("equal columns differ")
			}
		}
		return c.Len()
	})
}

func BenchmarkGPUBuffers(b *testing.B) {
	shapes(b, func(b *testing.B, c *Column) int {
		for b.Loop() {
			if _, _, err := c.GPUBuffers(); err != nil {
				b.Fatal(err)
			}
		}
		return c.Len()
	})
}

// BenchmarkGPUBuffersInto also says how fast the payload is packed beside a plain copy
// of as many bytes.
func BenchmarkGPUBuffersInto(b *testing.B) {
	shapes(b, func(b *testing.B, c *Column) int {
		n, size := c.GPUSize()
		offsets, payload := make([]uint32, n), make([]byte, size)
		pack := func() {
			if _, _, err := c.GPUBuffersInto(offsets, payload); err != nil {
				b.Fatal(err)
			}
		}
		for b.Loop() {
			pack()
		}
		src := bytes.Repeat([]byte("x"), int(size))
		packed, copied := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
		took := func(work func()) time.Duration {
			start := time.Now()
			work()
			return time.Since(start)
		}
		for range 50 { // in turns, so that what else runs is the same for both
			packed = min(packed, took(pack))
			copied = min(copied, took(func() { copy(payload, src) }), took(func() { copyPieces(payload, src) }))
		}
		b.ReportMetric(100*copied.Seconds()/packed.Seconds(), "%memcpy")
		return c.Len()
	})
}

// copyPieces copies src to dst piece by piece: from a megabyte on a copy goes past the
// cache, which is the slower way where dst would fit.
func copyPieces(dst, src []byte) {
	for piece := range slices.Chunk(src, 64<<10) {
		dst = dst[copy(dst, piece):]
	}
}

// BenchmarkGPUBuffersIntoShuffled packs rows that lie in any order, so that no
// two of them make one piece.
func BenchmarkGPUBuffersIntoShuffled(b *testing.B) {
	shapes(b, func(b *testing.B, c *Column) int {
		rows := make([]uint32, c.Len())
		for i := range rows {
			rows[i] = uint32(i * 7919 % len(rows))
		}
		c, err := c.Take(rows)
		if err != nil {
			b.Fatal(err)
		}
		n, size := c.GPUSize()
		offsets, payload := make([]uint32, n), make([]byte, size)
		for b.Loop() {
			if _, _, err := c.GPUBuffersInto(offsets, payload); err != nil {
				b.Fatal(err)
			}
		}
		return c.Len()
	})
}

func BenchmarkFromGPUBuffers(b *testing.B) {
	shapes(b, func(b *testing.B, c *Column) int {
		offsets, payload, err := c.GPUBuffers()
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := FromGPUBuffers(offsets, payload); err != nil {
				b.Fatal(err)
			}
		}
		return c.Len()
	})
}

func BenchmarkHashAllInto(b *testing.B) {
	shapes(b, func(b *testing.B, c *Column) int {
		var dst []uint64
		for b.Loop() {
			dst = c.HashAllInto(dst)
		}
		return c.Len()
	})
}

func BenchmarkTake(b *testing.B) {
	shapes(b, func(b *testing.B, c *Column) int {
		rows := make([]uint32, c.Len()/2)
		for i := range rows {
			rows[i] = uint32(2 * i)
		}
		for b.Loop() {
			if _, err := c.Take(rows); err != nil {
				b.Fatal(err)
			}
		}
		return len(rows)
	})
}

func BenchmarkCompact(b *testing.B) {
	shapes(b, func(b *testing.B, c *Column) int {
		c = c.FilterByPrefix("01")
		b.SetBytes(c.PayloadBytes())
		for b.Loop() {
			c.Compact()
		}
		return c.Len()
	})
}

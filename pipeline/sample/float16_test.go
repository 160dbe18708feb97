package sample

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// smallFloat is a binary format by its definition: sign, exponent and fraction.
type smallFloat struct{ exponent, fraction int }

func (s smallFloat) value(bits uint16) float64 {
	sign := 1.0
	if bits>>15 != 0 {
		sign = -1
	}
	bias := 1<<(s.exponent-1) - 1
	e := int(bits) >> s.fraction & (1<<s.exponent - 1)
	f := int(bits) & (1<<s.fraction - 1)
	switch {
	case e == 1<<s.exponent-1 && f != 0:
		return math.NaN()
	case e == 1<<s.exponent-1:
		return math.Inf(int(sign))
	case e == 0:
		return sign * math.Ldexp(float64(f), 1-bias-s.fraction)
	}
	return sign * math.Ldexp(float64(f+1<<s.fraction), e-bias-s.fraction)
}

// nearest finds the bits of the value nearest to x by halving. Values above zero
// are in the order of their bits. Infinity stands where the next power of two
// would be, as the standard has it.
func (s smallFloat) nearest(x float64) uint16 {
	var sign uint16
	if math.Signbit(x) {
		sign, x = 0x8000, -x
	}
	inf := uint16(1<<s.exponent-1) << s.fraction
	value := func(bits uint16) float64 {
		if bits == inf {
			return math.Ldexp(1, 1<<(s.exponent-1))
		}
		return s.value(bits)
	}
	lo, hi := uint16(0), inf // value(lo) ≤ x
	for lo+1 < hi {
		mid := lo + (hi-lo)/2
		if value(mid) <= x {
			lo = mid
		} else {
			hi = mid
		}
	}
	below, above := x-value(lo), value(hi)-x
	if below > above || below == above && lo&1 == 1 {
		lo = hi
	}
	return sign | lo
}

var half, brain = smallFloat{5, 10}, smallFloat{8, 7}

func sameFloat(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || a == b && math.Signbit(a) == math.Signbit(b)
}

func TestFloat16AllValues(t *testing.T) {
	for i := range 1 << 16 {
		bits := uint16(i)
		h, b := Float16(bits).Float32(), BFloat16(bits).Float32()
		if !sameFloat(float64(h), half.value(bits)) {
			t.Fatalf("f16 %#04x is %v, not %v", bits, h, half.value(bits))
		}
		if !sameFloat(float64(b), brain.value(bits)) {
			t.Fatalf("bf16 %#04x is %v, not %v", bits, b, brain.value(bits))
		}
		// There and back gives the bits again, of NaN the quiet one.
		wantH, wantB := bits, bits
		if h != h {
			wantH |= 1 << 9
		}
		if b != b {
			wantB |= 1 << 6
		}
		if got := Float16From(h); uint16(got) != wantH {
			t.Fatalf("f16 %#04x comes back as %#04x", wantH, got)
		}
		if got := BFloat16From(b); uint16(got) != wantB {
			t.Fatalf("bf16 %#04x comes back as %#04x", wantB, got)
		}
	}
}

func checkRounding(t *testing.T, f float32) {
	if f != f {
		return
	}
	if got, want := uint16(Float16From(f)), half.nearest(float64(f)); got != want {
		t.Fatalf("%v (%#08x) as f16 is %#04x, not %#04x", f, math.Float32bits(f), got, want)
	}
	if got, want := uint16(BFloat16From(f)), brain.nearest(float64(f)); got != want {
		t.Fatalf("%v (%#08x) as bf16 is %#04x, not %#04x", f, math.Float32bits(f), got, want)
	}
}

// The values half way between two neighbours, and the float32 next to those.
func TestFloat16Rounding(t *testing.T) {
	for i := range 1 << 16 {
		bits := uint16(i)
		for _, s := range []smallFloat{half, brain} {
			v := s.value(bits)
			next := s.value(bits + 1)
			if math.IsInf(next, 0) {
				next = math.Copysign(math.Ldexp(1, 1<<(s.exponent-1)), v)
			}
			mid := float32(v/2 + next/2)
			checkRounding(t, mid)
			checkRounding(t, math.Nextafter32(mid, float32(math.Inf(1))))
			checkRounding(t, math.Nextafter32(mid, float32(math.Inf(-1))))
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		checkRounding(t, math.Float32frombits(r.Uint32()))
		// Few random floats are within the range of F16.
		checkRounding(t, float32(math.Ldexp(r.Float64()-0.5, r.IntN(44)-26)))
	}
}

func TestFloat16QuietNaN(t *testing.T) {
	require.Equal(t, uint32(0x7fc02000), math.Float32bits(Float16(0x7c01).Float32()))
	require.Equal(t, uint32(0xffffe000), math.Float32bits(Float16(0xffff).Float32()))
}

func TestFloat16Limits(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		f    float32
		h, b uint16
	}{
		{0, 0, 0},
		{float32(math.Copysign(0, -1)), 0x8000, 0x8000},
		{1, 0x3c00, 0x3f80},
		{-2, 0xc000, 0xc000},
		{65504, 0x7bff, 0x4780},
		{65519.996, 0x7bff, 0x4780},
		{65520, 0x7c00, 0x4780},
		{inf, 0x7c00, 0x7f80},
		{-inf, 0xfc00, 0xff80},
		{math.MaxFloat32, 0x7c00, 0x7f80},
		{0x1p-24, 1, 0x3380},
		{0x1p-25, 0, 0x3300},
		{0x1.000002p-25, 1, 0x3300},
		{0x1p-14, 0x400, 0x3880},
		{math.SmallestNonzeroFloat32, 0, 0},
		{math.Float32frombits(0x7f800001), 0x7e00, 0x7fc0}, // signalling NaN
		{math.Float32frombits(0xffc12345), 0xfe09, 0xffc1},
	} {
		require.Equal(t, c.h, uint16(Float16From(c.f)), "%v as f16", c.f)
		require.Equal(t, c.b, uint16(BFloat16From(c.f)), "%v as bf16", c.f)
	}
}

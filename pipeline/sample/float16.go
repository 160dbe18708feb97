package sample

import "math"

// Float16 is an IEEE 754 binary16: 1 bit of sign, 5 of exponent, 10 of fraction.
// The largest finite value is 65504, the least above zero 2⁻²⁴.
type Float16 uint16

// BFloat16 is the upper half of a float32: 1 bit of sign, 8 of exponent, 7 of
// fraction.
type BFloat16 uint16

// Float16From returns the Float16 nearest to f, of two equally near ones that whose
// last bit is 0. From 65520 on that is infinity. NaN stays NaN, quiet, with its
// sign and the upper bits of its payload.
func Float16From(f float32) Float16 {
	b := math.Float32bits(f)
	sign := Float16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000:
		return sign | 0x7e00 | Float16(b>>13&0x3ff)
	case b >= 0x47800000: // 2¹⁶; below it the next case carries from 65520 on
		return sign | 0x7c00
	case b >= 0x38800000: // 2⁻¹⁴, the least normal Float16
		// Half of the last kept bit, less one if that is 0, carries into it and on
		// into the exponent.
		return sign | Float16((b-(127-15)<<23+0xfff+b>>13&1)>>13)
	case b <= 0x33000000: // 2⁻²⁵ is half way to the least value, 0 is even
		return sign
	}
	// Subnormal: the fraction counts 2⁻²⁴.
	shift := 126 - b>>23 // 14 to 24
	m := b&0x7fffff | 0x800000
	return sign | Float16((m+1<<(shift-1)-1+m>>shift&1)>>shift)
}

// Float32 returns the value, which a float32 holds exactly. A signalling NaN becomes
// quiet.
func (h Float16) Float32() float32 {
	sign, m := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	switch {
	case m > 0x7c00:
		return math.Float32frombits(sign | 0x7fc00000 | m&0x3ff<<13)
	case m == 0x7c00:
		return math.Float32frombits(sign | 0x7f800000)
	case m >= 0x400:
		return math.Float32frombits(sign | m<<13 + (127-15)<<23)
	}
	// Below the normal ones the fraction counts 2⁻²⁴, which float32 can do exactly.
	return math.Float32frombits(sign | math.Float32bits(float32(m)*0x1p-24))
}

// BFloat16From returns the BFloat16 nearest to f, of two equally near ones that
// whose last bit is 0; infinity above the largest finite one. NaN stays NaN, quiet, with
// its sign and the upper bits of its payload.
func BFloat16From(f float32) BFloat16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return BFloat16(b>>16 | 0x40)
	}
	return BFloat16((b + 0x7fff + b>>16&1) >> 16)
}

// Float32 returns the value, which a float32 holds exactly.
func (h BFloat16) Float32() float32 { return math.Float32frombits(uint32(h) << 16) }

//go:build !noasm

package cpu

import "github.com/klauspost/cpuid/v2"

// detect returns the highest level that the processor and the operating system have.
func detect() Level {
	switch {
	case !cpuid.CPU.Supports(cpuid.AVX2, cpuid.BMI1, cpuid.BMI2, cpuid.POPCNT):
		return Generic
	case !cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL):
		return AVX2
	default:
		return AVX512
	}
}

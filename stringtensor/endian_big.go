//go:build armbe || arm64be || m68k || mips || mips64 || mips64p32 || ppc || ppc64 || s390 || s390x || shbe || sparc || sparc64

package stringtensor

// Views are little endian in memory, as Arrow's are, and are read as whole
// words. This package does not build for big-endian machines.
var _ = littleEndianMachineRequired

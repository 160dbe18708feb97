package cpu

// Level says which instructions the loops use.
type Level uint8

// The levels, each with all that the one before has.
const (
	Generic Level = iota // plain Go
	AVX2                 // AVX2, BMI1, BMI2, POPCNT
	AVX512               // AVX-512 F, BW, DQ, VL
)

var levelNames = [...]string{"generic", "avx2", "avx512"}

// String returns the name that ROSALINE_CPU knows the level by.
func (l Level) String() string { return levelNames[l] }

// Active returns the level that was chosen when the program started.
func Active() Level { return Generic }

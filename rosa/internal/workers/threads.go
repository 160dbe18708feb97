package workers

import (
	"math"
	"os"
	"runtime"
	"strconv"
)

// Variable is the environment variable that says how many threads to use.
const Variable = "ROSA_NATIVE_THREADS"

// Most is how many threads a pool has at most.
const Most = 16

// Threads returns how many threads are for so many rows: as many as asked for or, if that
// is 0, as [Variable] says, but no more than CPUs, rows and [Most].
func Threads(asked, rows int) int {
	if asked == 0 {
		asked = math.MaxInt
		if value, set := os.LookupEnv(Variable); set {
			asked = number(value)
		}
	}
	return max(1, min(asked, rows, cpus(), Most))
}

var cpus = func() int { return runtime.GOMAXPROCS(0) }

// number reads the value of the variable: digits of a positive number, anything else is 1.
// A number beyond an int is many.
func number(value string) int {
	for _, c := range []byte(value) {
		if c < '0' || c > '9' {
			return 1
		}
	}
	n, err := strconv.Atoi(value) // of digits alone, MaxInt if that is less
	if n == 0 || err != nil && n != math.MaxInt {
		return 1
	}
	return n
}

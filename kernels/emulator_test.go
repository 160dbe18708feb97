//go:build cuda

package kernels_test

import (
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEmulator: kernels of its own, with answers by plain loops, in each order of threads. Wrong
// ones are wrong in the orders that show it, or end the program.
func TestEmulator(t *testing.T) {
	cxx := os.Getenv("CXX")
	if cxx == "" {
		cxx = "c++"
	}
	if _, err := exec.LookPath(cxx); err != nil {
		t.Skip("the kernels of this test need a C++ compiler: ", err)
	}
	program := filepath.Join(t.TempDir(), "emulated")
	out, err := exec.Command(cxx, "-std=c++17", "-O1", "-Wall", "-o", program, "testdata/emulated.cpp", "emu/block.cpp").CombinedOutput()
	require.NoError(t, err, "%s", out)
	run := func(order, kernel string, blocks, threads int) (out string, err error) {
		cmd := exec.Command(program, kernel, strconv.Itoa(blocks), strconv.Itoa(threads))
		cmd.Env = append(os.Environ(), "ROSALINE_EMU_ORDER="+order)
		b, err := cmd.CombinedOutput()
		return string(b), err
	}

	const threads = 40 // a warp and a part of one
	lanes := func(i int) int { return min(32, threads-i/32*32) }
	for _, c := range []struct {
		kernel          string
		blocks, threads int
		want            func(i int) int // of the i-th number that is written
		numbers         int
		wrong           string // the orders in which it is
	}{
		{"scan", 1, threads, func(i int) int {
			sum := 0
			for k := i / 32 * 32; k <= i; k++ {
				sum += k + 1
			}
			return sum
		}, threads, ""},
		{"shuffles", 1, threads, func(i int) int {
			i, what := i/4, i%4
			base, lane := i/32*32, i%32
			switch {
			case what == 0:
				return base + 5
			case what == 1 && lane+3 < lanes(i):
				return i + 3
			case what == 2:
				return i ^ 1
			case what == 3:
				return i/8*8 + 2
			}
			return i
		}, 4 * threads, ""},
		{"votes", 1, threads, func(i int) int {
			i, what := i/4, i%4
			base := i / 32 * 32
			switch what {
			case 0:
				word := 0
				for l := range lanes(i) {
					if (base+l)%3 == 0 {
						word |= 1 << l
					}
				}
				return word
			case 1:
				return base / 32 // 33 is in the second
			case 2:
				return 1 - base/32
			}
			ffs := 0
			if i > 0 {
				ffs = bits.TrailingZeros32(uint32(i)) + 1
			}
			return bits.OnesCount32(uint32(i))*10000 + ffs*100 + bits.LeadingZeros32(uint32(i))
		}, 4 * threads, ""},
		{"atomics", 3, threads, func(i int) int {
			return []int{3 * threads * (3*threads - 1) / 2, 1<<threads - 1, 3 * 3 * threads}[i]
		}, 3, ""},
		{"reverse", 2, 64, func(i int) int { return 63 - i }, 64, ""},
		{"left", 1, 64, func(i int) int { return i - 1 }, 64, "rev rand"},
		{"right", 1, 64, func(i int) int {
			if i == 63 {
				return -1
			}
			return i + 1
		}, 64, "fwd rand"},
		{"blocks_in_order", 9, 1, func(i int) int { return 7 + i }, 9, "rev rand"},
	} {
		for _, order := range []string{"fwd", "rev", "rand"} {
			out, err := run(order, c.kernel, c.blocks, c.threads)
			require.NoError(t, err, "%s, %s: %s", c.kernel, order, out)
			got := strings.Fields(out)[:c.numbers]
			want := make([]string, c.numbers)
			for i := range want {
				want[i] = strconv.Itoa(c.want(i))
			}
			if strings.Contains(c.wrong, order) {
				require.NotEqual(t, want, got, "%s, %s", c.kernel, order)
			} else {
				require.Equal(t, want, got, "%s, %s", c.kernel, order)
			}
		}
	}

	for kernel, says := range map[string]string{
		"lane_gone":       "wait for ones that do not come",
		"thread_gone":     "wait for ones that do not come",
		"two_barriers":    "different barriers",
		"outside_mask":    "leaves it out",
		"two_collectives": "different collectives",
		"index_outside":   "index 64 of shared memory of 64",
		"write_behind":    "a write 0 bytes behind shared memory",
		"deep":            "",
	} {
		for _, order := range []string{"fwd", "rev", "rand"} {
			out, err := run(order, kernel, 1, 64)
			require.Error(t, err, "%s, %s", kernel, order)
			require.Contains(t, out, says, "%s, %s", kernel, order)
		}
	}
	out2, err := run("sideways", "scan", 1, 1)
	require.Error(t, err)
	require.Contains(t, out2, "there are fwd, rev and rand")
}

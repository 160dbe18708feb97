package kernels_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/kernels"
)

var update = flag.Bool("update", false, "record the resources that the compiler reports")

const recorded = "resources.txt"

// resources is what a kernel takes of a device on one architecture, as ptxas reports it.
type resources struct {
	kernel, arch string
	registers    int // of each thread
	shared       int // bytes of each block
	stack        int // bytes of each thread
	stores       int // bytes spilled by each thread
	loads        int // bytes of spills read back
}

func (r resources) String() string {
	return fmt.Sprintf("%-16s %-7s %3d %6d %5d %6d %6d", r.kernel, r.arch, r.registers, r.shared, r.stack, r.stores, r.loads)
}

var (
	entryLine   = regexp.MustCompile(`Compiling entry function '(\w+)' for '(\w+)'`)
	spillLine   = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	usedLine    = regexp.MustCompile(`Used (\d+) registers`)
	sharedPart  = regexp.MustCompile(`(\d+) bytes smem`)
	releaseLine = regexp.MustCompile(`release [\d.]+, (V[\d.]+)`)
)

// parse reads what nvcc --version and nvcc -Xptxas -v print.
func parse(log string) (release string, list []resources, err error) {
	number := func(s string) int {
		n, e := strconv.Atoi(s)
		if e != nil && err == nil {
			err = e
		}
		return n
	}
	var open *resources
	for line := range strings.Lines(log) {
		if m := releaseLine.FindStringSubmatch(line); m != nil {
			release = m[1]
		}
		if m := entryLine.FindStringSubmatch(line); m != nil {
			if open != nil {
				return "", nil, fmt.Errorf("no registers of %s for %s", open.kernel, open.arch)
			}
			open = &resources{kernel: m[1], arch: m[2], stack: -1}
		}
		if open == nil {
			continue
		}
		if m := spillLine.FindStringSubmatch(line); m != nil {
			open.stack, open.stores, open.loads = number(m[1]), number(m[2]), number(m[3])
		}
		if m := usedLine.FindStringSubmatch(line); m != nil {
			open.registers = number(m[1])
			if m := sharedPart.FindStringSubmatch(line); m != nil {
				open.shared = number(m[1])
			}
			if open.stack < 0 {
				return "", nil, fmt.Errorf("no spills of %s for %s", open.kernel, open.arch)
			}
			list, open = append(list, *open), nil
		}
	}
	if open != nil {
		return "", nil, fmt.Errorf("no registers of %s for %s", open.kernel, open.arch)
	}
	if release == "" || len(list) == 0 {
		return "", nil, fmt.Errorf("this is no report of nvcc")
	}
	return release, list, err
}

// record lays the figures out as resources.txt has them.
func record(release string, list []resources) string {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b resources) int { return strings.Compare(a.String(), b.String()) })
	var b strings.Builder
	fmt.Fprintf(&b, "# By nvcc %s: registers, stack and spills a thread, shared memory a block; all but registers in bytes.\n", release)
	fmt.Fprintf(&b, "# %-14s %-7s %3s %6s %5s %6s %6s\n", "kernel", "arch", "reg", "shared", "stack", "stores", "loads")
	for _, r := range list {
		fmt.Fprintln(&b, r)
	}
	return b.String()
}

// TestResources: what was built takes what is recorded, and spills nothing.
func TestResources(t *testing.T) {
	logs, err := filepath.Glob("build/*.log")
	require.NoError(t, err)
	if len(logs) == 0 {
		t.Skip("the kernels are not built: make kernels")
	}
	var all []resources
	var release string
	for _, path := range logs {
		log, err := os.ReadFile(path)
		require.NoError(t, err)
		r, list, err := parse(string(log))
		require.NoError(t, err, path)
		require.True(t, release == "" || release == r, "%s is by nvcc %s, others by %s", path, r, release)
		release, all = r, append(all, list...)
	}
	for _, r := range all {
		require.Zero(t, r.stores+r.loads, "%s spills registers on %s", r.kernel, r.arch)
	}
	if *update {
		require.NoError(t, os.WriteFile(recorded, []byte(record(release, all)), 0o644))
	}
	want, err := os.ReadFile(recorded)
	require.NoError(t, err)
	if !strings.Contains(string(want), "nvcc "+release+":") {
		t.Skipf("built by nvcc %s, the record is by another", release)
	}
	require.Equal(t, string(want), record(release, all), "record a change that is meant with -update")
}

// TestRecorded: each kernel of the sources is there for each architecture, and none spills.
func TestRecorded(t *testing.T) {
	text, err := os.ReadFile(recorded)
	require.NoError(t, err)
	found := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Fields(line)
		require.Len(t, f, 7, line)
		require.Equal(t, []string{"0", "0"}, f[5:], "%s spills registers on %s", f[0], f[1])
		found[f[0]+" "+f[1]] = true
	}
	sources, err := filepath.Glob("*.cu")
	require.NoError(t, err)
	n := 0
	for _, path := range sources {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?m)^KERNEL\((\w+),`).FindAllSubmatch(source, -1) {
			for _, arch := range []string{"sm_80", "sm_90", "sm_100"} {
				require.True(t, found[string(m[1])+" "+arch], "%s on %s is not recorded", m[1], arch)
				n++
			}
		}
	}
	require.Equal(t, n, len(found), "kernels are recorded that there are not")
}

func TestParse(t *testing.T) {
	const head = "Cuda compilation tools, release 13.0, V13.0.88\nptxas info    : 0 bytes gmem\n"
	const first = `ptxas info    : Compiling entry function 'twist' for 'sm_80'
ptxas info    : Function properties for twist
    8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 272 bytes smem, 400 bytes cmem[0]
ptxas info    : Compile time = 33.682 ms
`
	const second = `ptxas info    : Compiling entry function 'turn' for 'sm_100'
ptxas info    : Function properties for turn
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers
`
	release, list, err := parse(head + first + second)
	require.NoError(t, err)
	require.Equal(t, "V13.0.88", release)
	require.Equal(t, []resources{{"twist", "sm_80", 255, 272, 8, 16, 24}, {"turn", "sm_100", 12, 0, 0, 0, 0}}, list)
	for _, bad := range []string{"", head, first, head + first[:100] + second, head + first[:200]} {
		_, _, err := parse(bad)
		require.Error(t, err, bad)
	}
}

// TestConstants: what Go knows of the sources is what they say.
func TestConstants(t *testing.T) {
	for path, lines := range map[string][]string{
		"kernel.cuh": {fmt.Sprintf("#define BLOCK %d\n", kernels.Block)},
		"where.cu":   {fmt.Sprintf("#define CHUNK %d\n", kernels.ContainsChunk)},
	} {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, l := range lines {
			require.Contains(t, string(text), l)
		}
	}
}

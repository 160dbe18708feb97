package hugepages_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/internal/hugepages"
)

// TestPrefer: the kernel's list of mappings tells that the advice came, and what was there
// is there afterwards.
func TestPrefer(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the advice is of Linux")
	}
	s := make([]uint64, 4*hugepages.Size/8)
	s[12345] = 1
	hugepages.Prefer(s[:0])
	hugepages.Prefer([]byte(nil))
	for i, x := range s {
		require.True(t, x == 0 || i == 12345 && x == 1)
	}
	b, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	if !strings.Contains(string(b), "VmFlags:") {
		t.Skip("the kernel does not tell")
	}
	var from, to uint64
	at := uint64(uintptr(unsafe.Pointer(&s[len(s)-1])))
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "VmFlags:") {
			if from <= at && at < to {
				if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err == nil {
					require.Contains(t, strings.Fields(line), "hg")
				}
				return
			}
			continue
		}
		_, _ = fmt.Sscanf(line, "%x-%x ", &from, &to)
	}
	t.Fatal("no mapping of the memory")
}

func ExamplePrefer() {
	table := make([]uint32, 1<<24)
	hugepages.Prefer(table)
	fmt.Println(len(table))
	// Output: 16777216
}

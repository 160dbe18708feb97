//go:build cuda && cgo && linux

package gpu

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLazy: a program that asks for no device does not load the driver, though gorgonia.org/cu
// calls cuInit when it starts. This driver ends whoever loads it.
func TestLazy(t *testing.T) {
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	if _, err := exec.LookPath(cc); err != nil {
		t.Skip("the driver of this test needs a C compiler: ", err)
	}
	dir := t.TempDir()
	source, library := filepath.Join(dir, "trap.c"), filepath.Join(dir, "trap.so")
	require.NoError(t, os.WriteFile(source, []byte("#include <unistd.h>\n__attribute__((constructor)) static void trap(void) { _exit(42); }\n"), 0o600))
	out, err := exec.Command(cc, "-shared", "-fPIC", "-o", library, source).CombinedOutput()
	require.NoError(t, err, "%s", out)

	self, err := os.Executable()
	require.NoError(t, err)
	run := func(test string) int {
		cmd := exec.Command(self, "-test.run", test)
		cmd.Env = append(os.Environ(), "ROSALINE_LIBCUDA="+library)
		_ = cmd.Run()
		return cmd.ProcessState.ExitCode()
	}
	require.Equal(t, 0, run("^TestUsable$"))
	require.Equal(t, 42, run("^TestNoDevice$"))
}

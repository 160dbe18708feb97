package cudashim_test

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/internal/cudashim"
)

// The driver is loaded once in a process, so each state needs one of its own.
func TestMain(m *testing.M) {
	if os.Getenv("ROSALINE_TEST_STATUS") != "" {
		err := cudashim.Status()
		fmt.Printf("%s\n%v\n%v\n", kind(err), err, cudashim.Status())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func kind(err error) string {
	for name, sentinel := range map[string]error{
		"not built": cudashim.ErrNotBuilt, "no driver": cudashim.ErrNoDriver, "no device": cudashim.ErrNoDevice,
		"too old": cudashim.ErrDriverTooOld, "init failed": cudashim.ErrInitFailed, "broken": cudashim.ErrBrokenDriver,
	} {
		if errors.Is(err, sentinel) {
			return name
		}
	}
	if err == nil {
		return "ready"
	}
	return "unknown"
}

// status returns what Status says of the driver at a path: its kind and its message.
func status(t *testing.T, library string) (kind, message string) {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "ROSALINE_TEST_STATUS=1", "ROSALINE_LIBCUDA="+library)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, lines, 3, "%s", out)
	require.Equal(t, lines[1], lines[2], "the second answer differs")
	return lines[0], lines[1]
}

func TestStatus(t *testing.T) {
	if errors.Is(cudashim.Status(), cudashim.ErrNotBuilt) {
		t.Skip(cudashim.ErrNotBuilt)
	}
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	if _, err := exec.LookPath(cc); err != nil {
		t.Skip("the drivers of this test need a C compiler: ", err)
	}
	dir := t.TempDir()
	driver := func(name string, flags ...string) string {
		path := filepath.Join(dir, name+".so")
		out, err := exec.Command(cc, append(flags, "-shared", "-fPIC", "-o", path, "testdata/driver.c")...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return path
	}
	text := filepath.Join(dir, "text.so")
	require.NoError(t, os.WriteFile(text, []byte("not a library\n"), 0o600))
	empty := filepath.Join(dir, "empty.so")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	cut := driver("cut")
	whole, err := os.ReadFile(cut)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(cut, whole[:200], 0o600))
	part := driver("part")
	orphan := driver("orphan", "-Wl,--no-as-needed", part)
	require.NoError(t, os.Remove(part))

	for _, c := range []struct{ name, library, kind, message string }{
		{"a driver that works", driver("works"), "ready", "<nil>"},
		{"one that is newer", driver("newer", "-DVERSION=14020"), "ready", "<nil>"},
		{"switched off", "none", "no driver", "ROSALINE_LIBCUDA is none"},
		{"no such file", filepath.Join(dir, "absent.so"), "no driver", "absent.so: cannot open"},
		{"cuInit finds no device", driver("init100", "-DINIT=100"), "no device", "finds none"},
		{"a count of none", driver("count0", "-DDEVICES=0"), "no device", "finds none"},
		{"the last of the major version before", driver("old", "-DVERSION=12090"), "too old", "is for CUDA 12.9, at least 13.0 is needed"},
		{"old, and does not start", driver("oldbad", "-DVERSION=12080", "-DINIT=999"), "too old", "is for CUDA 12.8"},
		{"cuInit fails", driver("init999", "-DINIT=999"), "init failed", "answers 999, CUDA_ERROR_UNKNOWN"},
		{"not a library", text, "broken", "text.so"},
		{"an empty file", empty, "broken", "empty.so"},
		{"the beginning of a library", cut, "broken", "cut.so"},
		{"a library it needs is missing", orphan, "broken", "part.so"},
		{"lacks a function", driver("lacks", "-DNO_VERSION"), "broken", "lacks cuDriverGetVersion"},
	} {
		t.Run(c.name, func(t *testing.T) {
			kind, message := status(t, c.library)
			require.Equal(t, c.kind, kind, message)
			require.Contains(t, message, c.message)
		})
	}
}

// TestHidden: a name that the program exported would take the calls of the real libcuda to
// itself, and a library that it needed would keep it from starting without one.
func TestHidden(t *testing.T) {
	if errors.Is(cudashim.Status(), cudashim.ErrNotBuilt) {
		t.Skip(cudashim.ErrNotBuilt)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	program, err := elf.Open(self)
	require.NoError(t, err)
	defer program.Close()
	libraries, err := program.ImportedLibraries()
	require.NoError(t, err)
	for _, l := range libraries {
		require.NotContains(t, l, "cuda")
	}
	symbols, err := program.DynamicSymbols()
	require.NoError(t, err)
	require.NotEmpty(t, symbols)
	for _, s := range symbols {
		require.NotRegexp(t, `^(cu[A-Z]|shim_)`, s.Name)
	}
}

func TestNotBuilt(t *testing.T) {
	if err := cudashim.Status(); !errors.Is(err, cudashim.ErrNotBuilt) {
		t.Skip("built with CUDA: ", err)
	}
	kind, message := status(t, "")
	require.Equal(t, "not built", kind)
	require.Contains(t, message, "tag cuda")
}

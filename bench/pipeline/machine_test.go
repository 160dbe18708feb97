package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMachineTellsItsCores(t *testing.T) {
	require.Contains(t, machine(), fmt.Sprintf("%d cores", runtime.NumCPU()))
	require.Contains(t, machine(), runtime.GOOS)
}

func TestFind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loadavg")
	require.NoError(t, os.WriteFile(path, []byte("0.25 0.50 0.75 1/100 42\n"), 0o600))
	require.Equal(t, "0.25", find(path, `^(\S+) `))
	require.Empty(t, find(path, `^(x)`))
	require.Empty(t, find(path+"?", `^(\S+)`))
}

func TestSaysOfACommandThatIsNotThere(t *testing.T) {
	require.Equal(t, "unknown", says("./no such program"))
}

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/cpu"
)

func TestVersion(t *testing.T) {
	r := process(t, t.TempDir(), "", "--version")
	require.Equal(t, exitDone, r.code)
	require.Empty(t, r.err)
	require.Equal(t, "rosaline v0.0.0-test\ncommit: c0ffee\ngo: "+runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH+"\ntags: none\ncpu: "+cpu.Active().String()+"\n", r.out)
}

func TestDevices(t *testing.T) {
	r := inProcess(t, "", "devices")
	require.Equal(t, exitDone, r.code)
	require.Contains(t, r.out, "cpu: ")
	require.Contains(t, r.out, "gpu: none used: this build has no device support")
	require.Empty(t, r.err)
}

func TestLogFormat(t *testing.T) {
	r := inProcess(t, "", "run", "-", "--log-format", "json", "--report", "-", "-o", os.DevNull)
	require.Equal(t, exitDone, r.code, r.err)
	first, _, _ := strings.Cut(r.err, "\n")
	var message map[string]any
	require.NoError(t, json.Unmarshal([]byte(first), &message))
	require.Equal(t, "INFO", message["level"])
	require.True(t, json.Valid([]byte(r.out)), "the report")

	r = inProcess(t, "", "run", "-", "--log-level", "error")
	require.NotContains(t, r.err, "INFO")
}

func TestHelpGoesToStdout(t *testing.T) {
	r := inProcess(t, "", "run", "--help")
	require.Equal(t, exitDone, r.code)
	require.Contains(t, r.out, "--max-symbol-ratio")
	require.Empty(t, r.err)
}

// TestUnknownLevel: a level that is not known is told, and does not end the command.
func TestUnknownLevel(t *testing.T) {
	cmd := exec.Command(binary, "devices")
	cmd.Env = append(os.Environ(), "ROSALINE_CPU=sse9")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err)
	require.Contains(t, string(out), `\"sse9\" is none of generic, avx2, avx512; using `+cpu.Best().String())
}

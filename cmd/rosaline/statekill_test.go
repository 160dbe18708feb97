//go:build unix

package main

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// killsVariable says how many processes TestKilledRuns kills.
const killsVariable = "ROSALINE_KILLS"

// kills is that number.
func kills(t *testing.T) int {
	if s := os.Getenv(killsVariable); s != "" {
		n, err := strconv.Atoi(s)
		require.NoError(t, err, killsVariable)
		return n
	}
	if testing.Short() {
		return 8
	}
	return 20
}

// treeSum is the hash of all that is in a folder.
func treeSum(t *testing.T, dir string) string {
	h := sha256.New()
	files := tree(t, dir)
	for _, name := range sortedKeys(files) {
		fmt.Fprintf(h, "%s %d\n%s", name, len(files[name]), files[name])
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// TestKilledRuns: processes are killed at random moments, by SIGKILL and now and then by
// SIGTERM, and the same command is given again until it ends by itself.
func TestKilledRuns(t *testing.T) {
	var in strings.Builder
	for i := range 1200 {
		n := i
		if i%5 == 0 {
			n = i / 2
		}
		in.WriteString(record(fmt.Sprint(i), prose(n)))
	}
	source := write(t, t.TempDir(), "in.jsonl", in.String())
	variants := [][]string{
		{"-o", "out/clean.jsonl", "--shuffle", "100"},
		{"-o", "out/parts/", "--shard-rows", "100", "--commit-every", "3"},
		{"-o", "out/clean.jsonl.gz", "--epochs", "2"},
		{"-o", "out/parts/", "--out-format", "parquet", "--shard-rows", "60"},
	}
	share, killed, terminated, completed := (kills(t)+len(variants)-1)/len(variants), 0, 0, 0
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	for _, v := range variants {
		dir := t.TempDir()
		out := filepath.Join(dir, "out")
		command := func(state string) *exec.Cmd {
			args := append([]string{"run", source, "--batch", "8", "--rejects", "out/rejects.jsonl", "--state", state, "--progress", "off"}, v...)
			cmd := exec.Command(binary, args...)
			cmd.Dir = dir
			return cmd
		}
		require.NoError(t, os.Mkdir(out, 0o755))
		begun := time.Now()
		said, err := command("whole").CombinedOutput()
		require.NoError(t, err, "%s", said)
		took := time.Since(begun)
		want := treeSum(t, out)

		for round, mine := 0, 0; mine < share; round++ {
			require.NoError(t, os.RemoveAll(out))
			require.NoError(t, os.Mkdir(out, 0o755))
			for done := false; !done; {
				cmd := command(fmt.Sprint("state", round))
				var said strings.Builder
				cmd.Stdout, cmd.Stderr = &said, &said
				require.NoError(t, cmd.Start())
				signal := syscall.SIGKILL
				if rng.IntN(4) == 0 {
					signal = syscall.SIGTERM
				}
				if mine < share {
					timer := time.AfterFunc(time.Duration(rng.Int64N(int64(took))), func() { _ = cmd.Process.Signal(signal) })
					defer timer.Stop()
				}
				err := cmd.Wait()
				status := cmd.ProcessState.Sys().(syscall.WaitStatus)
				switch {
				case err == nil:
					done = true
				case status.Signaled() && status.Signal() == syscall.SIGKILL:
					killed++
					mine++
				case cmd.ProcessState.ExitCode() == exitInterrupted, status.Signaled() && status.Signal() == syscall.SIGTERM: // before it listens
					terminated++
				default:
					require.NoError(t, err, "%v: %s", v, said.String())
				}
			}
			completed++
			require.Equal(t, want, treeSum(t, out), "%v", v)
		}
	}
	t.Logf("%d killed, %d terminated, %d runs completed", killed, terminated, completed)
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

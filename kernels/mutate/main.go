// Command mutate breaks the kernels in many small ways, one at a time, and runs the tests of
// package gpu on the emulated driver with each: in the orders fwd, rev and rand, until one
// fails. A change that no order notices is an error, unless mutants.txt has it, with the reason
// why it changes nothing; one that is listed there must pass and must exist.
//
//	mutate -test build/gpu.test
//
// It is run at the root of the module, where make has built the emulator.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	list  = "kernels/mutants.txt"
	build = "kernels/build"
	// A test that takes this long does not end; they take a second.
	limit = 20 * time.Second
)

var orders = []string{"fwd", "rev", "rand"}

// readSame reads the list of changes that make no difference: function, line, change and
// reason, with tabs between them.
func readSame(text string) (map[string]string, error) {
	same := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 4 || f[3] == "" {
			return nil, fmt.Errorf("%q: want function, line, change and reason, with tabs between them", line)
		}
		key := strings.Join(f[:3], "\t")
		if same[key] != "" {
			return nil, fmt.Errorf("%q is there twice", line)
		}
		same[key] = f[3]
	}
	return same, nil
}

// run is the trial of one mutant: how it was noticed, "" if it was not.
type run struct {
	dir, source, test string // where to work, the path of the source, the test binary
}

func (r run) try(m mutant) (string, error) {
	path := filepath.Join(r.dir, filepath.Base(r.source))
	if err := os.WriteFile(path, []byte(m.source), 0o600); err != nil {
		return "", err
	}
	cxx := os.Getenv("CXX")
	if cxx == "" {
		cxx = "c++"
	}
	library := filepath.Join(r.dir, "libcuda.so")
	args := []string{"-std=c++17", "-O0", "-fPIC", "-fvisibility=hidden", "-shared", "-o", library, "-Ikernels", "-include", "kernels/emu/emu.h", "-x", "c++", path, "-x", "none"}
	objects, err := filepath.Glob(filepath.Join(build, "emu_*.o"))
	if err != nil {
		return "", err
	}
	own := "emu_" + strings.TrimSuffix(filepath.Base(r.source), ".cu") + ".o"
	for _, o := range objects {
		if filepath.Base(o) != own {
			args = append(args, o)
		}
	}
	if out, err := exec.Command(cxx, args...).CombinedOutput(); err != nil {
		if m.change == m.line {
			return "", fmt.Errorf("%s\n%w", out, err)
		}
		return "not compiled", nil
	}
	for _, order := range orders {
		how, err := r.order(library, order)
		if how != "" || err != nil {
			return order + ": " + how, err
		}
	}
	return "", nil
}

var (
	emulator = regexp.MustCompile(`(?m)^emu: (block .*|.* memory.*)$`)
	failed   = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)
)

func (r run) order(library, order string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.test, "-test.run", "^TestWhere", "-test.failfast", "-rapid.nofailfile", "-rapid.shrinktime=0s")
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "ROSALINE_LIBCUDA="+library, "ROSALINE_EMU_ORDER="+order, "ROSALINE_NEED_DEVICE=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "does not end", nil
	case !errors.As(err, &exit):
		return "", err
	}
	if m := emulator.FindSubmatch(out.Bytes()); m != nil {
		return string(m[1]), nil
	}
	if m := failed.FindSubmatch(out.Bytes()); m != nil {
		return "fails " + string(m[1]), nil
	}
	if bytes.Contains(out.Bytes(), []byte("SIGSEGV")) || bytes.Contains(out.Bytes(), []byte("SIGBUS")) {
		return "touches memory that is not its own", nil
	}
	return "fails", nil
}

func mutate(test string, workers int) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	same, err := readSame(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", list, err)
	}
	if test, err = filepath.Abs(test); err != nil {
		return err
	}
	sources, err := filepath.Glob("kernels/*.cu")
	if err != nil {
		return err
	}
	type job struct {
		source string
		mutant mutant
	}
	var jobs []job
	for _, path := range sources {
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		// First of all the source as it is, which has to pass.
		jobs = append(jobs, job{path, mutant{function: "all", line: "no change", change: "no change", source: string(source)}})
		for _, m := range mutants(string(source)) {
			jobs = append(jobs, job{path, m})
		}
	}

	var (
		wait   sync.WaitGroup
		lock   sync.Mutex
		next   = make(chan job)
		bad    []error
		caught int
		seen   = map[string]bool{}
	)
	for range workers {
		dir, err := os.MkdirTemp("", "mutate")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		wait.Go(func() {
			for j := range next {
				how, err := run{dir, j.source, test}.try(j.mutant)
				lock.Lock()
				key := j.mutant.key()
				reason := same[key]
				if j.mutant.number == 0 {
					reason = "it is the source as it is"
				}
				seen[key] = true
				switch {
				case err != nil:
					bad = append(bad, fmt.Errorf("%v: %w", j.mutant, err))
				case how == "" && reason == "":
					bad = append(bad, fmt.Errorf("not noticed: %v", j.mutant))
				case how != "" && reason != "":
					bad = append(bad, fmt.Errorf("noticed (%s) though %s: %v", how, reason, j.mutant))
				case how != "":
					caught++
				}
				if how == "" {
					how = "passes"
				}
				fmt.Printf("%v  (%s)\n", j.mutant, how)
				lock.Unlock()
			}
		})
	}
	for _, j := range jobs {
		next <- j
	}
	close(next)
	wait.Wait()
	for key := range same {
		if !seen[key] {
			bad = append(bad, fmt.Errorf("%s lists a change that cannot be made: %s", list, strings.ReplaceAll(key, "\t", "  ")))
		}
	}
	fmt.Printf("%d changes, %d noticed, %d make no difference\n", len(jobs)-len(sources), caught, len(same))
	return errors.Join(bad...)
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("mutate: ")
	test := flag.String("test", "kernels/build/gpu.test", "the tests of package gpu, built with tag cuda")
	workers := flag.Int("workers", runtime.NumCPU(), "how many changes are tried at once")
	flag.Parse()
	if err := mutate(*test, *workers); err != nil {
		log.Fatal(err)
	}
}

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "rosa:", err)
		os.Exit(1)
	}
}

// lengths of the inputs; the last one is of those that are made to be slow alone.
var lengths = []int{10_000, 100_000, 1_000_000, 10_000_000}

func run(args []string, out io.Writer) error {
	j := &job{}
	f := flag.NewFlagSet("rosa", flag.ContinueOnError)
	write := f.String("write", "", "make the inputs in that `folder`, and list them, nothing else")
	long := f.Bool("long", false, "with -write: those of ten million tokens too")
	name := f.String("job", "", "what is timed")
	path := f.String("input", "", "`file` of tokens")
	n := f.Int("n", 0, "how many of them; 0 for all")
	f.IntVar(&j.k, "k", 16, "suffixes of candidates")
	f.IntVar(&j.r, "r", 4, "occurrences of candidates")
	f.IntVar(&j.rows, "rows", 64, "rows of a batch")
	f.IntVar(&j.threads, "threads", 1, "threads of a batch")
	f.BoolVar(&j.check, "check", false, "tell the CRC-32 of the answers")
	f.DurationVar(&j.minTime, "min-time", 300*time.Millisecond, "repeat the job for so long")
	f.IntVar(&j.repetitions, "repetitions", 1000, "most repetitions")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *write != "" {
		return writeInputs(*write, *long, out)
	}
	do := jobs[*name]
	if do == nil {
		return fmt.Errorf("no job %q", *name)
	}
	var err error
	if j.tokens, err = readTokens(*path); err != nil {
		return err
	}
	if *n > 0 {
		if *n > len(j.tokens) {
			return fmt.Errorf("%s has %d tokens, not %d", *path, len(j.tokens), *n)
		}
		j.tokens = slices.Clip(j.tokens[:*n])
	}
	if len(j.tokens) == 0 || len(j.tokens)%j.rows != 0 && slices.Contains([]string{"batch step", "batch prefill"}, *name) {
		return errors.New("the tokens do not fill the rows")
	}
	r, err := do(j)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(r)
}

// listed is the line about a file of tokens.
type listed struct {
	Name string `json:"name"`
	Kind kind   `json:"kind"`
	N    int    `json:"n"`
	File string `json:"file"`
}

// writeInputs makes the inputs and prints a line about each.
func writeInputs(dir string, long bool, out io.Writer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	e := json.NewEncoder(out)
	for _, in := range inputs {
		for _, n := range lengths {
			if n == lengths[3] && (!long || in.kind != worst) {
				continue
			}
			if err := in.write(dir, n); err != nil {
				return err
			}
			if err := e.Encode(listed{in.name, in.kind, n, in.fileName(n)}); err != nil {
				return err
			}
		}
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/rosaline-go/rosaline/bench/pipeline/protocol"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "pipeline:", err)
		os.Exit(1)
	}
}

// config is what the flags say.
type config struct {
	rosaline, tenshift string
	without            string
	scratch            string
	cases              *regexp.Regexp
	rounds, shrink     int
	limit              time.Duration
	out                string
	command            string
}

func parse(args []string, log io.Writer) (config, error) {
	var c config
	f := flag.NewFlagSet("pipeline", flag.ContinueOnError)
	f.SetOutput(log)
	f.StringVar(&c.rosaline, "rosaline", "", "our `program`")
	f.StringVar(&c.tenshift, "tenshift", "", "the other `program`; without it ours is measured alone")
	f.StringVar(&c.without, "without", "no program was given", "`why` there is no other program")
	f.StringVar(&c.scratch, "scratch", "", "`folder` for the data, kept for the next run")
	f.IntVar(&c.rounds, "rounds", 5, "rounds that count")
	f.IntVar(&c.shrink, "shrink", 1, "divide the samples by `N`, for a quick look")
	f.DurationVar(&c.limit, "limit", 2*time.Minute, "longest time for one run of one case")
	f.StringVar(&c.out, "out", "", "report to write, beside printing it; only of a whole run")
	f.StringVar(&c.command, "command", "pipeline "+strings.Join(args, " "), "what the report says was typed")
	cases := f.String("cases", "", "only cases whose name matches this `regexp`")
	if err := f.Parse(args); err != nil {
		return c, err
	}
	if f.NArg() > 0 {
		return c, fmt.Errorf("%q is not a flag", f.Arg(0))
	}
	if c.rosaline == "" {
		return c, errors.New("-rosaline is missing: name our program, or use bench/pipeline/run")
	}
	if c.scratch == "" {
		return c, errors.New("-scratch is missing: name a folder for the data")
	}
	if c.rounds < 1 || c.shrink < 1 || c.limit <= 0 {
		return c, errors.New("-rounds and -shrink must be 1 or more, -limit above 0")
	}
	var err error
	c.cases, err = regexp.Compile(*cases)
	return c, err
}

// whole reports whether all cases are measured with all of their samples.
func (c config) whole() bool { return c.shrink == 1 && c.cases.String() == "" }

// benches are the cases that were asked for.
func (c config) benches() ([]bench, error) {
	var bs []bench
	for _, b := range benches() {
		if c.cases.MatchString(b.name) {
			bs = append(bs, b.shrunk(c.shrink))
		}
	}
	if len(bs) == 0 {
		return nil, fmt.Errorf("-cases %s matches none", c.cases)
	}
	return bs, nil
}

func run(ctx context.Context, args []string, out, log io.Writer) (err error) {
	c, err := parse(args, log)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	bs, err := c.benches()
	if err != nil {
		return err
	}
	if err := c.makeData(bs); err != nil {
		return err
	}
	sides, err := c.start(ctx, log)
	defer func() {
		for _, p := range sides {
			err = errors.Join(err, p.Close())
		}
	}()
	if err != nil {
		return err
	}
	m := match{rounds: c.rounds, log: log}
	facts := c.facts()
	for _, system := range []string{theirs, ours} {
		p, ok := sides[system]
		if !ok {
			facts = append(facts, fact{system, "not measured: " + c.without})
			continue
		}
		m.sides = append(m.sides, side{system, p})
		facts = append(facts, fact{system, p.Hello.Version})
	}
	before, o := load(), newOutcome()
	for _, b := range bs {
		if err := m.play(b, o); err != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
	facts = append(facts, fact{"load", fmt.Sprintf("%s before, %s after", before, load())})
	text := report(bs, o, facts)
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	if c.out == "" || !c.whole() {
		return nil
	}
	if err := os.WriteFile(c.out, []byte(text), 0o644); err != nil {
		return err
	}
	fmt.Fprintf(log, "written to %s\n", c.out)
	return nil
}

// start starts the sides there are. Those it returns run, also with an error.
func (c config) start(ctx context.Context, log io.Writer) (map[string]*protocol.Process, error) {
	sides := map[string]*protocol.Process{}
	for system, path := range map[string]string{theirs: c.tenshift, ours: c.rosaline} {
		if path == "" {
			fmt.Fprintf(log, "%s is not measured: %s\n", system, c.without)
			continue
		}
		p, err := protocol.Start(ctx, c.limit, path, c.scratch)
		if err != nil {
			return sides, err
		}
		sides[system] = p
	}
	return sides, nil
}

// makeData writes the files that the cases read.
func (c config) makeData(bs []bench) error {
	if err := os.MkdirAll(c.scratch, 0o755); err != nil {
		return err
	}
	made := map[int]bool{}
	for _, b := range bs {
		if !strings.HasPrefix(b.name, "jsonl") || made[b.n] {
			continue
		}
		made[b.n] = true
		if err := makeLines(c.scratch, b.n); err != nil {
			return err
		}
	}
	return nil
}

// facts are what a reader needs to run it again.
func (c config) facts() []fact {
	fs := []fact{
		{"date", time.Now().UTC().Format("2006-01-02 15:04 UTC")},
		{"command", "`" + c.command + "`"},
		{"machine", machine()},
		{"revision", says("git", "describe", "--always", "--dirty")},
		{"rounds", fmt.Sprintf("%d, in turns, after one that does not count", c.rounds)},
		{"Go", runtime.Version()},
	}
	if c.tenshift != "" {
		fs = append(fs, fact{"Rust", says("rustc", "--version")})
	}
	return fs
}

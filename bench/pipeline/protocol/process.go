package protocol

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

var (
	// ErrAnswer is returned when a side answers something else than what it was
	// asked, or nothing at all.
	ErrAnswer = errors.New("protocol: no answer")
	// ErrLate is returned when a side did not answer in time. It has been killed.
	ErrLate = errors.New("protocol: no answer in time")
)

// exitTime is how long a side may take to exit at the end of its input.
const exitTime = 5 * time.Second

// Process is a side that runs. It is used by one goroutine.
type Process struct {
	Hello Hello

	name   string
	limit  time.Duration
	cmd    *exec.Cmd
	cancel context.CancelFunc
	in     io.WriteCloser
	out    *bufio.Reader
}

// Start starts the program at path with the folder of the data and reads its hello.
// It is killed when ctx is done, or when an answer takes longer than limit. What it
// writes to its standard error goes to ours.
func Start(ctx context.Context, limit time.Duration, path string, args ...string) (*Process, error) {
	ctx, cancel := context.WithCancel(ctx)
	p := &Process{name: filepath.Base(path), limit: limit, cancel: cancel, cmd: exec.CommandContext(ctx, path, args...)}
	p.cmd.Stderr = os.Stderr
	p.cmd.WaitDelay = exitTime
	err := p.start()
	if err != nil {
		cancel()
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	if err := p.read("its hello", &p.Hello); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Process) start() (err error) {
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.out = bufio.NewReader(out)
	return p.cmd.Start()
}

// Ask has the side run a case once.
func (p *Process) Ask(c Command) (Answer, error) {
	if _, err := fmt.Fprintln(p.in, c); err != nil {
		return Answer{}, fmt.Errorf("%s: %q: %w", p.name, c, err)
	}
	var a Answer
	if err := p.read(fmt.Sprintf("%q", c), &a); err != nil {
		return Answer{}, err
	}
	if a.Case != c.Case || a.Workers != c.Workers {
		return Answer{}, fmt.Errorf("%w: %s was asked %q and answered %q with %d workers", ErrAnswer, p.name, c, a.Case, a.Workers)
	}
	if !(a.Seconds > 0) {
		return Answer{}, fmt.Errorf("%w: %s took %v seconds for %q", ErrAnswer, p.name, a.Seconds, c)
	}
	return a, nil
}

// read reads one line into v.
func (p *Process) read(what string, v any) error {
	late := time.AfterFunc(p.limit, p.cancel)
	line, err := p.out.ReadBytes('\n')
	if !late.Stop() {
		return fmt.Errorf("%w: %s, %s after %v", ErrLate, p.name, what, p.limit)
	}
	if err != nil {
		return fmt.Errorf("%w: %s ended before %s; its last words are above", ErrAnswer, p.name, what)
	}
	if err := json.Unmarshal(line, v); err != nil {
		return fmt.Errorf("%w: %s, %s: %q: %w", ErrAnswer, p.name, what, line, err)
	}
	return nil
}

// Close ends the input of the side and waits until it has exited; after 5 s
// it is killed. The error says how it exited, if not with 0.
func (p *Process) Close() error {
	defer p.cancel()
	_ = p.in.Close() // the side may have exited before
	late := time.AfterFunc(exitTime, p.cancel)
	defer late.Stop()
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}

package main

import (
	"io"
	"os"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// progress draws a bar on standard error while a command runs. A nil progress
// draws nothing.
type progress struct {
	messages *messages
	bars     *mpb.Progress
	bar      *mpb.Bar
}

// newProgress starts a bar for total bytes of input, a count of bytes if total is
// unknown (negative).
func newProgress(m *messages, total int64) *progress {
	p := &progress{messages: m, bars: mpb.New(mpb.WithOutput(m.out), mpb.WithAutoRefresh())}
	// A bar that is made without a total does not end by itself at 100 %: lines
	// that come after would be lost.
	if total >= 0 {
		p.bar = p.bars.AddBar(0,
			mpb.PrependDecorators(decor.CountersKibiByte("% .1f / % .1f")),
			mpb.AppendDecorators(decor.NewPercentage("%d"), decor.Name("  "), decor.AverageETA(decor.ET_STYLE_GO)))
		p.bar.SetTotal(total, false)
	} else {
		p.bar = p.bars.New(0, mpb.SpinnerStyle().PositionLeft(),
			mpb.AppendDecorators(decor.CurrentKibiByte("% .1f"), decor.Name("  "), decor.Elapsed(decor.ET_STYLE_GO)))
	}
	m.divert(p.bars)
	return p
}

// startProgress starts the bar of a command. By itself it appears only when
// standard error is a terminal and data do not go to a terminal too, where they
// would garble each other.
func (c *command) startProgress(mode string, in *intake, toStdout bool) *progress {
	if mode == "off" || mode == "auto" && (!isTerminal(c.messages.out) || toStdout && isTerminal(c.out)) {
		return nil
	}
	_, total := in.progress()
	return newProgress(c.messages, total)
}

// set says how many bytes of input have been read; the total is known.
func (p *progress) set(bytes, _ int64) {
	if p != nil {
		p.bar.SetCurrent(bytes)
	}
}

// stop takes the bar away and waits until nothing is drawn any more. It may be
// called twice.
func (p *progress) stop() {
	if p == nil || p.bars == nil {
		return
	}
	p.bar.Abort(true)
	p.bars.Wait()
	p.messages.divert(nil)
	p.bars = nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// A write to a closed pipe is to return an error, not to end the process:
	// the other outputs are still to be completed.
	signal.Ignore(syscall.SIGPIPE)

	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		signal.Stop(signals) // the next one does what the system does
		cancel(&interruptError{s})
	}()
	keep := raiseHeap()
	code := execute(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	keep()
	os.Exit(code)
}

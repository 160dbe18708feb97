// Command rosaline makes clean training text out of records.
//
//	rosaline run     [flags] INPUT...   records in, clean records out
//	rosaline quality [flags] INPUT...   the metrics of each record
//	rosaline devices                    what the machine offers
//
// Data go to standard output, everything else to standard error. The exit code
// is 0 when done, 1 when the work failed, 2 when the command was used wrongly,
// and 130 when SIGINT or SIGTERM stopped it.
//
// At the first signal no more is read; what has been read is finished and
// written. A second signal ends the process at once. When standard output is
// closed by its reader (head, say) the command ends with exit code 1 and says
// nothing.
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
	os.Exit(execute(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

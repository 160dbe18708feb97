package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/rosaline-go/rosaline/bench/pipeline/protocol"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "rosaline:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("name the folder of the lines")
	}
	r := runner{dir: args[0]}
	return protocol.Serve(os.Stdin, os.Stdout, protocol.Hello{System: "rosaline", Version: version()},
		func(c protocol.Command) (protocol.Run, error) { return r.run(ctx, c) })
}

// version returns the version of the module as the build recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/rosaline-go/rosaline/cpu"
)

// streams are the standard streams of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// command is what all subcommands share.
type command struct {
	streams
	messages *messages // standard error, shared with the progress bar
	log      *slog.Logger
	logLevel slog.Level
	logJSON  bool
	args     []string
	pause    func() // called before each step of a run; tests make it take a while
}

// execute runs the command line args and returns the exit code.
func execute(ctx context.Context, args []string, s streams) int {
	return newCommand(s).execute(ctx, args)
}

func newCommand(s streams) *command {
	m := &messages{out: s.err}
	s.err = m
	return &command{streams: s, messages: m, pause: func() {}}
}

func (c *command) execute(ctx context.Context, args []string) int {
	root := c.root()
	c.args = args
	root.SetArgs(args)
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.err)
	said := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(said)
		fmt.Fprintf(c.err, "rosaline: %v: finishing what has been read; a second signal ends at once\n", context.Cause(ctx))
	})
	called, err := root.ExecuteContextC(ctx)
	if !stop() {
		<-said // before the last word
	}
	switch {
	case err == nil:
	case isClosedStdout(err): // who reads us has seen enough
	case isUsage(err):
		fmt.Fprintf(c.err, "rosaline: %s\nRun '%s --help' for usage.\n", printable(err.Error()), called.CommandPath())
	default:
		fmt.Fprintf(c.err, "rosaline: %s\n", printable(err.Error()))
	}
	return exitCode(err)
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "rosaline",
		Short: "Clean, filter, deduplicate and mask text for training",
		Long: `Rosaline makes clean training text out of records: it cleans, filters by quality,
drops exact duplicates and masks personal data, in one pass.

Data go to standard output, everything else to standard error.
Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.`,
		Version:                    thisBuild().Version,
		SilenceErrors:              true,
		SilenceUsage:               true,
		Args:                       cobra.ArbitraryArgs, // RunE tells a wrong command from none
		SuggestionsMinimumDistance: 2,
		CompletionOptions:          cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRun:           func(*cobra.Command, []string) { c.openLog() },
	}
	root.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("no command given")
		}
		return unknownCommand(root, args[0])
	}
	root.SetVersionTemplate(thisBuild().String())
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	root.SetHelpCommand(helpCommand(root))

	flags := root.PersistentFlags()
	flags.SortFlags = false
	flags.Var(&levelValue{&c.logLevel}, "log-level", "least level of messages: debug, info, warn or error")
	flags.Var(&logFormatValue{&c.logJSON}, "log-format", "how messages are written: text or json")

	root.AddCommand(c.runCommand(), c.importCommand(), c.qualityCommand(), c.devicesCommand(), c.inspectCommand(), c.rosaCommand())
	return root
}

// unknownCommand says which commands the user may have meant.
func unknownCommand(root *cobra.Command, name string) error {
	hint := ""
	if near := root.SuggestionsFor(name); len(near) > 0 {
		hint = fmt.Sprintf("; did you mean %s?", near[0])
	}
	return usagef("unknown command %q%s", name, hint)
}

// helpCommand is cobra's, but for a wrong name, which is wrong usage.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(root, args[0])
			}
			return cmd.Help()
		},
	}
}

// openLog makes the logger that the flags ask for, and tells of an environment that
// could not be followed.
func (c *command) openLog() {
	c.log = newLogger(c.err, c.logLevel, c.logJSON)
	if _, err := cpu.Forced(); err != nil {
		c.log.Warn(err.Error(), "cpu", cpu.Active().String())
	}
}

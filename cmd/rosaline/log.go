package main

import (
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// messages is standard error. While a progress bar is drawn there, lines go
// through the bar, which puts them above itself.
type messages struct {
	mu  sync.Mutex
	out io.Writer
	bar io.Writer // nil when there is none
}

// Write writes p, which should be whole lines.
func (m *messages) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar != nil {
		if n, err := m.bar.Write(p); err == nil {
			return n, nil
		} // the bar has just gone
	}
	return m.out.Write(p)
}

// divert sends lines through bar until it is called with nil.
func (m *messages) divert(bar io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bar = bar
}

// printable escapes the control characters of a message, ends of lines and tabs
// apart, and bytes that are not UTF-8: the name of a file may hold anything, and
// a terminal obeys what it is sent.
func printable(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1, unicode.IsControl(r) && r != '\n' && r != '\t':
			quoted := strconv.Quote(s[i : i+size])
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// newLogger returns a logger that writes lines to w.
func newLogger(w io.Writer, level slog.Level, json bool) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	if json {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// levelValue is the flag --log-level.
type levelValue struct{ level *slog.Level }

func (v *levelValue) String() string { return strings.ToLower(v.level.String()) }
func (v *levelValue) Type() string   { return "LEVEL" }
func (v *levelValue) Set(s string) error {
	switch s {
	case "debug", "info", "warn", "error":
		return v.level.UnmarshalText([]byte(s))
	}
	return fmt.Errorf("must be debug, info, warn or error")
}

// logFormatValue is the flag --log-format.
type logFormatValue struct{ json *bool }

func (v *logFormatValue) Type() string { return "FORMAT" }
func (v *logFormatValue) String() string {
	if *v.json {
		return "json"
	}
	return "text"
}
func (v *logFormatValue) Set(s string) error {
	if s != "text" && s != "json" {
		return fmt.Errorf("must be text or json")
	}
	*v.json = s == "json"
	return nil
}

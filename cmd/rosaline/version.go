package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/rosaline-go/rosaline/cpu"
)

// Set by the linker: go build -ldflags "-X main.version=v1.2.3 -X main.commit=…".
// Without it they come from what the Go tool recorded.
var (
	version = ""
	commit  = ""
)

// build is what is known about this binary.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	Target  string `json:"target"` // operating system and architecture
	Tags    string `json:"tags"`   // build tags, comma separated
	CPU     string `json:"cpu"`    // which instructions are used, see package cpu
}

// thisBuild reads the build information of the running binary.
func thisBuild() build {
	b := build{Version: version, Commit: commit, Go: runtime.Version(), Target: runtime.GOOS + "/" + runtime.GOARCH, CPU: cpu.Active().String()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b.filled()
	}
	if b.Version == "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	modified := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			if b.Commit == "" {
				b.Commit = s.Value
			}
		case "vcs.modified":
			modified = s.Value == "true"
		case "-tags":
			b.Tags = s.Value
		}
	}
	if modified && commit == "" && b.Commit != "" {
		b.Commit += " (modified)"
	}
	return b.filled()
}

// filled says so where nothing is known.
func (b build) filled() build {
	if b.Version == "" {
		b.Version = "devel"
	}
	if b.Commit == "" {
		b.Commit = "unknown"
	}
	if b.Tags == "" {
		b.Tags = "none"
	}
	return b
}

// String returns the lines that --version prints.
func (b build) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "rosaline %s\n", b.Version)
	fmt.Fprintf(&s, "commit: %s\n", b.Commit)
	fmt.Fprintf(&s, "go: %s %s\n", b.Go, b.Target)
	fmt.Fprintf(&s, "tags: %s\n", b.Tags)
	fmt.Fprintf(&s, "cpu: %s\n", b.CPU)
	return s.String()
}

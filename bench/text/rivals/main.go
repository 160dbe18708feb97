package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/rosaline-go/rosaline/bench/text/internal/measure"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "rivals:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	var session measure.Session
	f := flag.NewFlagSet("rivals", flag.ContinueOnError)
	session.Flags(f)
	if err := f.Parse(args); err != nil {
		return err
	}
	if err := session.Check(); err != nil {
		return err
	}
	enc := json.NewEncoder(out)
	version := fmt.Sprintf("re2 %s, fastjson %s",
		measure.Version("github.com/wasilibs/go-re2"), measure.Version("github.com/valyala/fastjson"))
	if err := enc.Encode(map[string]string{"system": "go", "version": version}); err != nil {
		return err
	}
	for _, s := range []struct {
		sets  []string
		specs []measure.Spec
	}{
		{[]string{"docs", "plain", "prose", "cjk", "pii"}, maskSpecs()},
		{[]string{"docs", "prose"}, []measure.Spec{measure.NewSpec("field", "fastjson", bindField)}},
	} {
		for _, name := range s.sets {
			if err := session.Set(name, s.specs, enc); err != nil {
				return err
			}
		}
	}
	return nil
}

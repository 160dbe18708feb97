package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
	"github.com/rosaline-go/rosaline/pipeline/resume"
	"github.com/rosaline-go/rosaline/pipeline/source"
)

// stateFlags make a run resumable.
type stateFlags struct {
	state       string // folder; "" for a run that is not
	commitEvery countValue
}

func (f *stateFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.state, "state", "", "keep in the folder `DIR` how far the run is: the same command goes on there after any stop")
	f.commitEvery = countValue{n: 1, low: 1, high: 1<<31 - 1}
	flags.Var(&f.commitEvery, "commit-every", "batches between commits of the state")
}

// validateState finds what cannot be resumed.
func (f *runFlags) validateState() error {
	if f.state == "" {
		return nil
	}
	f.strict = true
	switch {
	case f.unordered:
		return usagef("--state: batches of --unordered come as they are done, and cannot come the same way again; leave one out")
	case f.fileFormat != output.JSONL && !f.folder:
		return usagef("--state: %s cannot be gone on with in the middle of a file; name a folder with -o, whose parts are committed one by one", f.fileFormat)
	}
	if info, err := os.Stat(f.state); err == nil && !info.IsDir() {
		return usagef("--state %s is no folder", f.state)
	}
	return nil
}

// checkStateClashes refuses a state among the outputs or the inputs: neither is to be taken for
// the other.
func (f *runFlags) checkStateClashes(files []source.Input) error {
	if f.state == "" {
		return nil
	}
	for _, o := range f.outputs() {
		if o.Path != "" && o.Path != output.Stdout && (output.IsSame(o.Path, f.state) || output.IsSame(filepath.Dir(o.Path), f.state) && !o.Folder) {
			return usagef("--state %s holds %s %s; name a folder of its own", f.state, o.Role, o.Path)
		}
	}
	for _, in := range files {
		if in.Path != source.Stdin && output.IsSame(filepath.Dir(in.Path), f.state) {
			return usagef("--state %s holds the input %s; name a folder of its own", f.state, in.Path)
		}
	}
	return nil
}

// freeFlags are those on which the output does not depend: a run may go on with others.
// --on-error is among them because a bad record that ended a run may be skipped when it goes
// on, and the caps on memory because they may be raised then.
var freeFlags = map[string]bool{
	"state": true, "commit-every": true, "workers": true, "prefetch": true, "metrics": true, "progress": true, "report": true,
	"device": true, "check": true, "overwrite": true, "on-error": true, "max-window": true, "max-block": true, "log-level": true,
	"log-format": true, "help": true,
	// Those of import-state alone, which the run has not.
	"from": true, "from-dedup": true, "from-rows": true,
}

// maskingSample has something of each kind that is masked.
const maskingSample = "jo@example.org 4111 1111 1111 1111 192.0.2.7 2001:db8::1 +1 202 555 0147 AKIAIOSFODNN7EXAMPLQ"

// compressed reports whether an output is. Its members end with the commits, which must then
// be where those of a run are that is never stopped.
func (j *job) compressed() bool {
	return output.IsCompressed(j.runFlags.out) || output.IsCompressed(j.rejects)
}

// stateConfig is what the output of the run depends on.
func (j *job) stateConfig() (map[string]string, error) {
	out := map[string]string{}
	j.flags.VisitAll(func(f *pflag.Flag) {
		if !freeFlags[f.Name] {
			out["--"+f.Name] = f.Value.String()
		}
	})
	if j.compressed() {
		out["--commit-every"] = j.commitEvery.String()
	}
	for i, in := range j.files {
		size := ""
		if info, err := os.Stat(in.Path); err == nil && in.Path != source.Stdin && info.Mode().IsRegular() {
			size = ", " + strconv.FormatInt(info.Size(), 10) + " bytes"
		}
		out[fmt.Sprintf("input %d", i+1)] = in.Path + size
	}
	if pii := j.stages.PII(); pii != nil {
		out["masking of a sample"], _ = pii.MaskString(maskingSample)
	}
	if strings.Contains(j.modes.String(), piiHash) {
		key, err := j.piiFlags.key()
		if err != nil {
			return nil, err
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte("the key of the pseudonyms of a run"))
		out["key of --pii-mode hash"] = fmt.Sprintf("%x", mac.Sum(nil)[:8]) // it is known by what it does
	}
	if j.rulesFile != "" {
		rules, err := readSmallFile(j.rulesFile)
		if err != nil {
			return nil, fmt.Errorf("--pii-rules: %w", err)
		}
		out["contents of --pii-rules"] = fmt.Sprintf("%08x", resume.ConfigOf(rules))
	}
	for name, v := range out {
		out[name] = strings.ToValidUTF8(v, "�")
	}
	return out, nil
}

package resume

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rosaline-go/rosaline/internal/fsys"
)

// The files of a folder.
const (
	configName  = "config"
	trackerFile = "tracker"
	logFile     = "log"
	knownFile   = "known" // if there are hashes of another program
)

// encodeConfig makes the file of a configuration: the same bytes for the same options.
func encodeConfig(options map[string]string) ([]byte, error) {
	if options == nil {
		options = map[string]string{}
	}
	b, err := json.Marshal(options) // in order of the names
	return append(b, '\n'), err
}

// readConfig reads the file of a configuration and its bytes.
func (c config) readConfig(dir string) (options map[string]string, raw []byte, err error) {
	name := filepath.Join(dir, configName)
	f, err := c.fs.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if raw, err = readAll(f); err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(raw, &options); err != nil {
		return nil, raw, fmt.Errorf("%w: configuration %s: %w; %s", ErrCorrupt, name, err, restore)
	}
	return options, raw, nil
}

// maxSmall is how many bytes a file may have that is read as a whole.
const maxSmall = 8 << 30

func readAll(f fsys.File) ([]byte, error) {
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size > min(maxSmall, math.MaxInt/2) {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrLimit, size, int64(maxSmall))
	}
	b := make([]byte, size)
	return b, readFull(f, b, 0)
}

// differences lists what is not the same in two configurations.
func differences(then, now map[string]string) string {
	var out []string
	names := slices.Collect(maps.Keys(then))
	names = append(names, slices.Collect(maps.Keys(now))...)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		a, was := then[name]
		b, is := now[name]
		switch {
		case !was:
			out = append(out, fmt.Sprintf("%s is %s and was not set", name, b))
		case !is:
			out = append(out, fmt.Sprintf("%s was %s and is not set", name, a))
		case a != b:
			out = append(out, fmt.Sprintf("%s was %s and is %s", name, a, b))
		}
	}
	return strings.Join(out, "; ")
}

package output

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckClashes(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"in.jsonl", "old", "x.partial"} {
		require.NoError(t, os.WriteFile(at(name), nil, 0o644))
	}
	require.NoError(t, os.Mkdir(at("folder"), 0o755))
	links := os.Symlink(at("in.jsonl"), at("link")) == nil &&
		os.Symlink(dir, at("folder/up")) == nil && os.Link(at("old"), at("hard")) == nil
	t.Chdir(dir)

	for _, c := range []struct {
		name    string
		outputs []Use
		inputs  []string
		clash   bool
	}{
		{"different", []Use{{"-o", at("a"), false}, {"--rejects", at("b"), false}, {"--report", "", false}}, []string{at("in.jsonl")}, false},
		{"input", []Use{{"-o", at("in.jsonl"), false}}, []string{at("in.jsonl")}, true},
		{"input relative", []Use{{"-o", "./folder/../in.jsonl", false}}, []string{at("in.jsonl")}, true},
		{"two outputs", []Use{{"-o", at("a"), false}, {"--report", at("a"), false}}, nil, true},
		{"two outputs relative", []Use{{"-o", "a", false}, {"--report", at("folder/../a"), false}}, nil, true},
		{"two existing outputs", []Use{{"-o", "old", false}, {"--report", at("old"), false}}, nil, true},
		{"partial of the other", []Use{{"-o", "a", false}, {"--rejects", "a.partial", false}}, nil, true},
		{"partial is an input", []Use{{"-o", "x", false}}, []string{"x.partial"}, true},
		{"stdout twice", []Use{{"-o", "-", false}, {"--rejects", "-", false}}, nil, true},
		{"stdin and stdout", []Use{{"-o", "-", false}}, []string{"-"}, false},
		{"null device", []Use{{"-o", os.DevNull, false}, {"--rejects", os.DevNull, false}}, []string{os.DevNull}, false},
		{"unused twice", []Use{{"--rejects", "", false}, {"--report", "", false}}, []string{"in.jsonl"}, false},
		{"link to an input", []Use{{"-o", "link", false}}, []string{"in.jsonl"}, true},
		{"by a linked folder", []Use{{"-o", "a", false}, {"--rejects", "folder/up/a", false}}, nil, true},
		{"part of a folder", []Use{{"-o", "new/", true}, {"--rejects", "new/part-00000.jsonl", false}}, nil, true},
		{"input is a part", []Use{{"-o", at("folder"), true}}, []string{"folder/part-00001-00000.arrow"}, true},
		{"input beside the parts", []Use{{"-o", at("folder"), true}}, []string{"folder/in.jsonl"}, false},
		{"hard link", []Use{{"-o", "hard", false}}, []string{"old"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !links && (c.name == "link to an input" || c.name == "by a linked folder" || c.name == "hard link") {
				t.Skip("no links here")
			}
			err := CheckClashes(c.outputs, c.inputs)
			if !c.clash {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrClash)
			require.ErrorContains(t, err, c.outputs[len(c.outputs)-1].Path)
		})
	}
}

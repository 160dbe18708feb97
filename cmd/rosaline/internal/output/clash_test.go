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
		{"different", []Use{{"-o", at("a")}, {"--rejects", at("b")}, {"--report", ""}}, []string{at("in.jsonl")}, false},
		{"input", []Use{{"-o", at("in.jsonl")}}, []string{at("in.jsonl")}, true},
		{"input relative", []Use{{"-o", "./folder/../in.jsonl"}}, []string{at("in.jsonl")}, true},
		{"two outputs", []Use{{"-o", at("a")}, {"--report", at("a")}}, nil, true},
		{"two outputs relative", []Use{{"-o", "a"}, {"--report", at("folder/../a")}}, nil, true},
		{"two existing outputs", []Use{{"-o", "old"}, {"--report", at("old")}}, nil, true},
		{"partial of the other", []Use{{"-o", "a"}, {"--rejects", "a.partial"}}, nil, true},
		{"partial is an input", []Use{{"-o", "x"}}, []string{"x.partial"}, true},
		{"stdout twice", []Use{{"-o", "-"}, {"--rejects", "-"}}, nil, true},
		{"stdin and stdout", []Use{{"-o", "-"}}, []string{"-"}, false},
		{"null device", []Use{{"-o", os.DevNull}, {"--rejects", os.DevNull}}, []string{os.DevNull}, false},
		{"unused twice", []Use{{"--rejects", ""}, {"--report", ""}}, []string{"in.jsonl"}, false},
		{"link to an input", []Use{{"-o", "link"}}, []string{"in.jsonl"}, true},
		{"by a linked folder", []Use{{"-o", "a"}, {"--rejects", "folder/up/a"}}, nil, true},
		{"hard link", []Use{{"-o", "hard"}}, []string{"old"}, true},
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

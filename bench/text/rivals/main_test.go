package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rosaline-go/rosaline/bench/text/internal/measure"
)

// dataFolder makes the data sets without the prose, one row each.
func dataFolder(t *testing.T, row string) string {
	t.Helper()
	dir := t.TempDir()
	data := binary.LittleEndian.AppendUint32(nil, 1)
	data = binary.LittleEndian.AppendUint32(data, 0)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(row)))
	data = append(data, row...)
	line, err := json.Marshal(map[string]string{"id": "7", "text": row})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"docs", "plain", "cjk", "pii"} {
		for path, data := range map[string][]byte{name + ".col": data, name + ".jsonl": append(line, '\n')} {
			if err := os.WriteFile(filepath.Join(dir, path), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func TestRunTimesEveryJob(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"-data", dataFolder(t, "text"), "-min-time", "0"}, &out); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for dec := json.NewDecoder(&out); ; {
		var l measure.Line
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, l.Job+"@"+l.Data)
	}
	want := strings.Fields("@ pii@docs pii_email@docs pii@plain pii_email@plain pii@cjk pii_email@cjk pii@pii pii_email@pii field@docs")
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], "_", " ")
	}
	if !slices.Equal(keys, want) {
		t.Fatalf("got %q, want %q", keys, want)
	}
}

func TestJobs(t *testing.T) {
	const row = "bob@example.com at 192.0.2.7 pays 4000 0000 0000 0002 \"so\"\n"
	d, err := measure.ReadDataset(filepath.Join(dataFolder(t, row), "docs.col"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"pii":       "[EMAIL] at [IP] pays [CARD] \"so\"\n",
		"pii email": strings.Replace(row, "bob@example.com", "[EMAIL]", 1),
		"field":     "7\t" + row,
	}
	for _, s := range append(maskSpecs(), measure.NewSpec("field", "fastjson", bindField)) {
		w, err := s.Bind(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Run(); err != nil {
			t.Fatal(err)
		}
		rows, err := w.Rows()
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Collect(rows)
		if len(got) != 1 || string(got[0]) != want[s.Job] {
			t.Errorf("%s: got %q, want %q", s.Job, got, want[s.Job])
		}
	}
}

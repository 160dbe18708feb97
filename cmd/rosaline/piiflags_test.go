package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	piiText = "Emp EMP-0042, Jane.Doe@Example.com and jane.doe@example.com from 10.0.0.1 or 4111 1111 1111 1111."
	piiKey  = "sixteen bytes or more"

	// janePseudonym is by openssl dgst -sha256 -hmac, with its first digit made a letter.
	janePseudonym = "[EMAIL:e03eb4f52c1bef17]"
)

// piiRun runs stage pii on one record and returns the text.
func piiRun(t *testing.T, args ...string) string {
	t.Helper()
	r := inProcess(t, record("a", piiText), append([]string{"run", "-", "--stages", "pii"}, args...)...)
	require.Equal(t, exitDone, r.code, r.err)
	var got struct{ Text string }
	require.NoError(t, json.Unmarshal([]byte(r.out), &got), r.out)
	return got.Text
}

func TestRunPIIModes(t *testing.T) {
	dir := t.TempDir()
	key := write(t, dir, "key", piiKey+"\n")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"Emp EMP-0042, [EMAIL] and [EMAIL] from [IP] or [CARD].", nil},
		{"Emp EMP-0042, <mail> and <mail> from  or [CARD].", []string{"--pii-replace", "email=<mail>", "--pii-replace", "ip="}},
		{"Emp [EMP], [EMAIL] and [EMAIL] from [IP] or [CARD].", []string{"--pii-rule", `emp=EMP-\d+`}},
		{"Emp EMP-<no>, Jane.Doe@Example.com and jane.doe@example.com from 10.0.0.1 or 4111 1111 1111 1111.",
			[]string{"--pii", "none", "--pii-rule", `emp=EMP-(?P<mask>\d+)`, "--pii-replace", "emp=<no>"}},
		{"Emp EMP-0042, " + janePseudonym + " and " + janePseudonym + " from [IP] or [CARD].", []string{"--pii-mode", "email=hash", "--pii-key-file", key}},
		{"Emp EMP-0042, " + janePseudonym + " and " + janePseudonym + " from [IP] or [CARD].", []string{"--pii-mode", "hash,ip=replace,card=replace", "--pii-key-file", key}},
		{piiText, []string{"--pii-mode", "spans"}},
	} {
		require.Equal(t, c.want, piiRun(t, c.args...), "%q", c.args)
	}
	t.Setenv(piiKeyVariable, piiKey)
	require.Contains(t, piiRun(t, "--pii-mode", "hash"), janePseudonym)
}

func TestRunPIIRulesFile(t *testing.T) {
	file := write(t, t.TempDir(), "rules", "# of the company\n\n  emp=EMP-\\d+\r\nfrom=(?i)\\bFROM\\b\n")
	require.Equal(t, "Emp [EMP], [EMAIL] and [EMAIL] [FROM] [IP] or [CARD].", piiRun(t, "--pii-rules", file))
	require.Equal(t, "[X] [EMP], [EMAIL] and [EMAIL] [FROM] [IP] or [CARD].", piiRun(t, "--pii-rules", file, "--pii-rule", "x=Emp"))
}

func TestRunPIISpans(t *testing.T) {
	report := filepath.Join(t.TempDir(), "report.json")
	r := inProcess(t, record("a", "“x” EMP-7 a@b.org")+record("b", "none"), "run", "-", "--stages", "pii",
		"--pii-mode", "spans", "--pii-rule", `emp=EMP-\d+`, "--report", report)
	require.Equal(t, exitDone, r.code, r.err)
	require.Equal(t, `{"id":"a","text":"“x” EMP-7 a@b.org","pii":[{"kind":"emp","start":8,"end":13},{"kind":"email","start":14,"end":21}]}`+"\n"+
		`{"id":"b","text":"none","pii":[]}`+"\n", r.out)
	require.Contains(t, r.err, "emp masked 1")
	require.Contains(t, read(t, report), `"emp": 1`)
}

func TestRunPIIUsage(t *testing.T) {
	t.Setenv(piiKeyVariable, "")
	dir := t.TempDir()
	short, long := write(t, dir, "short", "abc"), write(t, dir, "long", strings.Repeat("x", maxPIIFile+1))
	bad := write(t, dir, "rules", "emp=x\nno sign\n")
	key := write(t, dir, "key", piiKey)
	for _, c := range []struct {
		says string
		args []string
	}{
		{"--pii-key-file", []string{"--pii-mode", "hash"}},
		{"too short", []string{"--pii-mode", "hash", "--pii-key-file", short}},
		{"more than", []string{"--pii-mode", "hash", "--pii-key-file", long}},
		{"no such file", []string{"--pii-mode", "hash", "--pii-key-file", filepath.Join(dir, "none")}},
		{"no effect", []string{"--pii-key-file", key}},
		{"no effect", []string{"--pii-mode", "spans", "--pii-replace", "email=x"}},
		{"no effect", []string{"--pii-mode", "hash", "--pii-key-file", key, "--pii-replace", "email=x"}},
		{"add it to --pii", []string{"--pii-replace", "phone=x"}},
		{"no kind and no rule", []string{"--pii-replace", "mail=x"}},
		{"no kind and no rule", []string{"--pii-mode", "mail=hash"}},
		{"given twice", []string{"--pii-replace", "email=x", "--pii-replace", "email=y"}},
		{"is not one of", []string{"--pii-mode", "drop"}},
		{"all kinds together", []string{"--pii-mode", "email=spans"}},
		{"all kinds together", []string{"--pii-mode", "spans,email=hash"}},
		{"must come first", []string{"--pii-mode", "email=hash,replace"}},
		{"listed twice", []string{"--pii-mode", "email=hash,email=replace"}},
		{"must be a name", []string{"--pii-rule", "x"}},
		{"empty text", []string{"--pii-rule", "x=a*"}},
		{"error parsing", []string{"--pii-rule", "x=("}},
		{bad + ":2", []string{"--pii-rules", bad}},
		{"behind clean and quality", []string{"--stages", "pii,clean", "--pii-mode", "spans"}},
		{"--out-format jsonl", []string{"--pii-mode", "spans", "--out-format", "arrow"}},
	} {
		args := c.args
		if c.args[0] != "--stages" {
			args = append([]string{"--stages", "pii"}, args...)
		}
		r := inProcess(t, record("a", piiText), append([]string{"run", "-"}, args...)...)
		require.Equal(t, exitUsage, r.code, "%q: %s", c.args, r.err)
		require.Contains(t, r.err, c.says, "%q", c.args)
		require.Empty(t, r.out)
	}
}

// TestRunPIIKeyIsSecret looks for the key in all that a run tells.
func TestRunPIIKeyIsSecret(t *testing.T) {
	report := filepath.Join(t.TempDir(), "report.json")
	t.Setenv(piiKeyVariable, piiKey)
	r := inProcess(t, record("a", piiText), "run", "-", "--stages", "pii", "--pii-mode", "hash", "--report", report, "--log-level", "debug")
	require.Equal(t, exitDone, r.code, r.err)
	data, err := os.ReadFile(report)
	require.NoError(t, err)
	for _, told := range []string{r.out, r.err, string(data)} {
		require.NotContains(t, told, piiKey)
	}
	require.Contains(t, string(data), `"pii-mode": "hash"`)
	require.Contains(t, string(data), `"email": 2`)
}

package text

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// datatroveRecord is one text with what datatrove 0.10.1 made of it, see
// testdata/datatrove/record.py.
type datatroveRecord struct {
	ID, Text string
	C4       struct {
		Reason string
		Kept   *string
		C4Metrics
	}
	Gopher       datatroveGopher
	GopherSpace  datatroveGopher  `json:"gopher_space"`
	Fineweb      datatroveFineweb `json:"fineweb"`
	FinewebSpace datatroveFineweb `json:"fineweb_space"`
}

type datatroveGopher struct {
	Reason string
	GopherMetrics
}

type datatroveFineweb struct {
	Reason string
	FinewebMetrics
}

func readDatatrove(t *testing.T) (out []datatroveRecord) {
	t.Helper()
	f, err := os.Open("testdata/datatrove/records.jsonl.gz")
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	for dec := json.NewDecoder(z); dec.More(); {
		var r datatroveRecord
		require.NoError(t, dec.Decode(&r))
		out = append(out, r)
	}
	require.Greater(t, len(out), 1000)
	return out
}

// datatroveReasons are our names of the reasons of datatrove.
var datatroveReasons = map[string]Reason{
	"":                             ReasonNone,
	"gopher_short_doc":             ReasonGopherMinWords,
	"gopher_long_doc":              ReasonGopherMaxWords,
	"gopher_below_avg_threshold":   ReasonGopherMinMeanWordLength,
	"gopher_above_avg_threshold":   ReasonGopherMaxMeanWordLength,
	"gopher_too_many_hashes":       ReasonGopherMaxHashRatio,
	"gopher_too_many_ellipsis":     ReasonGopherMaxEllipsisRatio,
	"gopher_too_many_bullets":      ReasonGopherMaxBulletLines,
	"gopher_too_many_end_ellipsis": ReasonGopherMaxEllipsisLines,
	"gopher_below_alpha_threshold": ReasonGopherMinAlphabeticWords,
	"gopher_enough_stop_words":     ReasonGopherMinStopWords,
	"dup_para_frac":                ReasonGopherMaxDuplicateParagraphs,
	"dup_para_char_frac":           ReasonGopherMaxDuplicateParagraphChars,
	"dup_line_frac":                ReasonGopherMaxDuplicateLines,
	"dup_line_char_frac":           ReasonGopherMaxDuplicateLineChars,
	"top_2_gram":                   ReasonGopherMaxTop2Grams,
	"top_3_gram":                   ReasonGopherMaxTop3Grams,
	"top_4_gram":                   ReasonGopherMaxTop4Grams,
	"duplicated_5_n_grams":         ReasonGopherMaxDuplicate5Grams,
	"duplicated_6_n_grams":         ReasonGopherMaxDuplicate6Grams,
	"duplicated_7_n_grams":         ReasonGopherMaxDuplicate7Grams,
	"duplicated_8_n_grams":         ReasonGopherMaxDuplicate8Grams,
	"duplicated_9_n_grams":         ReasonGopherMaxDuplicate9Grams,
	"duplicated_10_n_grams":        ReasonGopherMaxDuplicate10Grams,
	"lorem_ipsum":                  ReasonC4LoremIpsum,
	"curly_bracket":                ReasonC4CurlyBracket,
	"too_few_sentences":            ReasonC4MinSentences,
	"empty":                        ReasonFinewebMinPunctuatedLines,
	"line_punct_ratio":             ReasonFinewebMinPunctuatedLines,
	"short_line_ratio":             ReasonFinewebMaxShortLines,
	"char_dup_ratio":               ReasonFinewebMaxDuplicateLineChars,
	"list_ratio":                   ReasonFinewebMaxNewlineRatio,
}

// datatroveDifferences reads the table of docs/quality.md: the records that we judge
// otherwise, by rule set and id.
func datatroveDifferences(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("../../docs/quality.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(b), "\n| rules | record | datatrove | here | why |\n")
	require.True(t, ok, "docs/quality.md has no table of differences")
	out := map[string]string{}
	table = strings.TrimPrefix(table, "|---|---|---|---|---|\n")
	for line := range strings.Lines(table) {
		cell := strings.Split(line, "|")
		if len(cell) != 7 {
			break
		}
		for i := range cell {
			cell[i] = strings.Trim(strings.TrimSpace(cell[i]), "`")
		}
		key := cell[1] + " " + cell[2]
		require.NotContains(t, out, key, "listed twice")
		require.NotEmpty(t, cell[5], "%s has no reason", key)
		out[key] = cell[3] + " " + cell[4]
	}
	return out
}

// TestDatatroveVerdicts holds the verdicts to those of datatrove: equal unless the table
// of docs/quality.md says what they are, and that they differ.
func TestDatatroveVerdicts(t *testing.T) {
	listed := datatroveDifferences(t)
	m := NewMeasurer()
	differ := 0
	for _, words := range []Words{WordsByScript, WordsBySpace} {
		gopher := newQuality(t, WithPreset(PresetGopher), WithWords(words))
		c4 := newQuality(t, WithPreset(PresetC4), WithWords(words))
		fineweb := newQuality(t, WithPreset(PresetFineweb), WithWords(words))
		for _, r := range readDatatrove(t) {
			for _, x := range []struct {
				rules string
				q     *QualityFilter
				want  string
			}{
				{"gopher", gopher, r.Gopher.Reason}, {"c4", c4, r.C4.Reason}, {"fineweb", fineweb, r.Fineweb.Reason},
				{"gopher by space", gopher, r.GopherSpace.Reason}, {"c4 by space", c4, r.C4.Reason}, {"fineweb by space", fineweb, r.FinewebSpace.Reason},
			} {
				if strings.HasSuffix(x.rules, "space") != (words == WordsBySpace) {
					continue
				}
				var scratch []byte
				out, v := x.q.Filter(m, &scratch, []byte(r.Text))
				key := x.rules + " " + r.ID
				theirs := x.want
				if theirs == "" {
					theirs = "kept"
				}
				ours := v.Reason.String()
				if v.Kept() {
					ours = "kept"
				}
				want, known := datatroveReasons[x.want]
				if x.q == c4 && v.Kept() && x.want == "" {
					kept := r.Text
					if r.C4.Kept != nil {
						kept = *r.C4.Kept
					}
					if kept != string(out) {
						ours = "kept otherwise"
					}
				}
				if known && want == v.Reason && ours != "kept otherwise" {
					require.NotContains(t, listed, key, "%s equals datatrove but is listed as a difference", key)
					continue
				}
				differ++
				require.Equal(t, listed[key], theirs+" "+ours, "%s: value %v", key, v.Value)
			}
		}
	}
	require.Len(t, listed, differ, "the table lists records that are not there")
}

// TestDatatroveValues holds the metrics to those of datatrove, with words divided by
// white space: those of its own tokenizer are others. What the texts left out have,
// docs/quality.md tells.
func TestDatatroveValues(t *testing.T) {
	m := NewMeasurer()
	q := newQuality(t, WithWords(WordsBySpace))
	compared := 0
	for _, r := range readDatatrove(t) {
		if strings.ContainsAny(r.Text, "\r\f\u2028") || strings.Trim(r.Text, "\n") != r.Text {
			continue // other ends of lines
		}
		s := []byte(r.Text)
		gopher := q.MeasureGopher(m, s)
		gopher.unspaced = false
		want := r.GopherSpace.GopherMetrics
		if strings.HasPrefix(r.ID, "round-bullets/") || r.ID == "joined/jargon/0361" {
			// A word of • or ‘ alone is punctuation to us only.
			gopher.Words, gopher.MeanWordLength = want.Words, want.MeanWordLength
		}
		require.Equal(t, want, gopher, r.ID)
		require.Equal(t, r.FinewebSpace.FinewebMetrics, q.MeasureFineweb(m, s), r.ID)
		compared++

		c4 := q.MeasureC4(m, s)
		if c4.fatal != ReasonNone || c4.UnpunctuatedLines != r.C4.UnpunctuatedLines {
			continue // datatrove stops there; or lines end with 。 and its like
		}
		c4.Sentences = r.C4.Sentences // its tokenizer knows more abbreviations
		require.Equal(t, r.C4.C4Metrics, c4, r.ID)
	}
	require.Greater(t, compared, 1000)
}

// BenchmarkRules runs each preset over the English prose of the records, which
// testdata/datatrove/time.py runs datatrove over.
func BenchmarkRules(b *testing.B) {
	f, err := os.Open("testdata/datatrove/records.jsonl.gz")
	require.NoError(b, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(b, err)
	english, japanese, size := [][]byte{}, [][]byte{}, map[bool]int64{}
	for dec := json.NewDecoder(z); dec.More(); {
		var r datatroveRecord
		require.NoError(b, dec.Decode(&r))
		switch {
		case strings.HasPrefix(r.ID, "english/"), strings.HasPrefix(r.ID, "joined/"), strings.HasPrefix(r.ID, "sentences/"):
			english = append(english, []byte(r.Text))
			size[false] += int64(len(r.Text))
		case strings.Contains(r.ID, "/ja"), strings.Contains(r.ID, "/zh"):
			japanese = append(japanese, []byte(r.Text))
			size[true] += int64(len(r.Text))
		}
	}
	for _, preset := range []string{PresetPretraining, PresetGopher, PresetC4, PresetFineweb, "gopher+c4+fineweb"} {
		for name, texts := range map[string][][]byte{"english": english, "cjk": japanese} {
			q, m := newQuality(b, WithPreset(preset)), NewMeasurer()
			b.Run(preset+"/"+name, func(b *testing.B) {
				b.SetBytes(size[name == "cjk"])
				b.ReportAllocs()
				var scratch []byte
				for range b.N {
					for _, s := range texts {
						q.Filter(m, &scratch, s)
					}
				}
			})
		}
	}
	b.Run("measure gopher/english", func(b *testing.B) {
		q, m := newQuality(b, WithPreset(PresetGopher)), NewMeasurer()
		b.SetBytes(size[false])
		b.ReportAllocs()
		for range b.N {
			for _, s := range english {
				q.MeasureGopher(m, s)
			}
		}
	})
}

package main

import (
	"context"
	"strconv"
	"sync"

	"github.com/spf13/cobra"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/jsonl"
	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/output"
	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/text"
)

func (c *command) qualityCommand() *cobra.Command {
	f := &metricFlags{}
	cmd := &cobra.Command{
		Use:   "quality [flags] INPUT...",
		Short: "Write the quality metrics of each record",
		Long: `Writes one JSON object a record, in the order of the inputs:

  {"id":…,"chars":n,"words":n,"entropy":x,"repetition":x,"symbol_ratio":x}

With --preset gopher, c4 or fineweb the line has what those rules judge by. The
metrics are of the text as it was read: nothing is cleaned first. Records
without a text (null) have no metrics; they are left out and counted in a message.`,
		Args: inputArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.quality(cmd.Context(), f, args)
		},
	}
	cmd.Flags().SortFlags = false
	f.add(cmd.Flags())
	f.preset = choice(text.PresetPretraining, text.PresetPretraining, text.PresetGopher, text.PresetC4, text.PresetFineweb)
	cmd.Flags().Var(&f.preset, "preset", "whose metrics are written: pretraining, gopher, c4 or fineweb")
	f.words.add(cmd.Flags())
	return cmd
}

// metricFlags are the flags of rosaline quality.
type metricFlags struct {
	inputFlags
	preset choiceValue
	words  wordsValue
}

func (c *command) quality(ctx context.Context, f *metricFlags, args []string) error {
	files, err := c.expand(&f.inputFlags, args)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // lets go of standard input
	in, err := c.open(ctx, &f.inputFlags, files)
	if err != nil {
		return err
	}
	decode, err := f.newDecoding(c.pause)
	if err != nil {
		return err
	}
	e, err := c.newEngine(&f.engineFlags, cancel)
	if err != nil {
		return err
	}
	out, err := output.Create(output.Stdout, c.out)
	if err != nil {
		return both(err, e.close())
	}
	bad, nulls := 0, 0 // of what was written
	filter, err := text.NewQualityFilter(text.WithPreset(f.preset.value), text.WithWords(f.words.rule()))
	if err != nil {
		return both(err, e.close())
	}
	measure := &measuring{preset: f.preset.value, filter: filter, pause: c.pause}
	plan := configure(pipeline.Apply(pipeline.Apply(pipeline.From(in), decode), measure), &f.engineFlags)
	progress := c.startProgress(f.progress.value, in, true)
	_, err = drive(e, plan, func(b *measured) error {
		c.pause()
		if _, err := out.Write(b.lines); err != nil {
			return err
		}
		bad += b.bad
		nulls += b.nulls
		progress.set(in.progress())
		measure.pool.Put(b)
		return nil
	})
	progress.stop()
	if bad > 0 {
		c.log.Warn("bad records skipped", "records", bad)
	}
	if nulls > 0 {
		c.log.Warn("records without a text left out", "records", nulls)
	}
	return both(both(err, out.Commit()), e.close())
}

// measured are the lines about some records.
type measured struct {
	lines      []byte
	bad, nulls int
	measurer   *text.Measurer
}

// measuring is the stage that measures texts and writes lines about them.
type measuring struct {
	pool   sync.Pool // *measured
	preset string
	filter *text.QualityFilter
	pause  func()
}

// Name implements [pipeline.Named].
func (*measuring) Name() string { return "measure" }

// Apply implements [pipeline.Transform].
func (m *measuring) Apply(_ context.Context, r *records, emit func(*measured)) error {
	m.pause()
	if r.err != nil {
		return r.err
	}
	b, ok := m.pool.Get().(*measured)
	if !ok {
		b = &measured{measurer: text.NewMeasurer()}
	}
	defer r.release()
	b.lines, b.nulls, b.bad = b.lines[:0], 0, len(r.bad)
	for i := range r.text.Len() {
		if r.text.IsNull(i) {
			b.nulls++
			continue
		}
		b.lines = m.append(r.appendID(b.lines, i), b.measurer, r.text.Bytes(i))
	}
	emit(b)
	return nil
}

// append appends the rest of a line of output behind the id.
func (m *measuring) append(dst []byte, measurer *text.Measurer, s []byte) []byte {
	switch m.preset {
	case text.PresetGopher:
		return appendGopher(dst, m.filter.MeasureGopher(measurer, s))
	case text.PresetC4:
		return appendC4(dst, m.filter.MeasureC4(measurer, s))
	case text.PresetFineweb:
		return appendFineweb(dst, m.filter.MeasureFineweb(measurer, s))
	default:
		return appendMetrics(dst, measurer.Measure(s))
	}
}

// appendMetrics appends the rest of a line of output behind the id.
func appendMetrics(dst []byte, m text.Metrics) []byte {
	dst = strconv.AppendInt(append(dst, `,"chars":`...), int64(m.Chars), 10)
	dst = strconv.AppendInt(append(dst, `,"words":`...), int64(m.Words), 10)
	dst = jsonl.AppendFloat(append(dst, `,"entropy":`...), m.Entropy)
	dst = jsonl.AppendFloat(append(dst, `,"repetition":`...), m.Repetition)
	dst = jsonl.AppendFloat(append(dst, `,"symbol_ratio":`...), m.SymbolRatio)
	return append(dst, "}\n"...)
}

// appendInt and appendFloat append one field.
func appendInt(dst []byte, name string, n int) []byte {
	return strconv.AppendInt(append(append(append(dst, `,"`...), name...), `":`...), int64(n), 10)
}

func appendFloat(dst []byte, name string, x float64) []byte {
	return jsonl.AppendFloat(append(append(append(dst, `,"`...), name...), `":`...), x)
}

func appendGopher(dst []byte, m text.GopherMetrics) []byte {
	dst = appendInt(dst, "words", m.Words)
	dst = appendFloat(dst, "mean_word_length", m.MeanWordLength)
	dst = appendFloat(dst, "hash_ratio", m.HashRatio)
	dst = appendFloat(dst, "ellipsis_ratio", m.EllipsisRatio)
	dst = appendFloat(dst, "bullet_lines", m.BulletLines)
	dst = appendFloat(dst, "ellipsis_lines", m.EllipsisLines)
	dst = appendFloat(dst, "alphabetic_words", m.AlphabeticWords)
	dst = appendInt(dst, "stop_words", m.StopWords)
	dst = appendFloat(dst, "duplicate_paragraphs", m.DuplicateParagraphs)
	dst = appendFloat(dst, "duplicate_paragraph_chars", m.DuplicateParagraphChars)
	dst = appendFloat(dst, "duplicate_lines", m.DuplicateLines)
	dst = appendFloat(dst, "duplicate_line_chars", m.DuplicateLineChars)
	for i, name := range []string{"top_2_grams", "top_3_grams", "top_4_grams"} {
		dst = appendFloat(dst, name, m.TopGrams[i])
	}
	for i, name := range []string{"duplicate_5_grams", "duplicate_6_grams", "duplicate_7_grams",
		"duplicate_8_grams", "duplicate_9_grams", "duplicate_10_grams"} {
		dst = appendFloat(dst, name, m.DuplicateGrams[i])
	}
	return append(dst, "}\n"...)
}

func appendC4(dst []byte, m text.C4Metrics) []byte {
	dst = appendInt(dst, "lines", m.Lines)
	dst = appendInt(dst, "kept_lines", m.KeptLines)
	dst = appendInt(dst, "long_word_lines", m.LongWordLines)
	dst = appendInt(dst, "unpunctuated_lines", m.UnpunctuatedLines)
	dst = appendInt(dst, "short_lines", m.ShortLines)
	dst = appendInt(dst, "javascript_lines", m.JavascriptLines)
	dst = appendInt(dst, "policy_lines", m.PolicyLines)
	dst = appendInt(dst, "lorem_ipsum_lines", m.LoremIpsumLines)
	dst = appendInt(dst, "curly_lines", m.CurlyLines)
	dst = appendInt(dst, "sentences", m.Sentences)
	return append(dst, "}\n"...)
}

func appendFineweb(dst []byte, m text.FinewebMetrics) []byte {
	dst = appendFloat(dst, "punctuated_lines", m.PunctuatedLines)
	dst = appendFloat(dst, "short_lines", m.ShortLines)
	dst = appendFloat(dst, "duplicate_line_chars", m.DuplicateLineChars)
	dst = appendFloat(dst, "newline_ratio", m.NewlineRatio)
	return append(dst, "}\n"...)
}

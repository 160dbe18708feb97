// Package text holds what happens to text: cleaning, quality, exact
// deduplication, masking of personal data, and the pass that fuses them.
//
//	records ──▸ clean ──▸ quality ──▸ dedup ──▸ pii ──▸ column
//	              │          │          │
//	              └──────────┴──────────┴──▸ drops: row, stage, reason, value, bound
//
// Each stage stands alone ([TextCleaner], [QualityFilter],
// [StreamDeduplicator], [PIIMasker]) and works on one text at a time.
// [FusedPipeline] runs any of them in any order over a batch of string views:
// bytes are classified once into masks that quality and masking share, a text is
// copied on the way only if its line ends change or a stage follows on masking,
// and each survivor is written once.
//
// # Three phases
//
// Only deduplication depends on what came before, so the fused pass is cut in
// three, and a caller with several cores runs the outer two in parallel:
//
//	Scan     any worker   one batch     all stages but the verdict of dedup
//	Resolve  one at a time, in order    first occurrence or duplicate
//	Emit     any worker   one batch     writes the survivors
//
// [FusedPipeline.Process] is the three in a row. The result is the same for any
// number of workers: that of running each stage on each record in order. So a
// text that came as far as dedup counts as seen even if a later stage drops it,
// and masking before dedup makes texts equal that differ only in what is masked.
//
// [FusedPipeline.EmitInto] writes the survivors into memory that is used again, as
// offsets and payload, in place of a column.
//
// # Cleaning
//
// [TextCleaner] trims, makes line ends uniform and holds to bounds of length.
// [WithRepairs] adds repairs of Unicode, each a switch that is off by default, see
// [Repairs]. [TextCleaner.CleanColumn] cleans a column by itself and copies only texts that
// change inside.
//
// # Quality
//
// [QualityFilter] holds five [Metrics] of any text to bounds, and after these published sets of
// rules, each with its metrics and reasons:
//
//	WithGopher    GopherBounds   GopherMetrics    words, lines, repeated n-grams
//	WithC4        C4Bounds       C4Metrics        removes lines, so it rewrites texts
//	WithFineweb   FinewebBounds  FinewebMetrics   lines
//
// [WithPreset] names them as the command does. What a word is says [Words]: by default
// scripts without spaces are divided too. docs/quality.md describes all of it.
//
// # Masking
//
// [PIIMasker] finds kinds of personal data by the rules of docs/pii.md, and those of
// the user ([WithRules]), in linear time. A kind gets its replacement
// ([WithReplacement]) or keyed pseudonyms ([WithPseudonyms]), or all spans are only
// reported ([WithSpansOnly]).
package text

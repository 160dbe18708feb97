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
package text

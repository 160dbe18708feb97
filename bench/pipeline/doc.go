// Command pipeline times the engine beside tenshift-core: the same cases on the same
// data, in turns, in one run.
//
//	pipeline -rosaline FILE [-tenshift FILE] [-cases REGEXP] [-rounds N] [-out FILE]
//
//	run ──▸ pipeline (this) ──▸ lines-N.jsonl ──┐
//	           │                                ▾
//	           ├─ batch 2 400000 ──▸ rosaline/  (Go)    ──┐
//	           ├─ batch 2 400000 ──▸ tenshift/  (Rust)  ──┤
//	           ◂────────── {"seconds":…,"fold":…} ────────┘
//	           │
//	           └──▸ RESULTS.md
//
// Both sides are processes that answer one command a line, as package protocol
// describes. Only one works at a time; in each round every number of workers of a
// case is run by both, and the next round goes the other way round. The samples
// and the fold of all answers of a case must be equal. Without -tenshift ours is
// measured alone.
//
// `bench/pipeline/run` builds all three and starts this.
package main

// Command text times what Rosaline does with text, for the comparison with
// other systems in this folder, and prints one JSON line a job.
//
//	text -data DIR [-rosaline FILE] [-workers N] [-jobs REGEXP] [-checks DIR]
//	text -levels
//
//	dataset.py ──▸ DIR/*.col, *.jsonl ──┬─▸ text (this)  ──┬─▸ lines, checks ──▸ compare.py ──▸ RESULTS.md
//	                                    └─▸ rival_*.py   ──┘
//
// Lines and checks follow the protocol that measure.py describes. `make bench`
// runs it; see README.md one folder up.
package main

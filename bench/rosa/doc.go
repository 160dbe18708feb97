// Command rosa times package rosa for the comparison with another system in this folder.
//
//	rosa -write DIR [-long]                          makes the inputs
//	rosa -job JOB -input FILE [-n N] [-check] …      does one job, and prints a line of JSON
//
//	rosa -write ──▸ DIR/*.i64 ──┬─▸ rosa -job  ──┬─▸ lines ──▸ compare.py ──▸ RESULTS.md
//	                            └─▸ rival.py   ──┘
//
// Each job runs in a process of its own, so that its memory is its own. rival.py follows
// the same protocol. bench/rosa/run runs it; see README.md one folder up.
package main

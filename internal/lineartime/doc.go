// Package lineartime lets tests require that work takes time in proportion to its
// input, on machines that are busy with other things too.
//
//	n ──▸ work ─▸ least time of many ─┐
//	                                  ├─▸ ratio, against a bound between linear and quadratic
//	16n ─▸ work ─▸ least time of many ─┘
//
// Other load only ever adds time, so the least of many times counts, as many as it takes.
package lineartime

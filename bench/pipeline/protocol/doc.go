// Package protocol is how the driver of a comparison talks to the programs that
// it compares, which may be written in any language.
//
// A side is a program with one argument, the folder of the driver's data. It reads
// commands from its standard input and answers each with one line of JSON on its
// standard output:
//
//	driver                          side
//	                           ◂──  {"system":"tenshift-core","version":"0.1.3"}
//	batch 2 400000             ──▸
//	                                makes its data, then runs the case once
//	                           ◂──  {"case":"batch","workers":2,"samples":400000,"seconds":0.41,"fold":483543668870976}
//	(end of the input)         ──▸  exits with 0
//
// A command is CASE WORKERS N: the word of a case, how many workers it may use, and
// the size of its data set in samples. In the answer stand how many samples
// came, the seconds from the start of the pipeline to the end of its stream, and the
// sum modulo 2⁶⁴ of what the consumer took from each sample: sides whose folds are equal
// did the same work. Setting up is outside of the time.
//
// A side that cannot run a case says why on its standard error and exits with
// another status.
//
// [Serve] is the loop of a side written in Go, [Start] the driver's end.
package protocol

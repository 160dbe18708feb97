// Command rivals times other Go libraries, fastjson and go-re2, on the data of the
// comparison in the folder above, and prints JSON lines as the program there does. It
// is a module of its own so that they are no dependencies of rosaline.
//
//	rivals -data DIR [-jobs REGEXP] [-checks DIR]
//
// Go benchmarks of the fields of JSON lines on data made here:
//
//	go test -bench . -benchtime 1s -count 5
//
// The data are the same everywhere. The best of several runs of each side is what
// compares: other load on the machine only adds.
package main

// Package hugepages asks the kernel to back large memory by huge pages, where programs that
// do not ask have small ones: by madvise on Linux, elsewhere it does nothing.
//
//	memory          ├───────────────────────┤
//	huge pages  ├───────┼───────┼───────┼───────┤   asked for
//
// What is read at random from tens of megabytes waits as often for the translation of an
// address as for the memory; what is written for the first time waits for the kernel, page
// by page. A page of 2 MiB in place of 512 of 4 KiB spares most of both.
//
// It is advice: memory that has been touched stays as it is, errors are of no account, and
// what lies in the same huge pages as the memory is advised with it.
package hugepages

// Size is what a huge page has, in bytes. Less memory than that is not worth asking for.
const Size = 2 << 20

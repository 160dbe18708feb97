// Command rosaline is our side of the comparison in the folder above: it runs the
// engine on the cases of the driver.
//
//	rosaline DIR
//
//	standard input                  standard output
//	                                {"system":"rosaline","version":"(devel)"}
//	CASE WORKERS N  ──▸ pipeline ──▸ {"case":…,"workers":…,"samples":…,"seconds":…,"fold":…}
//
// DIR is the folder with the lines that the driver wrote. The protocol is that of
// package protocol; ../tenshift does the same with tenshift-core.
package main

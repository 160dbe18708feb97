// Command rosaline makes clean training text out of records.
//
//	rosaline run     [flags] INPUT...   records in, clean records out
//	rosaline quality [flags] INPUT...   the metrics of each record
//	rosaline devices                    what the machine offers
//
// Data go to standard output, everything else to standard error. The exit code
// is 0 when done, 1 when the work failed, 2 when the command was used wrongly,
// and 130 when SIGINT or SIGTERM stopped it.
//
// At the first signal no more is read; what has been read is finished and
// written. A second signal ends the process at once. When standard output is
// closed by its reader (head, say) the command ends with exit code 1 and says
// nothing.
//
// The run is a loop of package ordered over batches, which knows nothing of
// text; the stages know nothing of the loop:
//
//	            Next     Scan               Resolve   Emit                   Write
//	INPUT ──▸ intake ──▸ decode, stages ──▸ dedup ──▸ survivors, encode ──▸ -o, --rejects, tally
//	          chunk      records            verdicts  lines                     │
//	                                                               table, --report
package main

// Command rosaline makes clean training text out of records.
//
//	rosaline run          [flags] INPUT...   records in, clean records out
//	rosaline import-state [flags] INPUT...   the state of a run, out of a checkpoint of luminamoon
//	rosaline quality      [flags] INPUT...   the metrics of each record
//	rosaline rosa         [flags] [FILE]     what follows in token streams
//	rosaline inspect      [flags] PATH       what the folder of a run or a table holds, and whether it is sound
//	rosaline devices                         what the machine offers
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
// The run is a pipeline of package pipeline. Its elements are batches of records, which
// the engine knows nothing of:
//
//	INPUT ──▸ lines ──▸ decode ──▸ scan ──▸ resolve ──▸ emit ──▸ writer ──▸ -o, --rejects, tally
//	          chunks    records    stages   dedup, in   lines or one, in                  │
//	          one       on the workers      order       rows     order           table, --report
//
// A batch of records may carry metadata, the other columns of a table or members of JSONL, as
// a batch of Arrow beside its texts. The emit stage makes lines of them or rows of a table,
// on the workers; the sink behind the writer is one file or numbered parts.
//
// With --shuffle the records are taken apart between decode and scan, and put together
// again in their new order:
//
//	decode ──▸ split ──▸ shuffle ──▸ batch ──▸ gather ──▸ scan
//
// An interrupt comes down the stream: the inputs end with an error, and what was
// read before is written. So does a bad record. rosaline quality is the same with
// one stage, measure, behind decode, and so is rosaline rosa with its stage match, whose
// lines may be as long as a thousand times their input: the workers make the first 32 MiB
// of a batch, and the writer the rest, as it is written.
//
// With --state the pipeline is one of package resume, and nothing comes down the stream that
// would not have come without the stop:
//
//	INPUT ──▸ lines ──▸ … ──▸ writer ──▸ -o, --rejects   cut back to the last commit when opened
//	          whole            │ every --commit-every batches
//	          chunks           └──▸ mark: sizes, totals ──▸ sync ──▸ log ──▸ tracker, behind the run
//
// A signal ends the reading of the stream, not the inputs. A chunk is held back until the inputs
// have given the next one, for one that an error has cut short would be longer when it is
// read again, and what was counted in chunks would be lost.
package main

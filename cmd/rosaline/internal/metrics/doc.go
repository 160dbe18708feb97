// Package metrics shows Prometheus how a pipeline goes while it runs.
//
//	pipeline.Stats ──▸ Collector ──▸ registry ──▸ Server, GET /metrics
//
// The numbers are taken when they are asked for; a run that nobody asks pays
// nothing. The names begin with rosaline_:
//
//	batches_written_total                        elements that the consumer received
//	epoch, workers, in_flight, in_flight_bytes   as they are now
//	elapsed_seconds, wait_seconds_total          of the run; that the consumer waited
//	stage_in_total, stage_out_total              {stage}
//	stage_bytes_total                            {stage}
//	stage_errors_total                           {stage, kind}
//	stage_busy_seconds_total                     {stage}
//	stage_wait_seconds_total                     {stage, for="input"|"output"}
//	queue_depth, queue_peak, queue_limit         {stage}: the queue behind it, in chunks
package metrics

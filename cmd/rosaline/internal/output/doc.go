// Package output writes files that are there whole or not at all.
//
//	Create ──▸ path.partial ──▸ Write … ──┬─▸ Commit: synced, renamed to path
//	                                      └─▸ Abort:  stays path.partial, for a look
//
// While one run writes to a path, another that wants the same path is refused.
package output

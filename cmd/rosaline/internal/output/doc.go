// Package output writes files that are there whole or not at all.
//
//	Create ──▸ path.partial ──▸ Write … ──┬─▸ Commit: synced, renamed to path
//	                                      └─▸ Abort:  stays path.partial, for a look
package output

//go:build !linux

package hugepages

// Prefer does nothing.
func Prefer[T any]([]T) {}

//go:build !linux

package pipeline

// pin does nothing where a thread cannot be bound to a CPU.
func pin(int) func() { return func() {} }

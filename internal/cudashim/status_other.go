//go:build !cuda || !cgo || !linux

package cudashim

// Status returns [ErrNotBuilt].
func Status() error { return ErrNotBuilt }

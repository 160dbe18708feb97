//go:build !linux

package cpu

import "testing"

func newArena(_ testing.TB, size int) []byte { return make([]byte, (size+4095)/4096*4096) }

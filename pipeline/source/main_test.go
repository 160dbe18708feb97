package source

import (
	"testing"

	"go.uber.org/goleak"
)

// A reader starts no goroutines, and neither does a decoder it no longer needs.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

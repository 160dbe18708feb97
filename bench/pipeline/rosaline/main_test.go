package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestServeNeedsItsFolder(t *testing.T) {
	require.ErrorContains(t, serve(context.Background(), nil), "folder")
}

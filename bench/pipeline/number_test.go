package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		want string
		v    float64
	}{{"1234", 1234.4}, {"99.9", 99.94}, {"0.0123", 0.01234}, {"0", 0}, {"1.00", 1}, {"-2", -2.4}} {
		require.Equal(t, c.want, number(c.v, 3), c.v)
	}
}

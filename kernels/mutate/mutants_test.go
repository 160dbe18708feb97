package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMutants: all changes of a small source, written by hand.
func TestMutants(t *testing.T) {
	const source = `// if (a < b) is a comment
#define N 3
static __device__ uint64_t row(int n,
                               int m) {
  return n + blockIdx.x;  // + 1
}
KERNEL(mark, const uint32_t *a, uint64_t n) {
  SHARED(uint8_t, head, 4);
  __syncthreads();
  if (row() < n && head[0]) a[row()] |= 1u << 3;
}
`
	var got []string
	for _, m := range mutants(source) {
		got = append(got, m.String())
	}
	require.Equal(t, []string{
		"row, line 5: return n + blockIdx.x;  ▸  return n - blockIdx.x;",
		"mark, line 9: __syncthreads();  ▸  ",
		"mark, line 9: __syncthreads();  ▸  if (threadIdx.x) __syncthreads();",
		"mark, line 10: if (row() < n && head[0]) a[row()] |= 1u << 3;  ▸  if (true) a[row()] |= 1u << 3;",
		"mark, line 10: if (row() < n && head[0]) a[row()] |= 1u << 3;  ▸  if (row() <= n && head[0]) a[row()] |= 1u << 3;",
		"mark, line 10: if (row() < n && head[0]) a[row()] |= 1u << 3;  ▸  if (row() < n || head[0]) a[row()] |= 1u << 3;",
		"mark, line 10: if (row() < n && head[0]) a[row()] |= 1u << 3;  ▸  if (row() < n && head[0 + 1]) a[row()] |= 1u << 3;",
		"mark, line 10: if (row() < n && head[0]) a[row()] |= 1u << 3;  ▸  if (row() < n && head[0]) a[row() + 1] |= 1u << 3;",
		"mark, line 10: if (row() < n && head[0]) a[row()] |= 1u << 3;  ▸  if (row() < n && head[1]) a[row()] |= 1u << 3;",
		"mark, line 10: if (row() < n && head[0]) a[row()] |= 1u << 3;  ▸  if (row() < n && head[0]) a[row()] |= 2u << 3;",
		"mark, line 10: if (row() < n && head[0]) a[row()] |= 1u << 3;  ▸  if (row() < n && head[0]) a[row()] |= 1u << 4;",
	}, got)
	require.Equal(t, strings.Replace(source, "  __syncthreads();\n", "  \n", 1), mutants(source)[1].source)
}

func TestReadSame(t *testing.T) {
	same, err := readSame("# a comment\n\nrow\ta + b;\ta - b;\tb is zero\n")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"row\ta + b;\ta - b;": "b is zero"}, same)
	for _, bad := range []string{"row\ta\tb\n", "row\ta\tb\t\n", "row\ta\tb\twhy\nrow\ta\tb\twhy\n"} {
		_, err := readSame(bad)
		require.Error(t, err, bad)
	}
}

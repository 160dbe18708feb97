//go:build cuda

package kernels

import _ "embed"

// Where is the fat binary of where.cu: the predicates where_prefix, where_suffix, where_equal,
// where_length and where_contains.
//
//go:embed build/where.fatbin
var Where string

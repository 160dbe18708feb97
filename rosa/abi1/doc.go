// Package abi1 steps automata that lie in arrays of the caller: the states of ABI 1 of
// rosa-torch-native, which several programs share. What is bound here can be stepped here,
// then elsewhere, and here again.
//
// With B rows, N tokens a row at most, S ≥ 2·N+1 states, E ≥ 4·N+1 edges and H ≥ 2·E hash
// slots, a power of two, all arrays are C-contiguous and begin as said:
//
//	history            int64 [B, N]
//	head               int32 [B, S]  newest edge of a state, −1
//	edge_token         int64 [B, E]
//	edge_target, _next int32 [B, E]  edges of a state are a list, newest first
//	hash_state         int32 [B, H]  −1 where a slot is free
//	hash_token         int64 [B, H]
//	hash_edge          int32 [B, H]  the edge of (state, token), by linear probing
//	suffix_link        int32 [B, S]  −1
//	length             int32 [B, S]  0
//	lct_left, _right, _parent  int32 [B, S]  −1, a link-cut tree over the suffix links
//	lct_stack          int32 [B, S]  scratch
//	last, size, edge_count     int32 [B]  0, 1, 0
//	positions          int64 [B]     0, in ragged states
//
// A state of [State] adds the newest end of each state's strings, −1, assigned to paths:
//
//	lct_value, lct_lazy  int64 [B, S]
//	lct_lazy_valid       uint8 [B, S]  0
//
// and one of [CandidateState] the R newest ends, newest first, and how many there were:
//
//	occurrences, lazy_prefix    int64 [B, S, R]  −1
//	occurrence_size, lazy_size  int32 [B, S]     0
//	frequency, lazy_delta       int64 [B, S]     0
//
// A pending (lazy) value of a node is owed to the two nodes below it in its splay tree, and
// not to itself.
//
// A token takes amortised O(log n), but for tokens that were chosen to meet in the hash
// table: its hash is a part of the ABI. Those of rosa.State cannot be chosen so.
//
// Positions have one authority. In a uniform state it is the position of all rows, in a
// ragged one the array. Both are read before each call and written after it, in the
// caller's memory, so that another program may have stepped in between.
package abi1

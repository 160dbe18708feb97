// Package rosa finds repeats in streams of tokens, exactly and online: the suffix
// automaton's answers that RWKV-8 calls ROSA, the Rapid Online Suffix Automaton.
//
// For tokens x[0], x[1], … let LCS(j, i) be how many tokens are equal going back from j
// and from i. When x[i] has come:
//
//	length  L(i) = max LCS(j, i) over j < i, the two may overlap
//	source  the largest j < i with LCS(j, i) = L(i)
//	next    x[source+1], what followed there: the prediction of x[i+1]
//
// and where nothing occurred before, length 0, source −1, next −1. The test's brute force
// is just that.
//
//	x          a b c a b d a b
//	length     0 0 0 1 2 0 1 2
//	source     − − − 0 1 − 3 4
//	next       − − − b c − b d
//
// # Layout
//
//	State ── tree ┬─ text      one byte a token, four where tokens are not all bytes
//	              ├─ nodes     32 bytes each, in chunks, with few children ┐
//	              ├─ slabs     the children of nodes with more             ┘ branches.go
//	              └─ paths     link-cut tree, only once climbing got dear
//	      │  dictionary        codes of tokens that are not bytes
//	      └─ order             in place of these, where no step may be long: all prefixes
//	                           read backwards, in a B+tree
//
//	Candidates ─┐              more than one suffix and occurrence, and how often each is
//	QKV ────────┴ automaton    queries matched in a stream of keys, values of another
//
//	Batch, CandidateBatch      many rows of a State or Candidates, on several threads
//	abi1                       states that lie in the arrays of another program
//
// The tree is the suffix tree of the text, which answers as the automaton does: a state of
// the automaton of the text is a set of end positions, a node of the tree of the reversed
// text; L(i) is there the longest suffix in a state with another end position. Here it is
// Ukkonen's active point in the tree of the text itself: the longest suffix that occurs
// earlier, whose occurrences are the leaves below. Both name the same string, so the same
// length, and its newest earlier occurrence.
//
// A token costs amortised O(log n), whatever the stream, and O(1) while a match grows; with
// [WithBoundedSteps], O(log² n) at worst.
package rosa

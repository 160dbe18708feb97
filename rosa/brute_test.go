package rosa

// brute returns the matches of tokens by the definition, in O(n²).
func brute(x []int64) []Match {
	matches := make([]Match, len(x))
	lcs := make([]int, len(x)+1) // LCS(j, i) at j+1
	for i := range x {
		matches[i] = none
		for j := i; j >= 0; j-- {
			lcs[j+1] = 0
			if x[j] == x[i] {
				lcs[j+1] = lcs[j] + 1
				// lcs[j] is still that of i−1.
			}
			if j < i && lcs[j+1] > matches[i].Length {
				matches[i] = Match{Next: x[j+1], Source: j, Length: lcs[j+1]}
			}
		}
	}
	return matches
}

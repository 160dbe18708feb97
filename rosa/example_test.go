package rosa_test

import (
	"fmt"

	"github.com/rosaline-go/rosaline/rosa"
)

func ExampleState() {
	s := rosa.NewState()
	for _, token := range []int64{7, 8, 9, 7, 8} {
		m, err := s.Step(token)
		if err != nil {
			panic(err)
		}
		fmt.Println(token, m.Length, m.Source, m.Next)
	}
	// Output:
	// 7 0 -1 -1
	// 8 0 -1 -1
	// 9 0 -1 -1
	// 7 1 0 8
	// 8 2 1 9
}

func ExampleState_Rollback() {
	s := rosa.NewState(rosa.WithRollback(8))
	_, _ = s.Prefill([]int64{1, 2, 3, 1})
	_, _ = s.Prefill([]int64{2, 5}) // a guess that turns out wrong
	_ = s.Rollback(2)
	m, _ := s.Step(2)
	fmt.Println(m.Next)
	// Output: 3
}

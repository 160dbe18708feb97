package rosa_test

import (
	"fmt"

	"github.com/rosaline-go/rosaline/rosa"
)

func ExampleBatch() {
	b, err := rosa.NewBatch(2, rosa.WithRagged())
	if err != nil {
		panic(err)
	}
	defer b.Close()
	both, second := []bool{true, true}, []bool{false, true}
	_, _ = b.StepMasked([]int64{7, 1}, both, nil)
	_, _ = b.StepMasked([]int64{8, 2}, both, nil)
	m, _ := b.StepMasked([]int64{0, 1}, second, nil)
	fmt.Println(m[0].Found(), m[1].Next)
	m, _ = b.StepMasked([]int64{7, 3}, both, second)
	fmt.Println(m[0].Next, m[1].Found())
	fmt.Println(b.Positions())
	// Output:
	// false 2
	// 8 false
	// [3 1] <nil>
}

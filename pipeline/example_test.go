package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/rosaline-go/rosaline/pipeline"
	"github.com/rosaline-go/rosaline/pipeline/source"
)

func Example() {
	words := source.Memory([]string{"apple", "", "banana", "cherry", "date", "elder"})
	p := pipeline.BatchRaw(pipeline.From(words).
		Filter(func(s string) bool { return s != "" }).
		Map(func(s string) (string, error) { return strings.ToUpper(s), nil }), 2)

	it, err := p.Start(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for batch, err := range it.All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(batch)
	}
	// Output:
	// [APPLE BANANA]
	// [CHERRY DATE]
	// [ELDER]
}

// A state says what the consumer has received. The pipeline that is resumed
// yields the rest, also in the middle of a shuffled epoch.
func ExampleIterator_State() {
	numbers := make([]int, 20)
	for i := range numbers {
		numbers[i] = i
	}
	p := pipeline.From(source.Memory(numbers)).Shuffle(8).Seed(1).Epochs(2)
	ctx := context.Background()

	straight, _ := p.Start(ctx)
	defer straight.Close()
	stopped, _ := p.Start(ctx)
	for range 13 {
		straight.Next(ctx)
		stopped.Next(ctx)
	}
	state, _ := stopped.State()
	stopped.Close()

	resumed, err := p.Resume(ctx, state)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resumed.Close()
	same := 0
	for {
		a, errA := straight.Next(ctx)
		b, errB := resumed.Next(ctx)
		if errA == io.EOF && errB == io.EOF {
			break
		}
		if a != b {
			fmt.Println("differs:", a, b)
		}
		same++
	}
	fmt.Println(same, "of", 2*len(numbers)-13)
	// Output: 27 of 27
}

// The end of an epoch is visible.
func ExampleIterator_Epochs() {
	p := pipeline.BatchRaw(pipeline.From(source.Memory([]int{1, 2, 3})).Epochs(2), 2)
	it, _ := p.Start(context.Background())
	for epoch, batches := range it.Epochs(context.Background()) {
		for batch, err := range batches {
			fmt.Println(epoch, batch, err)
		}
	}
	// Output:
	// 0 [1 2] <nil>
	// 0 [3] <nil>
	// 1 [1 2] <nil>
	// 1 [3] <nil>
}

// Under Skip a bad element is left out, counted, and offered to a sink.
func ExamplePipeline_OnError() {
	p := pipeline.From(source.Memory([]int{4, 0, 2})).
		Map(func(n int) (int, error) {
			if n == 0 {
				return 0, errors.New("division by zero")
			}
			return 8 / n, nil
		}).Named("divide").
		OnError(pipeline.Skip).
		ErrorSink(func(e *pipeline.StageError) { fmt.Println(e) })
	it, _ := p.Start(context.Background())
	for v := range it.All(context.Background()) {
		fmt.Println(v)
	}
	fmt.Println(it.Stats().ErrorCount(), "left out")
	// Output:
	// pipeline: divide: element 1 of epoch 0: division by zero
	// 2
	// 4
	// 1 left out
}

// Each element has random numbers of its own, whatever worker it falls to.
func ExamplePipeline_MapRand() {
	flip := func(rng *rand.Rand, s string) (string, error) {
		if rng.IntN(2) == 0 {
			return s, nil
		}
		return strings.ToUpper(s), nil
	}
	run := func(workers int) string {
		it, _ := pipeline.From(source.Memory(strings.Fields("a b c d e f g h"))).
			MapRand(flip).Seed(3).Workers(workers).Start(context.Background())
		out := ""
		for s := range it.All(context.Background()) {
			out += s
		}
		return out
	}
	fmt.Println(run(1) == run(4))
	// Output: true
}

// Three ranks see as many elements each; the last one of two of them is padding.
func ExamplePipeline_Shard() {
	data := source.Memory([]string{"a", "b", "c", "d"})
	for rank := range 3 {
		it, _ := pipeline.From(data).Shard(rank, 3).ShardMode(pipeline.Pad).Start(context.Background())
		var part []string
		for s := range it.All(context.Background()) {
			part = append(part, s)
		}
		fmt.Println(part)
	}
	// Output:
	// [a d]
	// [b a]
	// [c b]
}

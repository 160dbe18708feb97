package ordered_test

import (
	"context"
	"fmt"
	"io"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/ordered"
)

// squares is work on the numbers 1 to last. Scan squares a number on any worker,
// Resolve adds up in order what came before.
type squares struct{ next, last, sum int }

type number struct{ n, square, sum int }

func (w *squares) Next(context.Context) (*number, error) {
	if w.next++; w.next > w.last {
		return nil, io.EOF
	}
	return &number{n: w.next}, nil
}

func (w *squares) Scan(x *number) error    { x.square = x.n * x.n; return nil }
func (w *squares) Resolve(x *number) error { w.sum += x.square; x.sum = w.sum; return nil }
func (w *squares) Emit(*number) error      { return nil }
func (w *squares) Write(x *number) error   { fmt.Println(x.n, x.square, x.sum); return nil }
func (w *squares) Recycle(*number)         {}

func ExampleRun() {
	stats, err := ordered.Run(context.Background(), &squares{last: 4}, ordered.Config{Workers: 3, Prefetch: 2})
	fmt.Println(stats.Items, err)
	// Output:
	// 1 1 1
	// 2 4 5
	// 3 9 14
	// 4 16 30
	// 4 <nil>
}

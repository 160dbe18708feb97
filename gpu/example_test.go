package gpu_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/rosaline-go/rosaline/gpu"
	"github.com/rosaline-go/rosaline/stringtensor"
)

// A column is uploaded once and asked as often as need be. Where there is no device the twin
// of the same name answers; an unusable driver is not taken for that.
func Example() {
	c, err := stringtensor.FromStrings([]string{"rose", "rosaline", "line"})
	if err != nil {
		log.Fatal(err)
	}
	e, err := gpu.Open(0)
	if errors.Is(err, gpu.ErrNoDevice) {
		fmt.Println(c.WherePrefix("rose"), c.WhereContains("line"))
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()

	d, err := e.Upload(c)
	if err != nil {
		log.Fatal(err)
	}
	defer d.Release()
	var rows [2]stringtensor.Selection
	for i, ask := range []func() (*gpu.Selection, error){
		func() (*gpu.Selection, error) { return d.WherePrefix("rose") },
		func() (*gpu.Selection, error) { return d.WhereContains("line") },
	} {
		s, err := ask()
		if err != nil {
			log.Fatal(err)
		}
		if rows[i], err = s.Fetch(); err != nil {
			log.Fatal(err)
		}
		if err := s.Release(); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(rows[0], rows[1])
	// Output: [0] [1 2]
}

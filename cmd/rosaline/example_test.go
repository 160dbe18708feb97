package main

import (
	"context"
	"io"
	"os"
	"strings"
)

// The command reads standard input and writes the records that survive.
func Example() {
	input := `{"id":1,"text":"  Write to fox@example.org about the lazy dogs. "}
{"id":2,"text":"too short"}
{"id":3,"text":"Write to fox@example.org about the lazy dogs."}
`
	execute(context.Background(), []string{"run", "-"},
		streams{strings.NewReader(input), os.Stdout, io.Discard})
	// Output:
	// {"id":1,"text":"Write to [EMAIL] about the lazy dogs."}
}

package jsonl_test

import (
	"fmt"

	"github.com/rosaline-go/rosaline/cmd/rosaline/internal/jsonl"
)

func Example() {
	var line []byte
	line = jsonl.AppendString(append(line, `{"text":`...), "a \"b\"\n\xff")
	line = jsonl.AppendFloat(append(line, `,"entropy":`...), 2.5)
	line = jsonl.AppendBytes(append(line, `,"tokens":`...), "ab")
	fmt.Println(string(append(line, '}')))
	// Output: {"text":"a \"b\"\n�","entropy":2.5,"tokens":[97,98]}
}

package stringtensor_test

import (
	"bytes"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/rosaline-go/rosaline/stringtensor"
)

func ExampleFromArrow() {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues([]string{"short", "", "a string of more than twelve bytes"}, []bool{true, false, true})
	arr := b.NewArray()

	col, err := stringtensor.FromArrow(arr)
	if err != nil {
		fmt.Println(err)
		return
	}
	arr.Release() // the column retains what it uses
	defer col.Release()
	fmt.Println(col.Len(), col.NullCount(), col.At(2))
	// Output: 3 1 a string of more than twelve bytes
}

func ExampleColumn_ToArrow() {
	col, err := stringtensor.FromStrings([]string{"a", "b"})
	if err != nil {
		fmt.Println(err)
		return
	}
	arr, err := col.ToArrow(memory.DefaultAllocator, stringtensor.ArrowStringView)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer arr.Release()
	fmt.Println(arr.DataType(), arr)
	// Output: string_view ["a" "b"]
}

// A stream with two batches, written and read.
func ExampleIPCReader() {
	var stream bytes.Buffer
	w, err := stringtensor.NewIPCStreamWriter(&stream, []string{"text"}, stringtensor.WithIPCCompression(stringtensor.IPCZstd))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, rows := range [][]string{{"one", "two"}, {"three"}} {
		col, err := stringtensor.FromStrings(rows)
		if err == nil {
			err = w.Write(col)
		}
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}

	r, err := stringtensor.NewIPCStreamReader(&stream, stringtensor.WithIPCColumns("text"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for {
		batch, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(batch.Rows, batch.Columns[0].Strings())
		batch.Release()
	}
	// Output:
	// 2 [one two]
	// 1 [three]
}

package main

import (
	"fmt"
	"strings"
)

// listValue is a flag that takes names separated by commas, or none.
type listValue[T fmt.Stringer] struct {
	items []T
	typ   string
	parse func(string) ([]T, error)
}

func (v *listValue[T]) Type() string { return v.typ }
func (v *listValue[T]) String() string {
	if len(v.items) == 0 {
		return "none"
	}
	names := make([]string, len(v.items))
	for i, x := range v.items {
		names[i] = x.String()
	}
	return strings.Join(names, ",")
}
func (v *listValue[T]) Set(s string) error {
	items, err := v.parse(s)
	if err != nil {
		return err
	}
	v.items = items
	return nil
}

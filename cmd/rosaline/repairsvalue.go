package main

import "github.com/rosaline-go/rosaline/pipeline/text"

// repairsValue is a flag that takes names of repairs separated by commas, all, or none.
type repairsValue text.Repairs

func (v *repairsValue) Type() string   { return "LIST" }
func (v *repairsValue) String() string { return text.Repairs(*v).String() }
func (v *repairsValue) Set(s string) error {
	set, err := text.ParseRepairs(s)
	if err != nil {
		return err
	}
	*v = repairsValue(set)
	return nil
}

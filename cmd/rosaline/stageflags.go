package main

import (
	"strings"

	"github.com/rosaline-go/rosaline/pipeline/text"
)

// stagesValue is the flag --stages.
type stagesValue struct{ stages []text.Stage }

func (v *stagesValue) Type() string { return "LIST" }
func (v *stagesValue) String() string {
	if len(v.stages) == 0 {
		return "none"
	}
	names := make([]string, len(v.stages))
	for i, s := range v.stages {
		names[i] = s.String()
	}
	return strings.Join(names, ",")
}
func (v *stagesValue) Set(s string) error {
	stages, err := text.ParseStages(s)
	if err != nil {
		return err
	}
	v.stages = stages
	return nil
}

// kindsValue is the flag --pii.
type kindsValue struct{ kinds []text.Kind }

func (v *kindsValue) Type() string { return "KINDS" }
func (v *kindsValue) String() string {
	if len(v.kinds) == 0 {
		return "none"
	}
	names := make([]string, len(v.kinds))
	for i, k := range v.kinds {
		names[i] = k.String()
	}
	return strings.Join(names, ",")
}
func (v *kindsValue) Set(s string) error {
	kinds, err := text.ParseKinds(s)
	if err != nil {
		return err
	}
	v.kinds = kinds
	return nil
}

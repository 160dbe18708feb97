package main

import (
	"errors"
	"strings"

	"github.com/rosaline-go/rosaline/pipeline/source"
)

// metadataValue is the flag --metadata.
type metadataValue struct {
	names []string // as [source.WithMetadata] takes them
	set   bool     // by the user
}

func (v *metadataValue) String() string {
	switch {
	case len(v.names) == 0:
		return "none"
	case v.names[0] == source.AllMetadata:
		return "all"
	}
	return strings.Join(v.names, ",")
}

func (v *metadataValue) Type() string { return "LIST" }

func (v *metadataValue) Set(s string) error {
	switch s {
	case "none":
		v.names = nil
	case "all":
		v.names = []string{source.AllMetadata}
	default:
		v.names = strings.Split(s, ",")
		for _, n := range v.names {
			if n == "" || n == source.AllMetadata {
				return errors.New("must be names separated by commas, all or none")
			}
		}
	}
	v.set = true
	return nil
}

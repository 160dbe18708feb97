package cudashim_test

import (
	"errors"
	"fmt"

	"github.com/rosaline-go/rosaline/internal/cudashim"
)

// Absence is a reason to do without; everything else has to be told.
func ExampleStatus() {
	switch err := cudashim.Status(); {
	case err == nil:
		fmt.Println("the driver can be called")
	case errors.Is(err, cudashim.ErrNotBuilt), errors.Is(err, cudashim.ErrNoDriver), errors.Is(err, cudashim.ErrNoDevice):
		fmt.Println("no device:", err)
	default:
		fmt.Println("the driver has to be repaired:", err)
	}
}

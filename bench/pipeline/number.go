package main

import (
	"math"
	"strconv"
)

// number formats v with so many digits that count, and never an exponent.
func number(v float64, digits int) string {
	places := 0
	if v > 0 {
		places = max(0, digits-1-int(math.Floor(math.Log10(v))))
	}
	return strconv.FormatFloat(v, 'f', places, 64)
}

// percent formats a share with one place.
func percent(share float64) string { return strconv.FormatFloat(share*100, 'f', 1, 64) + " %" }

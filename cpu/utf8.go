package cpu

import "unicode/utf8"

// ValidUTF8 reports whether s is UTF-8, as [utf8.Valid] does. O(len(s)).
//
// Algorithm of the vector bodies: J. Keiser and D. Lemire, Validating UTF-8 in less
// than one instruction per byte, Software: Practice and Experience 51 (2021).
func ValidUTF8(s []byte) bool { return validUTF8(s) }

func validUTF8Generic(s []byte) bool { return utf8.Valid(s) }

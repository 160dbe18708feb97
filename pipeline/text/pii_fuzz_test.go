package text

import "testing"

// FuzzPII holds the masker to the model of docs/pii.md, and masking twice to masking once.
func FuzzPII(f *testing.F) {
	for _, s := range piiPieces {
		f.Add(s)
		f.Add("x " + s + "-" + s)
	}
	for _, s := range []string{
		"4111 1111 1111 1111 10.0.0.1@mail.com", "+49 30 1234567-0:fe80::1", "bob@x.org-----sk-aaaaaaaaaaaaaaaaaa", "1.2.3.4:fe80::1-::1",
		"token: Basic a1b2c3d4e5f6a7b8c9d0==(", "Bearer Bearer aaaaaaaaaaaaaaaaaaaaaaaa.-",
	} {
		f.Add(s)
	}
	maskers := piiMaskers(f)
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 400 {
			return // the model is quadratic
		}
		requireSpans(t, maskers, s)
	})
}

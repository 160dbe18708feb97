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

// FuzzRule holds rules to package regexp: what a pattern finds, and that no pattern makes a
// masker that finds something else.
func FuzzRule(f *testing.F) {
	for _, x := range [][2]string{
		{`EMP-\d{6}`, "EMP-123456 EMP-1"}, {`a.*b|a`, "aaaaaaaaaaaaaaaaaaaaaaaaaab"}, {`(?P<mask>a+)+?b`, "aabab"}, {`(?:a|é)+$`, "aéa\xff"},
		{`(?i)k`, "\u212aK"}, {`\x{FFFD}`, "\xff\ufffd"}, {`\bab|\Bb`, "abab"}, {`(?m)^a$`, "a\na"}, {`(a*)*b`, "aab"}, {`[^a]`, "é"},
	} {
		f.Add(x[0], x[1])
	}
	f.Fuzz(func(t *testing.T, pattern, s string) {
		if len(pattern) > 100 || len(s) > 1000 {
			return // the model is quadratic
		}
		requireRule(t, pattern, s)
	})
}

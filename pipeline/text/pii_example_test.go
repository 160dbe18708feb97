package text_test

import (
	"fmt"

	"github.com/rosaline-go/rosaline/pipeline/text"
)

func ExamplePIIMasker() {
	m, err := text.NewPIIMasker(text.WithKinds(text.AllKinds()...), text.WithReplacement(text.KindPhone, "<phone>"))
	if err != nil {
		panic(err)
	}
	out, spans := m.MaskString("Ann <ann@example.org>, (555) 123-4567, logged in from 2001:db8::7 with release 1.2.3.4")
	fmt.Println(out)
	for _, s := range spans {
		fmt.Println(s.Kind, s.Start, s.End)
	}
	// Output:
	// Ann <[EMAIL]>, <phone>, logged in from [IP] with release 1.2.3.4
	// email 5 20
	// phone 23 37
	// ip 54 65
}

func ExampleParseKinds() {
	kinds, err := text.ParseKinds("key,phone")
	fmt.Println(kinds, err)
	_, err = text.ParseKinds("key,name")
	fmt.Println(err)
	// Output:
	// [key phone] <nil>
	// text: invalid option: kind of personal data "name" is not one of key, email, card, ip, phone, all, none
}

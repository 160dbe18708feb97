package text

import (
	"strings"
	"testing"
)

func TestEmails(t *testing.T) {
	l64 := strings.Repeat("a", 64)
	l63 := l64[:63]
	requireMasked(t, KindEmail, []maskCase{
		{"mail bob@example.com now", "mail [EMAIL] now"},
		{"a@b.com,c@d.org", "[EMAIL],[EMAIL]"},
		{"<q.r@s.io>", "<[EMAIL]>"},
		{"x+y%z@sub.d-om.org.", "[EMAIL]."},
		{"mailto:bob@example.com?subject=x", "mailto:[EMAIL]?subject=x"},
		{"bob@x.com-5 bob@x.com.5 bob@x.com-", "[EMAIL]-5 [EMAIL].5 [EMAIL]-"},
		{"see...bob@x.org", "see...[EMAIL]"},
		{"-bob@x.org %bob@x.org _bob@x.org", "-[EMAIL] %[EMAIL] [EMAIL]"},
		{"a@b@c.org", "a@[EMAIL]"},
		{"bob@xn--80a1acny.xn--p1ai.", "[EMAIL]."},
		{"bob@x.XN--a-b-", "[EMAIL]-"},
		{l64 + "@x.org", "[EMAIL]"},
		{l64 + "." + l63 + "@x.org", l64 + ".[EMAIL]"},
		{"bob@" + l63 + ".org", "[EMAIL]"},
		{"bob@x.org." + l64, "[EMAIL]." + l64},
		{"bob@" + strings.Repeat("a.", 126) + "org", "[EMAIL]"},
		{"bob@x.org." + strings.Repeat("a.", 200) + "org", "[EMAIL]." + strings.Repeat("a.", 200) + "org"},
	})
	requireLeft(t, "a@b.c", "@x.com", "bob@", "foo@bar..com", "foo@.bar.com", "foo@-bar.com", "foo@bar-.com", "bob.@x.org", "bob@localhost",
		"bob@x.com_y", "bob@x.com1", "a"+l64+"@x.org", "bob@"+l64+".org", "bob@"+strings.Repeat("a.", 127)+"org", "bob @x.org", "bob@ x.org")
}

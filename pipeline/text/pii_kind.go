package text

import "fmt"

// Kind is one kind of personal data.
type Kind uint8

// The kinds, in the order they are searched: where two would overlap, the one
// searched first wins.
const (
	KindKey   Kind = iota // keys and tokens of programs
	KindEmail             // mail addresses
	KindCard              // numbers of payment cards
	KindIP                // addresses of IP versions 4 and 6
	KindPhone             // telephone numbers
	kindCount
)

var kindNames = [kindCount]string{"key", "email", "card", "ip", "phone"}

// kindLabels are the words in brackets that take the place of a kind.
var kindLabels = [kindCount]string{"API_KEY", "EMAIL", "CARD", "IP", "PHONE"}

// MaxRules is the largest number of rules of a masker.
const MaxRules = 32

// maskedKinds is the number of kinds, those of rules among them.
const maskedKinds = int(kindCount) + MaxRules

// RuleKind returns the kind of what rule i of a masker finds, counted from 0; its name is
// known to the masker, see [PIIMasker.Name].
func RuleKind(i int) Kind { return kindCount + Kind(i) }

// String returns the name used on the command line and in reports; rules have theirs by
// [PIIMasker.Name].
func (k Kind) String() string {
	if k < kindCount {
		return kindNames[k]
	}
	if int(k) < maskedKinds {
		return fmt.Sprintf("rule(%d)", k-kindCount)
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// DefaultKinds returns the kinds a masker looks for unless told otherwise: all
// but phone, whose shape is common in tables of numbers.
func DefaultKinds() []Kind { return []Kind{KindKey, KindEmail, KindCard, KindIP} }

// AllKinds returns every kind.
func AllKinds() []Kind { return append(DefaultKinds(), KindPhone) }

// ParseKinds reads a comma-separated list of kinds, "all" or "none". A name that
// is unknown or comes twice is an error that wraps [ErrOption].
func ParseKinds(list string) ([]Kind, error) {
	switch list {
	case "all":
		return AllKinds(), nil
	case "none":
		return []Kind{}, nil
	}
	return parseNames(list, "kind of personal data", kindNames[:], Kind(0), "all", "none")
}

// Span is one piece of personal data: bytes Start to End, End not included.
type Span struct {
	Start, End int
	Kind       Kind
}

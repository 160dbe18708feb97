package text

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPIIGoldens(t *testing.T) {
	type golden struct {
		ID string
		KW struct {
			Emails *bool `json:"mask_emails"`
			IPs    *bool `json:"mask_ips"`
			Keys   *bool `json:"mask_api_keys"`
			Cards  *bool `json:"mask_cards"`
			Phones *bool `json:"mask_phones"`
		}
		In, Out string
	}
	deviations := readDeviations(t)
	for _, g := range readGoldens[golden](t, "pii.jsonl") {
		kinds := []Kind{}
		for k, on := range map[Kind]*bool{
			KindEmail: g.KW.Emails, KindIP: g.KW.IPs, KindKey: g.KW.Keys, KindCard: g.KW.Cards, KindPhone: g.KW.Phones,
		} {
			if on == nil && k != KindPhone || on != nil && *on {
				kinds = append(kinds, k)
			}
		}
		m, err := NewPIIMasker(WithKinds(kinds...))
		require.NoError(t, err)
		got, _ := m.MaskString(g.In)
		requireGolden(t, deviations, g.ID, got == g.Out, "%q gives %q, recorded %q", g.In, got, g.Out)
	}
}

package cli

import (
	"context"

	"pdpp/internal/store"
)

// ownerTokenList is `pdpp owner token list` (H-24).
type ownerTokenList struct{ jsonFlag }

// Run implements the command.
func (c *ownerTokenList) Run(ctx context.Context, a *app) error {
	return a.withKnownOwner(ctx, func(s session) error {
		var tokens []store.Token
		err := s.store.View(ctx, func(v store.View) (err error) {
			tokens, err = v.Tokens(s.owner.ID, "")
			return err
		})
		if err != nil {
			return err
		}
		now := a.Now()
		if c.JSON {
			rows := []tokenRow{}
			for _, t := range tokens {
				rows = append(rows, rowOfToken(t, now))
			}
			return a.printJSON(map[string]any{"tokens": rows})
		}
		if len(tokens) == 0 {
			return a.print("There are no owner tokens.\n")
		}
		rows := [][]string{{"TOKEN", "LABEL", "STATUS", "ISSUED", "ENDS", "LAST USED"}}
		for _, t := range tokens {
			rows = append(rows, []string{
				string(t.ID), t.Label, t.Status(now), when(t.IssuedAt, ""), when(t.ExpiresAt, ""), when(t.LastUsedAt, "never"),
			})
		}
		return a.print(table(rows...))
	})
}

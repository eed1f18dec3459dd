package cli

import (
	"context"

	"pdpp/internal/store"
)

// ownerTokenList is `pdpp owner token list` (H-24).
type ownerTokenList struct{ jsonFlag }

// Run implements the command.
func (c *ownerTokenList) Run(ctx context.Context, a *app) error {
	return a.withExistingOwner(ctx, func(s session) error {
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
			return printRows(a, "tokens", tokens, func(t store.Token) tokenRow { return rowOfToken(t, now) })
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

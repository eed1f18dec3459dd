package cli

import (
	"context"
	"fmt"
	"slices"

	"pdpp"
	"pdpp/internal/store"
)

// ownerTokenRevoke is `pdpp owner token revoke` (H-24).
type ownerTokenRevoke struct {
	ID string `arg:"" help:"Token id (tok_…)."`
	jsonFlag
}

type revokedToken struct {
	ID        pdpp.TokenID `json:"token_id"`
	Status    string       `json:"status"`
	RevokedAt string       `json:"revoked_at"`
	Already   bool         `json:"already"`
}

// Run implements the command.
func (c *ownerTokenRevoke) Run(ctx context.Context, a *app) error {
	return a.withExistingOwner(ctx, func(s session) error {
		var t store.Token
		var already bool
		err := s.revokeRights(ctx, func(tx store.Tx) error {
			own, err := tx.Tokens(s.owner.ID, "")
			if err != nil {
				return err
			}
			// Revoking a grant ends a client's token; this command does not.
			if !slices.ContainsFunc(own, func(t store.Token) bool { return string(t.ID) == c.ID }) {
				return a.withList(pdpp.Errorf(pdpp.CodeNotFound, "There is no owner token %s.", plain(c.ID)), "owner token list")
			}
			t, already, err = tx.RevokeToken(s.owner.ID, pdpp.TokenID(c.ID), a.Now())
			return err
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return a.printJSON(revokedToken{t.ID, "revoked", pdpp.FormatTime(t.RevokedAt), already})
		}
		if already {
			return a.print(fmt.Sprintf("Owner token %s was already revoked, %s.\n", t.ID, when(t.RevokedAt, "")))
		}
		return a.print(fmt.Sprintf("Revoked owner token %s.\n", t.ID))
	})
}

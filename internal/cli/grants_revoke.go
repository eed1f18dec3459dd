package cli

import (
	"context"
	"fmt"

	"pdpp"
	"pdpp/internal/store"
)

// grantsRevoke is `pdpp grants revoke` (H-18).
type grantsRevoke struct {
	ID string `arg:"" help:"Grant (grt_…)."`
	jsonFlag
}

type revokedGrant struct {
	ID        pdpp.GrantID `json:"grant_id"`
	Status    string       `json:"status"`
	RevokedAt string       `json:"revoked_at"`
	Already   bool         `json:"already"`
}

// Run implements the command. When it returns, the next request of the client is already
// refused (H-171).
func (c *grantsRevoke) Run(ctx context.Context, a *app) error {
	return a.withExistingOwner(ctx, func(s session) error {
		var g store.Grant
		var already bool
		err := s.revokeRights(ctx, func(tx store.Tx) (err error) {
			g, already, err = tx.RevokeGrant(s.owner.ID, pdpp.GrantID(c.ID), a.Now())
			return err
		})
		if err != nil {
			return a.withList(err, allGrants)
		}
		if c.JSON {
			return a.printJSON(revokedGrant{g.ID, "revoked", pdpp.FormatTime(g.RevokedAt), already})
		}
		if already {
			return a.print(fmt.Sprintf("Grant %s of %s was already revoked, %s.\n", g.ID, plain(g.Client.Name), when(g.RevokedAt, "")))
		}
		return a.print(fmt.Sprintf("Revoked grant %s of %s.\n", g.ID, plain(g.Client.Name)))
	})
}

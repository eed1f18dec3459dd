package cli

import (
	"context"
	"fmt"

	"pdpp"
	"pdpp/internal/store"
)

// packagesRevoke is `pdpp packages revoke` (H-18).
type packagesRevoke struct {
	ID string `arg:"" help:"Package (gpkg_…)."`
	jsonFlag
}

type revokedPackage struct {
	ID        pdpp.PackageID `json:"package_id"`
	Status    string         `json:"status"`
	RevokedAt string         `json:"revoked_at"`
	Grants    []pdpp.GrantID `json:"revoked_grants"`
	Already   bool           `json:"already"`
}

// Run implements the command. When it returns, the next request of the client is already
// refused (H-171).
func (c *packagesRevoke) Run(ctx context.Context, a *app) error {
	return a.withExistingOwner(ctx, func(s session) error {
		var p store.Package
		var grants []pdpp.GrantID
		var already bool
		err := s.revokeRights(ctx, func(tx store.Tx) (err error) {
			p, grants, already, err = tx.RevokePackage(s.owner.ID, pdpp.PackageID(c.ID), a.Now())
			return err
		})
		if err != nil {
			return a.withList(err, "packages list")
		}
		if c.JSON {
			return a.printJSON(revokedPackage{p.ID, "revoked", pdpp.FormatTime(p.RevokedAt), append([]pdpp.GrantID{}, grants...), already})
		}
		if already {
			return a.print(fmt.Sprintf("Package %s of %s was already revoked, %s.\n", p.ID, plain(p.Client.Name), when(p.RevokedAt, "")))
		}
		return a.print(fmt.Sprintf("Revoked package %s of %s with %s.\n", p.ID, plain(p.Client.Name), count(int64(len(grants)), "grant", "grants")))
	})
}

package cli

import (
	"context"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// packagesList is `pdpp packages list` (H-18).
type packagesList struct {
	jsonFlag
}

// packageRow is one package of H-18. Absent values are null.
type packageRow struct {
	PackageID  pdpp.PackageID   `json:"package_id"`
	Client     clientRow        `json:"client"`
	Status     pdpp.GrantStatus `json:"status"`
	Members    []memberRow      `json:"members"`
	IssuedAt   string           `json:"issued_at"`
	ExpiresAt  *string          `json:"expires_at"`
	LastUsedAt *string          `json:"last_used_at"`
}

// listedPackage is a package with its members.
type listedPackage struct {
	store.Package
	members []store.Member
}

// Run implements the command.
func (c *packagesList) Run(ctx context.Context, a *app) error {
	return a.withExistingOwner(ctx, func(s session) error {
		var all []listedPackage
		err := s.store.View(ctx, func(v store.View) error {
			packages, err := v.Packages(s.owner.ID)
			for _, p := range packages {
				members, err := v.Members(s.owner.ID, p.ID)
				if err != nil {
					return err
				}
				all = append(all, listedPackage{p, members})
			}
			return err
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return printRows(a, "packages", all, func(p listedPackage) packageRow { return p.row(a.Now()) })
		}
		return a.print(packagesText(all, a.Now()))
	})
}

func (p listedPackage) row(now time.Time) packageRow {
	row := packageRow{
		PackageID: p.ID, Client: rowOfClient(p.Client), Status: p.Status(now), Members: []memberRow{},
		IssuedAt: pdpp.FormatTime(p.IssuedAt), ExpiresAt: timeOrNull(p.ExpiresAt), LastUsedAt: timeOrNull(p.LastUsedAt),
	}
	for _, m := range p.members {
		member := rowOfMember(m)
		if m.Grant != nil {
			member.Status = m.Grant.Status(now)
		}
		row.Members = append(row.Members, member)
	}
	return row
}

// packagesText returns a line for each member. Only the first line of a package has the
// columns of the package.
func packagesText(all []listedPackage, now time.Time) string {
	if len(all) == 0 {
		return "There are no packages.\n"
	}
	rows := [][]string{{"PACKAGE", "CLIENT", "STATUS", "ISSUED", "ENDS", "LAST USED", "GRANT", "STATUS", "SOURCE", "CONNECTION"}}
	for _, p := range all {
		head := []string{
			string(p.ID), p.Client.Name, string(p.Status(now)), when(p.IssuedAt, ""), when(p.ExpiresAt, "when revoked"), when(p.LastUsedAt, "never"),
		}
		for _, m := range p.row(now).Members {
			rows = append(rows, append(head, string(m.GrantID), string(m.Status), string(m.Connector), connectionText(m)))
			head = make([]string, len(head))
		}
	}
	return table(rows...)
}

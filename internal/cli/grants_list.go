package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/store"
)

// grantsList is `pdpp grants list` (H-17).
type grantsList struct {
	Client string `placeholder:"NAME" help:"Only grants of this client (name or id)."`
	Status string `enum:"active,all" default:"active" help:"active (grants that can still be used), or all."`
	jsonFlag
}

// allGrants is the command that lists every grant.
const allGrants = "grants list --status all"

// grantRow is one grant of H-17. Absent values are null.
type grantRow struct {
	GrantID     pdpp.GrantID      `json:"grant_id"`
	PackageID   *string           `json:"package_id"`
	Client      clientRow         `json:"client"`
	Source      sourceRow         `json:"source"`
	Connections []grantConnection `json:"connections"`
	Streams     []string          `json:"streams"`
	AccessMode  *string           `json:"access_mode"`
	Status      pdpp.GrantStatus  `json:"status"`
	IssuedAt    string            `json:"issued_at"`
	ExpiresAt   *string           `json:"expires_at"`
	LastUsedAt  *string           `json:"last_used_at"`
}

type clientRow struct {
	ID   pdpp.ClientID          `json:"client_id"`
	Name string                 `json:"name"`
	Mode store.RegistrationMode `json:"registration_mode"`
}

func rowOfClient(c store.Client) clientRow { return clientRow{c.ID, c.Name, c.RegistrationMode} }

type sourceRow struct {
	Kind      *string           `json:"kind"`
	ID        *string           `json:"id"`
	Connector pdpp.ConnectorKey `json:"connector_key"`
}

type grantConnection struct {
	ID          pdpp.ConnectionID `json:"connection_id"`
	DisplayName string            `json:"display_name,omitempty"`
}

// Run implements the command.
func (c *grantsList) Run(ctx context.Context, a *app) error {
	return a.withExistingOwner(ctx, func(s session) error {
		var grants []store.Grant
		var catalog *pdpp.Catalog
		err := s.store.View(ctx, func(v store.View) (err error) {
			if catalog, err = v.Catalog(s.owner.ID); err != nil {
				return err
			}
			grants, err = c.find(v, s.owner.ID)
			return err
		})
		if err != nil {
			return a.withList(err, allGrants)
		}
		now := a.Now()
		if c.Status == "active" {
			grants = slices.DeleteFunc(grants, func(g store.Grant) bool { return !usable(g, now) })
		}
		if c.JSON {
			return printRows(a, "grants", grants, func(g store.Grant) grantRow { return rowOfGrant(g, catalog, now) })
		}
		return a.print(grantsText(grants, now))
	})
}

func (c *grantsList) find(v store.View, owner pdpp.SubjectID) ([]store.Grant, error) {
	var filter store.GrantFilter
	if c.Client != "" {
		client, err := v.Client(owner, c.Client)
		if err != nil {
			return nil, err
		}
		filter.Client = client.ID
	}
	return v.Grants(owner, filter)
}

// usable reports whether a client can read with a grant. A consumed grant issues no
// further token, but the token that it issued is still valid (H-149).
func usable(g store.Grant, now time.Time) bool {
	status := g.Status(now)
	return status == pdpp.GrantActive || status == pdpp.GrantConsumed
}

func rowOfGrant(g store.Grant, c *pdpp.Catalog, now time.Time) grantRow {
	row := grantRow{
		GrantID: g.ID, PackageID: orNull(string(g.Package)), Client: rowOfClient(g.Client),
		Source: sourceRow{Connector: g.ConnectorKey}, Connections: []grantConnection{}, Streams: []string{},
		Status: g.Status(now), IssuedAt: pdpp.FormatTime(g.IssuedAt),
		ExpiresAt: timeOrNull(g.ExpiresAt), LastUsedAt: timeOrNull(g.LastUsedAt),
	}
	// A grant that cannot be interpreted allows nothing. It is listed so that it can be
	// revoked.
	doc, err := grant.ParseDocument(g.Document, g.ConnectorKey)
	if err != nil {
		return row
	}
	row.Source.Kind, row.Source.ID, row.AccessMode = orNull(doc.SourceKind), orNull(doc.SourceID), orNull(doc.AccessMode)
	row.Streams = append(row.Streams, streamNames(doc)...)
	for _, id := range doc.Connections() {
		conn, _ := c.Connection(id)
		row.Connections = append(row.Connections, grantConnection{id, conn.DisplayName()})
	}
	return row
}

func streamNames(g *pdpp.Grant) (names []string) {
	for _, s := range g.Streams {
		names = append(names, s.Name)
	}
	return names
}

func grantsText(grants []store.Grant, now time.Time) string {
	if len(grants) == 0 {
		return "There are no grants.\n"
	}
	rows := [][]string{{"GRANT", "CLIENT", "SOURCE", "STREAMS", "STATUS", "ISSUED", "ENDS", "LAST USED"}}
	for _, g := range grants {
		streams := "cannot be interpreted"
		if doc, err := grant.ParseDocument(g.Document, g.ConnectorKey); err == nil {
			streams = strings.Join(streamNames(doc), ", ")
		}
		rows = append(rows, []string{
			string(g.ID), g.Client.Name, string(g.ConnectorKey), streams, string(g.Status(now)),
			when(g.IssuedAt, ""), when(g.ExpiresAt, "when revoked"), when(g.LastUsedAt, "never"),
		})
	}
	return table(rows...)
}

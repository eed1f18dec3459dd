package cli

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/store"
)

// grantsShow is `pdpp grants show` (H-17).
type grantsShow struct {
	ID string `arg:"" help:"Grant (grt_…)."`
	jsonFlag
}

type grantDetail struct {
	grantRow
	Details            []json.RawMessage `json:"authorization_details"`
	PurposeCode        *string           `json:"purpose_code"`
	PurposeDescription *string           `json:"purpose_description"`
	Tokens             []tokenRow        `json:"tokens"`
}

// tokenRow is a token in an answer. It has no value, because the store has none.
type tokenRow struct {
	ID         pdpp.TokenID   `json:"token_id"`
	Kind       pdpp.TokenKind `json:"kind"`
	Audience   []string       `json:"audience"`
	Label      *string        `json:"label,omitempty"`
	IssuedAt   string         `json:"issued_at"`
	ExpiresAt  string         `json:"expires_at"`
	LastUsedAt *string        `json:"last_used_at"`
	Status     string         `json:"status"`
}

func rowOfToken(t store.Token, now time.Time) tokenRow {
	return tokenRow{
		ID: t.ID, Kind: t.Kind, Audience: append([]string{}, t.Audience...), Label: orNull(t.Label),
		IssuedAt: pdpp.FormatTime(t.IssuedAt), ExpiresAt: pdpp.FormatTime(t.ExpiresAt),
		LastUsedAt: timeOrNull(t.LastUsedAt), Status: t.Status(now),
	}
}

// Run implements the command.
func (c *grantsShow) Run(ctx context.Context, a *app) error {
	return a.withExistingOwner(ctx, func(s session) error {
		var g store.Grant
		var tokens []store.Token
		var catalog *pdpp.Catalog
		err := s.store.View(ctx, func(v store.View) (err error) {
			if g, err = v.Grant(s.owner.ID, pdpp.GrantID(c.ID)); err != nil {
				return err
			}
			if tokens, err = v.Tokens(s.owner.ID, g.ID); err != nil {
				return err
			}
			catalog, err = v.Catalog(s.owner.ID)
			return err
		})
		if err != nil {
			return a.withList(err, allGrants)
		}
		if c.JSON {
			return a.printJSON(detailOf(g, tokens, catalog, a.Now()))
		}
		return a.print(detailText(g, tokens, catalog, a.Now()))
	})
}

func detailOf(g store.Grant, tokens []store.Token, c *pdpp.Catalog, now time.Time) grantDetail {
	d := grantDetail{grantRow: rowOfGrant(g, c, now), Details: []json.RawMessage{}, Tokens: []tokenRow{}}
	if doc, err := grant.ParseDocument(g.Document, g.ConnectorKey); err == nil {
		d.Details = append(d.Details, grant.AppendDetail(nil, doc))
		d.PurposeCode, d.PurposeDescription = orNull(doc.PurposeCode), orNull(doc.PurposeDescription)
	}
	for _, t := range tokens {
		row := rowOfToken(t, now)
		if ended(g, t, now) {
			row.Status = string(g.Status(now))
		}
		d.Tokens = append(d.Tokens, row)
	}
	return d
}

// ended reports whether a token is invalid only because its grant has ended.
func ended(g store.Grant, t store.Token, now time.Time) bool {
	return t.Status(now) == "active" && !usable(g, now)
}

func detailText(g store.Grant, tokens []store.Token, c *pdpp.Catalog, now time.Time) string {
	rows := [][]string{
		{"grant", string(g.ID)},
		{"client", g.Client.Name + " (" + string(g.Client.ID) + ")"},
		{"source", string(g.ConnectorKey)},
		{"status", string(g.Status(now))},
		{"issued", when(g.IssuedAt, "")},
		{"ends", when(g.ExpiresAt, "when revoked")},
		{"last used", when(g.LastUsedAt, "never")},
	}
	if g.Package != "" {
		rows = append(rows, []string{"package", string(g.Package)})
	}
	if !g.RevokedAt.IsZero() {
		rows = append(rows, []string{"revoked", when(g.RevokedAt, "")})
	}
	doc, err := grant.ParseDocument(g.Document, g.ConnectorKey)
	if err != nil {
		return table(append(rows, []string{"content", "cannot be interpreted; it allows nothing"})...)
	}
	rows = append(rows, []string{"purpose", strings.TrimSpace(doc.PurposeDescription + " " + doc.PurposeCode)})
	rows = append(rows, connectionRows(g, c, now)...)
	for _, s := range doc.Streams {
		rows = append(rows, []string{"stream", streamText(s)})
	}
	for _, t := range tokens {
		status := t.Status(now)
		if ended(g, t, now) {
			status = "ended with the grant"
		}
		rows = append(rows, []string{"token", string(t.ID) + ", " + status + ", audience " +
			strings.Join(t.Audience, " and ") + ", ends " + when(t.ExpiresAt, "") + ", last used " + when(t.LastUsedAt, "never")})
	}
	return table(rows...)
}

// connectionRows lists the connections that a grant covers.
func connectionRows(g store.Grant, c *pdpp.Catalog, now time.Time) [][]string {
	var rows [][]string
	for _, conn := range rowOfGrant(g, c, now).Connections {
		name := conn.DisplayName
		if found, ok := c.Connection(conn.ID); ok && name == "" {
			name = found.Name
		}
		rows = append(rows, []string{"connection", strings.TrimSpace(string(conn.ID) + " " + name)})
	}
	return rows
}

package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/as"
	"pdpp/internal/grant"
	"pdpp/internal/store"
)

// grantsBody fills grants.html.
type grantsBody struct{ Clients []clientRow }

type clientRow struct {
	ID          pdpp.ClientID
	Name, Known string
	Active      bool // it can still read something
	Grants      []grantRow
	Chart       *chart
	Refusal     string
	Misuse      string // a code or refresh token of it was used twice
}

type grantRow struct {
	ID                                                           pdpp.GrantID
	Source, Streams, Dates, Given, Ends, LastUsed, Status, Class string
}

// keepEnded is how long ended grants stay listed (H-185).
const keepEnded = 90 * 24 * time.Hour

func grantsPage(v *visit) error {
	var body grantsBody
	err := v.pages.Store.View(v.r.Context(), func(view store.View) error {
		grants, err := view.Grants(v.session.Subject, store.GrantFilter{})
		if err != nil {
			return err
		}
		catalog, err := view.Catalog(v.session.Subject)
		if err != nil {
			return err
		}
		seen, err := readActivity(view, v.session.Subject, v.pages.Clock())
		body.Clients = clientRows(grants, catalog, seen)
		return err
	})
	if err != nil {
		return err
	}
	misuses, err := v.pages.AS.Misuses(v.r.Context(), v.session.Subject)
	if err != nil {
		return err
	}
	for i := range body.Clients {
		body.Clients[i].Misuse = misuseText(misuses, body.Clients[i].ID)
	}
	return v.render(http.StatusOK, "grants", &page{Title: "Access", Section: "grants", Body: body})
}

// misuseText warns that the tokens of a client may have been stolen (H-164). It returns ""
// if there is no sign of that.
func misuseText(misuses []as.Misuse, client pdpp.ClientID) string {
	for _, m := range misuses {
		if m.Client == client {
			return "On " + moment(m.At, "") + " a token of this program was used twice. It may have been stolen, so its access was ended. " +
				"If you did not expect that, connect the program again."
		}
	}
	return ""
}

// clientRows groups grants by client, those that can be used first. seen is what was read
// with all of them.
func clientRows(grants []store.Grant, c *pdpp.Catalog, seen activity) (out []clientRow) {
	now := seen.now
	all := map[pdpp.ClientID][]store.Grant{} // includes those that are no longer listed
	for _, g := range grants {
		all[g.Client.ID] = append(all[g.Client.ID], g)
	}
	for _, g := range grants {
		end := g.RevokedAt
		if end.IsZero() {
			end = g.ExpiresAt
		}
		if !isUsable(g, now) && !end.IsZero() && now.Sub(end) > keepEnded {
			continue
		}
		i := slices.IndexFunc(out, func(r clientRow) bool { return r.ID == g.Client.ID })
		if i < 0 {
			i = len(out)
			out = append(out, clientRow{ID: g.Client.ID, Name: clean(g.Client.Name, nameLength), Known: clientKnownAs(g.Client)})
		}
		out[i].Active = out[i].Active || isUsable(g, now)
		out[i].Grants = append(out[i].Grants, grantRowOf(g, c, now))
	}
	for i := range out {
		own := seen.ofGrants(all[out[i].ID])
		out[i].Chart, out[i].Refusal = own.chart(), own.latestRefusal()
	}
	slices.SortStableFunc(out, func(a, b clientRow) int {
		switch {
		case a.Active == b.Active:
			return 0
		case a.Active:
			return -1
		}
		return 1
	})
	return out
}

func isUsable(g store.Grant, now time.Time) bool {
	s := g.Status(now)
	return s == pdpp.GrantActive || s == pdpp.GrantConsumed
}

func clientKnownAs(c store.Client) string {
	host := ""
	if u, err := url.Parse(string(c.ID)); err == nil && c.RegistrationMode == store.ModeDocument {
		host = u.Hostname()
	}
	return knownAs(c.RegistrationMode, host)
}

func grantRowOf(g store.Grant, c *pdpp.Catalog, now time.Time) grantRow {
	status, class := statusText(g, now)
	return grantRow{
		ID: g.ID, Source: sourceText(g, c), Streams: streamsText(g), Dates: boundsText(g), Given: day(g.IssuedAt, ""), Ends: lastDayText(g.ExpiresAt, "you revoke it"),
		LastUsed: moment(g.LastUsedAt, "never"), Status: status, Class: class,
	}
}

func statusText(g store.Grant, now time.Time) (text, class string) {
	switch g.Status(now) {
	case pdpp.GrantActive, pdpp.GrantConsumed:
		return "active", "good"
	case pdpp.GrantRevoked:
		return "revoked", "bad"
	}
	return "ended", ""
}

// sourceText names the connections of a grant.
func sourceText(g store.Grant, c *pdpp.Catalog) string {
	doc, err := grant.ParseDocument(g.Document, g.ConnectorKey)
	if err != nil {
		return string(g.ConnectorKey)
	}
	var names []string
	for _, id := range doc.Connections() {
		conn, _ := c.Connection(id)
		names = append(names, clean(cmp.Or(conn.DisplayName(), connectorName(c, g.ConnectorKey)), nameLength))
	}
	return strings.Join(names, ", ")
}

func streamsText(g store.Grant) string {
	doc, err := grant.ParseDocument(g.Document, g.ConnectorKey)
	if err != nil {
		return "The stored access is not valid and allows nothing. Revoke it."
	}
	var names []string
	for _, s := range doc.Streams {
		names = append(names, s.Name)
	}
	return nameList(names)
}

// boundsText describes the dates of the records that a grant covers; "" if it covers all.
func boundsText(g store.Grant) string {
	doc, err := grant.ParseDocument(g.Document, g.ConnectorKey)
	if err != nil {
		return ""
	}
	var out []string
	for _, s := range doc.Streams {
		if text := datesText(s.Time); s.Time != nil && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, "; ")
}

// grantText describes a grant in a few words.
func grantText(g store.Grant) string {
	return clean(string(g.ConnectorKey), nameLength) + ": " + streamsText(g) + ", until " + lastDayText(g.ExpiresAt, "you revoke it")
}

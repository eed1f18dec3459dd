package pages

import (
	"net/http"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/store"
)

// grantBody fills grant.html.
type grantBody struct {
	grantRow
	Client, Known, Purpose, Package string
	PackageID                       pdpp.PackageID
	Active                          bool
	Streams                         []reviewStream
	Tokens                          []tokenRow
	Chart                           *chart
	Activity                        []activityRow
	More                            bool // there is older activity
	Refusal                         string
}

type tokenRow struct {
	ID, Label, Audience, Issued, Ends, LastUsed, Status string
	Active                                              bool
}

func grantPage(v *visit) error {
	var body grantBody
	now := v.pages.Clock()
	err := v.pages.Store.View(v.r.Context(), func(view store.View) error {
		g, err := view.Grant(v.session.Subject, pdpp.GrantID(v.r.PathValue("id")))
		if err != nil {
			return err
		}
		catalog, err := view.Catalog(v.session.Subject)
		if err != nil {
			return err
		}
		body = grantBody{
			grantRow: grantRowOf(g, catalog, now), Client: clean(g.Client.Name, nameLength), Known: clientKnownAs(g.Client),
			Active: isUsable(g, now), PackageID: g.Package,
		}
		if doc, err := grant.ParseDocument(g.Document, g.ConnectorKey); err == nil {
			body.Purpose = purposeText(doc.PurposeCode, doc.PurposeDescription)
			for _, s := range doc.Streams {
				body.Streams = append(body.Streams, reviewStream{Name: clean(s.Name, nameLength), Fields: nameList(s.Fields), Dates: datesText(s.Time)})
			}
		}
		if g.Package != "" {
			members, err := view.Members(v.session.Subject, g.Package)
			if err != nil {
				return err
			}
			body.Package = "one approval for " + countOf(len(members), "source", "sources")
		}
		seen, err := readActivity(view, v.session.Subject, now)
		if err != nil {
			return err
		}
		seen = seen.ofGrant(g.ID)
		body.Chart, body.Refusal = seen.chart(), seen.latestRefusal()
		body.Activity, body.More = seen.rows()
		tokens, err := view.Tokens(v.session.Subject, g.ID)
		body.Tokens = tokenRows(tokens, now)
		return err
	})
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "grant", &page{Title: body.Source, Section: "grants", Body: body})
}

func tokenRows(tokens []store.Token, now time.Time) (out []tokenRow) {
	for _, t := range tokens {
		out = append(out, tokenRow{
			ID: string(t.ID), Label: clean(t.Label, nameLength), Audience: strings.Join(t.Audience, ", "), Issued: moment(t.IssuedAt, ""),
			Ends: moment(t.ExpiresAt, ""), LastUsed: moment(t.LastUsedAt, "never"), Status: t.Status(now), Active: t.Status(now) == "active",
		})
	}
	return out
}

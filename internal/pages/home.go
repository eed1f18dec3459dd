package pages

import (
	"net/http"
	"time"

	"pdpp/internal/signin"
	"pdpp/internal/store"
)

func landing(v *visit) error {
	if v.session != nil {
		return v.redirect("/owner")
	}
	return v.render(http.StatusOK, "landing", &page{Title: "Welcome"})
}

// homeBody fills home.html.
type homeBody struct {
	Name                               string // "" for an owner who was not named
	Records, Sources, Clients, LastUse string
	Chart                              *chart
	SuggestPasskey                     bool
}

// unnamed is the name of the owner that a new store gets on first use (H-7).
const unnamed = "owner"

// home is the owner's first page.
func home(v *visit) error {
	var body homeBody
	if v.session.Owner != unnamed {
		body.Name = v.session.Owner
	}
	err := v.pages.Store.View(v.r.Context(), func(view store.View) error {
		o, err := newOverview(view, v.session.Subject)
		if err != nil {
			return err
		}
		var records int64
		for _, u := range o.usage {
			records += u.Records
		}
		body.Records = countOf(records, "record", "records")
		body.Sources = "From " + countOf(len(o.catalog.Connections), "source", "sources") + "."
		grants, err := view.Grants(v.session.Subject, store.GrantFilter{})
		if err != nil {
			return err
		}
		body.Clients, body.LastUse = readingClients(grants, v.pages.Clock())
		seen, err := readActivity(view, v.session.Subject, v.pages.Clock())
		body.Chart = seen.chart()
		return err
	})
	if err != nil {
		return err
	}
	keys, err := v.pages.SignIn.Passkeys(v.r.Context(), v.session.Subject)
	if err != nil {
		return err
	}
	body.SuggestPasskey = len(keys) == 0 && signin.CanUsePasskeys(v.base)
	return v.render(http.StatusOK, "home", &page{Title: "Home", Body: body})
}

func readingClients(grants []store.Grant, now time.Time) (clients, lastUse string) {
	names := map[string]bool{}
	var last time.Time
	for _, g := range grants {
		if isUsable(g, now) {
			names[string(g.Client.ID)] = true
		}
		if g.LastUsedAt.After(last) {
			last = g.LastUsedAt
		}
	}
	if len(names) == 0 {
		return "Nobody can read it", "You have given no access."
	}
	return countOf(len(names), "program can read some of it", "programs can read some of it"), "Last read: " + moment(last, "never") + "."
}

package pages

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/as"
	"pdpp/internal/consent"
	"pdpp/internal/httpx"
	"pdpp/internal/store"
)

// reviewBody fills review.html.
type reviewBody struct {
	requestBody
	Ends, Digest string
	Training     bool // the client wants to train AI models with the data
	Sources      []reviewSource
	Replaced     []string
}

type reviewSource struct {
	Label, Connector string
	Streams          []reviewStream
}

type reviewStream struct {
	Name, Summary, Count, Fields, LeftOut, Dates string
	Sample                                       []sampleField
}

// reviewPage is the second step: the owner sees what the client would see (H-183).
func reviewPage(v *visit) error { return v.showReview(http.StatusOK, "") }

func (v *visit) showReview(status int, notice string) error {
	req, err := v.request()
	if err != nil || req == nil {
		return err
	}
	if req.Choice == nil {
		return v.redirect("/consent/" + req.ID)
	}
	choice := *req.Choice
	decision, wrong, err := v.pages.AS.Review(v.r.Context(), req.ID, v.session.Subject, choice)
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return v.showConsent(http.StatusConflict, req, choice, wrong)
	}
	body := reviewBody{requestBody: describeRequest(req), Digest: decision.Digest(), Training: decision.Training, Ends: endText(choice, v.pages.Clock())}
	err = v.pages.Store.View(v.r.Context(), func(view store.View) error {
		o, err := newOverview(view, v.session.Subject)
		if err != nil {
			return err
		}
		if body.Sources, err = reviewSources(o, decision); err != nil {
			return err
		}
		_, held, err := v.held(view, req.Client.ID, choice.Replace)
		for _, h := range held {
			if h.Ticked {
				body.Replaced = append(body.Replaced, h.Text)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return v.render(status, "review", &page{Title: "Review", Notice: notice, Body: body})
}

func endText(choice consent.Choice, now time.Time) string {
	switch end := choice.Duration.End(now, choice.Until); {
	case choice.Duration == consent.DurationOnce:
		return "It can read this once, within the next 24 hours."
	case end.IsZero():
		return "It can read this until you revoke it."
	default:
		return "It can read this until " + lastDayText(end, "") + "."
	}
}

func reviewSources(o *overview, d *consent.Decision) (out []reviewSource, err error) {
	for _, g := range d.Grants {
		for _, id := range g.Connections() {
			conn, _ := o.catalog.Connection(id)
			source := reviewSource{Label: clean(cmp.Or(conn.DisplayName(), conn.Name), nameLength), Connector: connectorName(o.catalog, g.ConnectorKey)}
			for _, s := range g.Streams {
				if !slices.Contains(s.Connections, id) {
					continue
				}
				row, err := reviewStreamOf(o, g, id, s)
				if err != nil {
					return nil, err
				}
				source.Streams = append(source.Streams, row)
			}
			out = append(out, source)
		}
	}
	return out, nil
}

func reviewStreamOf(o *overview, g *pdpp.Grant, c pdpp.ConnectionID, s pdpp.GrantStream) (row reviewStream, err error) {
	row = reviewStream{
		Name: clean(s.Name, nameLength), Count: countOf(len(s.Fields), "field", "fields"), Fields: nameList(s.Fields),
		LeftOut: nameList(consent.LeftOut(o.catalog, g, s)), Dates: datesText(s.Time),
	}
	if m := o.catalog.Manifest(g.ConnectorKey); m != nil && m.Stream(s.Name) != nil {
		row.Name = clean(cmp.Or(m.Stream(s.Name).Label, s.Name), nameLength)
	}
	e, err := o.extentOf(c, g.ConnectorKey, s.Name)
	if err != nil {
		return row, err
	}
	row.Summary = e.text()
	row.Sample, err = o.sample(g, c, s.Name)
	return row, err
}

func connectorName(c *pdpp.Catalog, key pdpp.ConnectorKey) string {
	if m := c.Manifest(key); m != nil && m.DisplayName != "" {
		return clean(m.DisplayName, nameLength)
	}
	return string(key)
}

func datesText(t *pdpp.TimeConstraint) string {
	switch {
	case t == nil:
		return "All, past and future"
	case t.Since.IsZero():
		return "Until " + lastDayText(t.Until, "")
	case t.Until.IsZero():
		return "From " + day(t.Since, "")
	}
	return "From " + day(t.Since, "") + " until " + lastDayText(t.Until, "")
}

// approve grants what the owner reviewed (H-184).
func approve(v *visit) error {
	req, err := v.pages.AS.Request(v.r.Context(), v.r.PathValue("id"), v.session.Subject)
	if err != nil {
		return err
	}
	next, err := v.pages.AS.Approve(v.r.Context(), as.Approval{
		Request: req.ID, Subject: v.session.Subject, Base: v.base, Digest: v.value("digest"),
		RequestID: httpx.RequestID(v.r.Context()), Address: v.pages.Edge.ClientAddr(v.r).String(),
	})
	if errors.Is(err, as.ErrChanged) {
		return v.showReview(http.StatusConflict, "Something has changed since you looked at this. Nothing was shared. Please look again.")
	}
	return v.leave(next, err, "Done. Go back to your device: it continues by itself.")
}

func deny(v *visit) error {
	req, err := v.pages.AS.Request(v.r.Context(), v.r.PathValue("id"), v.session.Subject)
	if err != nil {
		return err
	}
	next, err := v.pages.AS.Deny(v.r.Context(), v.base, req.ID, v.session.Subject)
	return v.leave(next, err, "Denied. Nothing was shared.")
}

// leave sends the browser back to the client, or says that a device was answered.
func (v *visit) leave(next string, err error, done string) error {
	if err != nil {
		return v.decidedOr(err)
	}
	if next != "" {
		return v.redirect(next)
	}
	return v.render(http.StatusOK, "message", &page{Title: "You can close this page", Narrow: true, Body: message{Text: []string{done}, Link: &link{"/owner/grants", "See who can read what"}}})
}

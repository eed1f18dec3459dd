package pages

import (
	"cmp"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"pdpp"
	"pdpp/internal/as"
	"pdpp/internal/consent"
	"pdpp/internal/store"
)

// consentBody fills consent.html.
type consentBody struct {
	requestBody
	Requested   bool
	Training    bool // the client wants to train AI models with the data
	IsAgreed    bool // the owner has agreed to that
	Missing     []string
	Sources     []consentSource
	Durations   []consentDuration
	CanPickDate bool
	UntilDate   string
	Replaceable []replaceable
}

type consentSource struct {
	Label, About string
	Streams      []consentStream
}

type consentStream struct {
	consentRow
	N     int
	About string
	HTML  template.HTML
}

type consentField struct {
	Value, Name, Description string
	Key, Ticked              bool
}

type consentDuration struct {
	Value  consent.Duration
	Text   string
	Ticked bool
}

type replaceable struct {
	ID, Text string
	Ticked   bool
}

var durationTexts = map[consent.Duration]string{
	consent.DurationOnce: "Once, for 24 hours", consent.Duration7d: "7 days", consent.Duration30d: "30 days", consent.Duration90d: "90 days",
	consent.Duration365d: "1 year", consent.DurationForever: "Until I revoke it", consent.DurationDate: "Until a date",
}

// consentPage is the first step: the owner chooses what the client may read (H-180).
func consentPage(v *visit) error {
	req, err := v.request()
	if err != nil || req == nil {
		return err
	}
	var choice consent.Choice
	if req.Choice != nil {
		choice = *req.Choice // the owner came back from the review
	}
	return v.showConsent(http.StatusOK, req, choice, nil)
}

// request returns the request of the path. When it was decided before, or has expired, it
// shows what happened and returns nil.
func (v *visit) request() (*as.Request, error) {
	req, err := v.pages.AS.Request(v.r.Context(), v.r.PathValue("id"), v.session.Subject)
	if err != nil {
		return nil, err
	}
	if req.Outcome != as.Pending {
		return nil, v.showDecided(req.Outcome)
	}
	v.allowRedirects()
	return req, nil
}

// showDecided says what became of a request.
func (v *visit) showDecided(outcome as.Outcome) error {
	text := "This request has expired."
	switch outcome {
	case as.Approved:
		text = "You have already approved this request."
	case as.Denied:
		text = "You have already denied this request."
	}
	return v.render(http.StatusOK, "message", &page{Title: "Nothing left to decide", Narrow: true, Body: message{
		Text: []string{text, "To give other access, start again from the program that asked."}, Link: &link{"/owner/grants", "See who can read what"},
	}})
}

func (v *visit) showConsent(status int, req *as.Request, choice consent.Choice, faults []consent.Fault) error {
	body := consentBody{requestBody: describeRequest(req), Requested: req.Offer.Requested, Training: req.Offer.IsTraining(), IsAgreed: choice.Training, Missing: req.Offer.Missing}
	err := v.pages.Store.View(v.r.Context(), func(view store.View) error {
		o, err := newOverview(view, v.session.Subject)
		if err != nil {
			return err
		}
		if body.Sources, err = consentSources(o, req.Offer, choice); err != nil {
			return err
		}
		body.Held, body.Replaceable, err = v.held(view, req.Client.ID, choice.Replace)
		return err
	})
	if err != nil {
		return err
	}
	for _, d := range req.Offer.Durations() {
		body.Durations = append(body.Durations, consentDuration{d, durationTexts[d], d == choice.Duration})
		body.CanPickDate = body.CanPickDate || d == consent.DurationDate
	}
	if !choice.Until.IsZero() {
		body.UntilDate = lastDay(choice.Until)
	}
	p := &page{Title: "Choose what to share", Body: body}
	for _, f := range faults {
		p.Faults = append(p.Faults, consent.Fault{Control: body.anchor(f.Control), Message: clean(f.Message, textLength)})
	}
	rows := consentRows{}
	for _, source := range body.Sources {
		for i := range source.Streams {
			s := &source.Streams[i]
			s.setFaults(p)
			if s.HTML, err = rows.render(s.N, s.About, &s.consentRow); err != nil {
				return err
			}
		}
	}
	return v.render(status, "consent", p)
}

// setFaults shows the faults of a stream beside their controls.
func (s *consentStream) setFaults(p *page) {
	s.Fault, s.SinceFault, s.UntilFault = p.Fault("stream-"+itoa(s.N)), p.Fault("since."+itoa(s.N)), p.Fault("until."+itoa(s.N))
	s.Open = s.Open || s.Fault != nil || s.SinceFault != nil || s.UntilFault != nil
}

// anchor returns the id of the element that has a form control, or of the form if the page
// has no such control.
func (b *consentBody) anchor(control string) string {
	if slices.Contains([]string{"duration", "until_date", "training"}, control) || control == "replace" && len(b.Replaceable) > 0 {
		return control
	}
	_, number, _ := strings.Cut(control, ".")
	for _, source := range b.Sources {
		for _, s := range source.Streams {
			switch {
			case itoa(s.N) != number:
			case s.Timed && !strings.HasPrefix(control, "field"):
				return control
			default:
				return "stream-" + number
			}
		}
	}
	return "choose"
}

func consentSources(o *overview, offer *consent.Offer, choice consent.Choice) (out []consentSource, err error) {
	for _, s := range offer.Sources {
		source := consentSource{Label: clean(s.Label, nameLength)}
		var all extent
		for _, stream := range s.Streams {
			e, err := o.extentOf(s.Connection, s.ConnectorKey, stream.Name)
			if err != nil {
				return nil, err
			}
			all = all.with(e)
			source.Streams = append(source.Streams, consentStreamOf(stream, e, choice))
		}
		source.About = clean(s.Connector, nameLength) + " · " + all.latestText()
		out = append(out, source)
	}
	return out, nil
}

func consentStreamOf(s consent.Stream, e extent, choice consent.Choice) consentStream {
	row := consentStream{N: s.N, About: e.text()}
	row.Name, row.Necessity, row.SelectFields = clean(cmp.Or(s.Label, s.Name), nameLength), s.Necessity, s.SelectFields
	row.Timed, row.Min, row.Max = s.TimeField != "", dateValue(s.Since), lastDay(s.Until)
	if s.Description != "" {
		row.About = clean(s.Description, textLength) + " · " + row.About
	}
	var chosen consent.StreamChoice
	if i := slices.IndexFunc(choice.Streams, func(c consent.StreamChoice) bool { return c.N == s.N }); i >= 0 {
		chosen = choice.Streams[i]
		row.Ticked, row.Since, row.Until = true, dateValue(chosen.Since), lastDay(chosen.Until)
		row.Open = len(chosen.Fields) > 0 || row.Since != "" || row.Until != ""
	}
	for _, f := range s.Fields {
		row.Fields = append(row.Fields, consentField{
			Value: f.Name, Name: clean(f.Name, nameLength), Description: clean(f.Description, textLength), Key: f.Key, Ticked: slices.Contains(chosen.Fields, f.Name),
		})
	}
	return row
}

// held returns what the client has now: sentences, and what can be replaced.
func (v *visit) held(view store.View, client pdpp.ClientID, chosen []string) (texts []string, out []replaceable, err error) {
	grants, err := view.Grants(v.session.Subject, store.GrantFilter{Client: client})
	if err != nil {
		return nil, nil, err
	}
	now := v.pages.Clock()
	for _, g := range grants {
		if s := g.Status(now); s != pdpp.GrantActive && s != pdpp.GrantConsumed {
			continue
		}
		id := string(g.ID)
		if g.Package != "" {
			id = string(g.Package)
		}
		text := grantText(g)
		texts = append(texts, text)
		if i := slices.IndexFunc(out, func(r replaceable) bool { return r.ID == id }); i >= 0 {
			out[i].Text += "; " + text
			continue
		}
		out = append(out, replaceable{id, text, slices.Contains(chosen, id)})
	}
	return texts, out, nil
}

// review saves what the owner chose, if it can be granted, and leads to the second step.
func review(v *visit) error {
	req, err := v.request()
	if err != nil || req == nil {
		return err
	}
	form := readForm(v.r.PostForm, req.Offer)
	choice, faults := form.choice, form.faults
	if len(faults) == 0 {
		faults, err = v.checkReplaced(req, choice.Replace)
	}
	if err == nil && len(faults) == 0 {
		_, faults, err = v.pages.AS.Review(v.r.Context(), req.ID, v.session.Subject, choice)
	}
	if err != nil {
		return err
	}
	if len(faults) > 0 {
		return v.showConsent(http.StatusBadRequest, req, choice, faults)
	}
	if err := v.pages.AS.Choose(v.r.Context(), req.ID, v.session.Subject, choice); err != nil {
		return v.decidedOr(err)
	}
	if len(form.ignored) > 0 {
		v.setNotice("You chose fields or dates of " + nameList(form.ignored) + ", but did not tick it. Nothing of it is shared. Go back to change that.")
	}
	return v.redirect("/consent/" + req.ID + "/review")
}

// decidedOr shows that a request was decided in another window, or returns the error.
func (v *visit) decidedOr(err error) error {
	if errors.Is(err, as.ErrDecided) {
		_, err = v.request()
	}
	return err
}

// checkReplaced refuses to replace what the client does not have.
func (v *visit) checkReplaced(req *as.Request, ids []string) (faults []consent.Fault, err error) {
	err = v.pages.Store.View(v.r.Context(), func(view store.View) error {
		_, held, err := v.held(view, req.Client.ID, ids)
		for _, id := range ids {
			if !slices.ContainsFunc(held, func(r replaceable) bool { return r.ID == id }) {
				faults = []consent.Fault{{Control: "replace", Message: "Something that you chose to replace has already ended, or belongs to another program. Choose again."}}
			}
		}
		return err
	})
	return faults, err
}

package pages

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

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
	UntilDate   string
	Replaceable []replaceable
}

// requestBody describes a request and its client.
type requestBody struct {
	ID, Client, Known, Goes, Purpose, Through string
	Held                                      []string
}

type consentSource struct {
	Label, About string
	Streams      []consentStream
}

type consentStream struct {
	N                      int
	Name, About, Necessity string
	SelectFields           bool
	Fields                 []consentField
	Timed                  bool
	Since, Until, Min, Max string
	Ticked, Open           bool
}

type consentField struct {
	consent.Field
	Ticked bool
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
	if req.RedirectURI != "" {
		v.allowRedirect(req.RedirectURI)
	}
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
	}
	if !choice.Until.IsZero() {
		body.UntilDate = choice.Until.Format(time.DateOnly)
	}
	for i := range faults {
		faults[i].Control = anchor(faults[i].Control)
	}
	return v.render(status, "consent", &page{Title: "Choose what to share", Faults: faults, Body: body})
}

// anchor returns the id of the element that has a form control.
func anchor(control string) string {
	if control == "stream" {
		return "choose"
	}
	if n, ok := strings.CutPrefix(control, "field."); ok {
		return "stream-" + n
	}
	return control
}

func consentSources(o *overview, offer *consent.Offer, choice consent.Choice) (out []consentSource, err error) {
	for _, s := range offer.Sources {
		source := consentSource{Label: clean(s.Label, nameLength), About: clean(s.Connector, nameLength)}
		for _, stream := range s.Streams {
			row, err := consentStreamOf(o, s, stream, choice)
			if err != nil {
				return nil, err
			}
			source.Streams = append(source.Streams, row)
		}
		out = append(out, source)
	}
	return out, nil
}

func consentStreamOf(o *overview, src consent.Source, s consent.Stream, choice consent.Choice) (consentStream, error) {
	row := consentStream{
		N: s.N, Name: clean(orElse(s.Label, s.Name), nameLength), Necessity: s.Necessity, SelectFields: s.SelectFields,
		Timed: s.TimeField != "", Min: dateValue(s.Since), Max: lastDay(s.Until),
	}
	if m := o.catalog.Manifest(src.ConnectorKey); m != nil && m.Stream(s.Name) != nil {
		text, err := o.spanText(src.Connection, m.Stream(s.Name))
		if err != nil {
			return row, err
		}
		row.About = text
	}
	if s.Description != "" {
		row.About += ". " + clean(s.Description, textLength)
	}
	i := slices.IndexFunc(choice.Streams, func(c consent.StreamChoice) bool { return c.N == s.N })
	var chosen consent.StreamChoice
	if i >= 0 {
		chosen = choice.Streams[i]
		row.Ticked, row.Since, row.Until = true, dateValue(chosen.Since), lastDay(chosen.Until)
		row.Open = len(chosen.Fields) > 0 || row.Since != "" || row.Until != ""
	}
	for _, f := range s.Fields {
		f.Description = clean(f.Description, textLength)
		row.Fields = append(row.Fields, consentField{f, slices.Contains(chosen.Fields, f.Name)})
	}
	return row, nil
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// dateValue returns a time as the value of a date control.
func dateValue(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// lastDay returns the last day before an exclusive end.
func lastDay(end time.Time) string {
	if end.IsZero() {
		return ""
	}
	return end.Add(-time.Nanosecond).UTC().Format(time.DateOnly)
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

// describeRequest describes the client, and says where the answer goes (H-180).
func describeRequest(req *as.Request) requestBody {
	b := requestBody{
		ID: req.ID, Client: clean(orElse(req.Client.Name, string(req.Client.ID)), nameLength), Known: knownAs(req.Client.Mode, req.Client.Host),
		Purpose: purposeText(req.Offer.Purpose, req.Offer.PurposeDescription), Through: throughText(req.Audience),
	}
	switch {
	case req.Device:
		b.Goes = "the device that shows " + req.UserCode
	default:
		b.Goes = redirectText(req.RedirectURI)
	}
	return b
}

func knownAs(mode store.RegistrationMode, host string) string {
	switch mode {
	case store.ModeOperator:
		return "Set up by you"
	case store.ModeDocument:
		return "Identified by " + host
	case store.ModePreRegistered:
		return "The command-line program of this server"
	}
	return "It registered itself. Nobody has checked its name."
}

func redirectText(uri string) string {
	u, err := url.Parse(uri)
	switch {
	case err != nil || u.Scheme == "":
		return "an unknown place"
	case slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname()):
		return "a program on the computer this browser runs on"
	case u.Host == "":
		return "a program on this device that opens " + clean(u.Scheme, nameLength) + ": links"
	}
	return clean(u.Host, nameLength)
}

const purposePrefix = "https://pdpp.dev/purpose/"

func purposeText(code, description string) string {
	text := "a purpose it calls " + clean(code, nameLength)
	if name, ok := strings.CutPrefix(code, purposePrefix); ok {
		text = strings.ReplaceAll(clean(name, nameLength), "_", " ")
	}
	if description != "" {
		text += ": “" + clean(description, textLength) + "”"
	}
	return text
}

func throughText(audience []string) string {
	switch {
	case slices.Contains(audience, "mcp-developer"):
		return "Through the developer tools. It may also manage event subscriptions."
	case slices.Contains(audience, "mcp") && slices.Contains(audience, "rest"):
		return "As an assistant's tools, and directly as an app"
	case slices.Contains(audience, "mcp"):
		return "As an assistant's tools"
	}
	return "Directly, as an app"
}

// review saves what the owner chose, if it can be granted, and leads to the second step.
func review(v *visit) error {
	req, err := v.request()
	if err != nil || req == nil {
		return err
	}
	choice, faults := v.choice()
	if len(faults) == 0 {
		if _, faults, err = v.pages.AS.Review(v.r.Context(), req.ID, v.session.Subject, choice); err != nil {
			return err
		}
	}
	if len(faults) > 0 {
		return v.showConsent(http.StatusBadRequest, req, choice, faults)
	}
	if err := v.pages.AS.Choose(v.r.Context(), req.ID, v.session.Subject, choice); err != nil {
		return v.decidedOr(err)
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

// choice reads the form of the first step (H-182).
func (v *visit) choice() (ch consent.Choice, faults []consent.Fault) {
	form := v.r.PostForm
	for _, value := range form["stream"] {
		n, err := strconv.Atoi(value)
		if err != nil {
			faults = append(faults, consent.Fault{Control: "stream", Message: "One of the ticked streams is not in this request."})
			continue
		}
		s := consent.StreamChoice{N: n, Fields: form["field."+value]}
		var fault []consent.Fault
		s.Since, fault = v.dateOf("since."+value, false)
		faults = append(faults, fault...)
		s.Until, fault = v.dateOf("until."+value, true)
		faults = append(faults, fault...)
		ch.Streams = append(ch.Streams, s)
	}
	ch.Duration, ch.Replace, ch.Training = consent.Duration(v.value("duration")), form["replace"], v.value("training") == "yes"
	if ch.Duration == consent.DurationDate {
		var fault []consent.Fault
		ch.Until, fault = v.dateOf("until_date", true)
		faults = append(faults, fault...)
	}
	return ch, faults
}

// dateOf reads a date control: the start of the day, or the end of it.
func (v *visit) dateOf(control string, isEnd bool) (time.Time, []consent.Fault) {
	text := v.value(control)
	if text == "" {
		return time.Time{}, nil
	}
	start, end, ok := consent.ParseDay(text)
	switch {
	case !ok:
		return time.Time{}, []consent.Fault{{Control: control, Message: "A date is written like 2026-12-31."}}
	case isEnd:
		return end, nil
	}
	return start, nil
}

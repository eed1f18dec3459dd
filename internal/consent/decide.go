package consent

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"pdpp"
	"pdpp/internal/grant"
)

// Fault is one error of the form: the name of the control, and a sentence for the owner.
type Fault struct {
	Control string `json:"control"` // stream, field.3, since.3, until.3, duration, until_date, training
	Message string `json:"message"`
}

// Issue says who gets the grants, and when.
type Issue struct {
	Subject    pdpp.SubjectID
	ClientID   pdpp.ClientID
	ClientName string
	Now        time.Time
}

// trainingPurpose is the purpose that needs a consent of its own (H-183).
const trainingPurpose = "https://pdpp.dev/purpose/ai_training"

// IsTraining reports whether the client wants to train AI models with the data.
func (o *Offer) IsTraining() bool { return o.Purpose == trainingPurpose }

const (
	maxGrants   = 100         // members of a package (H-16)
	maxLifetime = 36500 * day // of a grant that ends at a date
)

// Decide returns the grants that follow from a choice, or the faults of the form in the order
// of its controls. What was offered is checked against the catalog again: a stream or field that is
// gone, or that means something else now, is a fault.
func (o *Offer) Decide(ch Choice, c *pdpp.Catalog, in Issue) (*Decision, []Fault) {
	d := decider{offer: o, catalog: c, issue: in}
	choices := d.streams(ch.Streams)
	terms := d.terms(ch)
	if o.IsTraining() && !ch.Training {
		d.fault("training", "This program wants to train AI models. Agree to that, or deny the request.")
	}
	var parts []*pdpp.Grant
	for _, choice := range choices {
		if part := d.part(choice, terms); part != nil {
			parts = append(parts, part)
		}
	}
	grants := combine(parts, o.Together)
	if len(grants) > maxGrants {
		d.fault("stream", "Choose at most %d accounts. The program can ask again for the others.", maxGrants)
	}
	if len(d.faults) > 0 {
		slices.SortStableFunc(d.faults, func(a, b Fault) int { return cmp.Compare(position(a), position(b)) })
		return nil, d.faults
	}
	out := &Decision{Grants: grants, Training: o.IsTraining(), Duration: ch.Duration, Replace: slices.Clone(ch.Replace)}
	if ch.Duration == DurationDate {
		out.Until = terms.ExpiresAt
	}
	slices.Sort(out.Replace)
	out.Replace = slices.Compact(out.Replace)
	return out, nil
}

// position orders faults as in the form: streams with their details, then the terms.
func position(f Fault) int {
	return max(0, slices.Index([]string{"duration", "until_date", "training"}, f.Control)+1)
}

// decider checks a choice.
type decider struct {
	offer   *Offer
	catalog *pdpp.Catalog
	issue   Issue
	faults  []Fault
}

func (d *decider) fault(control, format string, args ...any) {
	d.faults = append(d.faults, Fault{Control: control, Message: fmt.Sprintf(format, args...)})
}

// ticked is a stream of the offer with what the owner chose of it.
type ticked struct {
	source *Source
	stream *Stream
	choice StreamChoice
}

// name returns the stream and its account for a message.
func (t ticked) name() string { return grant.Show(t.stream.Name) + " of " + t.source.Label }

// control returns the name of a control of the stream.
func (t ticked) control(kind string) string { return kind + "." + strconv.Itoa(t.stream.N) }

// streams finds the ticked streams in the offer, in its order.
func (d *decider) streams(choices []StreamChoice) []ticked {
	if len(choices) == 0 {
		d.fault("stream", "Nothing is chosen. Choose what to share, or deny the request.")
		return nil
	}
	byN := make(map[int]StreamChoice, len(choices))
	for _, ch := range choices {
		if _, twice := byN[ch.N]; twice {
			d.fault("stream", "A stream is chosen twice. Choose again.")
		}
		byN[ch.N] = ch
	}
	var out []ticked
	for i := range d.offer.Sources {
		source := &d.offer.Sources[i]
		for j := range source.Streams {
			stream := &source.Streams[j]
			if ch, ok := byN[stream.N]; ok {
				out = append(out, ticked{source, stream, ch})
			}
		}
	}
	if len(out) < len(byN) {
		d.fault("stream", "Something is chosen that was not offered. Choose again.")
	}
	return out
}

// terms returns a spec with the purpose of the request and the chosen duration.
func (d *decider) terms(ch Choice) grant.Spec {
	o := d.offer
	spec := grant.Spec{
		AccessMode: grant.Continuous, PurposeCode: o.Purpose, PurposeDescription: o.PurposeDescription, Retention: o.Retention,
	}
	if !slices.Contains(o.Durations(), ch.Duration) {
		if o.AccessMode == grant.SingleUse && ch.Duration != "" {
			d.fault("duration", "This request is for a single use. Choose \"once\".")
		} else {
			d.fault("duration", "Choose for how long it may read.")
		}
		return spec
	}
	switch ch.Duration {
	case DurationOnce:
		spec.AccessMode = grant.SingleUse
	case DurationDate:
		switch {
		case ch.Until.IsZero():
			d.fault("until_date", "Choose the date on which the access ends.")
		case !ch.Until.Truncate(time.Millisecond).After(d.issue.Now):
			d.fault("until_date", "This date is in the past. Choose a later one.")
		case ch.Until.Sub(d.issue.Now) > maxLifetime:
			d.fault("until_date", "This date is more than 100 years away. Choose an earlier one.")
		default:
			spec.ExpiresAt = ch.Until.UTC().Truncate(time.Millisecond)
		}
	default:
		spec.ExpiresIn = lengths[ch.Duration]
	}
	return spec
}

// part returns a grant with one ticked stream, or nil after a fault.
func (d *decider) part(t ticked, terms grant.Spec) *pdpp.Grant {
	before := len(d.faults)
	fields := d.fields(t)
	since, until := d.bounds(t)
	if !d.exists(t, fields) || len(d.faults) > before {
		return nil
	}
	spec := terms
	spec.ConnectorKey = t.source.ConnectorKey
	stream := grant.SpecStream{
		Name: t.stream.Name, InstanceIDs: []pdpp.ConnectionID{t.source.Connection}, Fields: fields,
		Since: since, Until: until, Resources: t.stream.Resources,
	}
	if t.stream.View != "" && !t.stream.SelectFields {
		// Only its own view can narrow a stream whose fields cannot be selected.
		stream.Fields, stream.View = nil, t.stream.View
	}
	spec.Streams = []grant.SpecStream{stream}
	g, err := spec.Resolve(d.catalog, grant.Issue{
		Subject: d.issue.Subject, ClientID: d.issue.ClientID, ClientName: d.issue.ClientName, Now: d.issue.Now,
	})
	if err == nil {
		got := g.Streams[0]
		if slices.Equal(got.Fields, fields) && (got.Time == nil || got.Time.Field == t.stream.TimeField) {
			return g
		}
	}
	d.fault("stream", "%s has changed since this page was opened. Leave it out, or start again in the application.", t.name())
	return nil
}

// fields returns the chosen fields and the primary key, in the order of the offer.
func (d *decider) fields(t ticked) []string {
	chosen := make(map[string]bool, len(t.choice.Fields))
	for _, name := range t.choice.Fields {
		chosen[name] = true
	}
	var out []string
	known := 0
	for _, f := range t.stream.Fields {
		if chosen[f.Name] {
			known++
		}
		if chosen[f.Name] || f.Key || len(chosen) == 0 {
			out = append(out, f.Name)
		}
	}
	switch {
	case known < len(chosen):
		d.fault(t.control("field"), "A field of %s is chosen that was not offered. Choose again.", t.name())
	case !t.stream.SelectFields && len(out) < len(t.stream.Fields):
		d.fault(t.control("field"), "%s can only be shared with all its fields. Tick none of its fields, or leave it out.", t.name())
	}
	return out
}

// bounds returns the time range: the requested one, narrowed by the choice.
func (d *decider) bounds(t ticked) (since, until time.Time) {
	offered, chosen := t.stream, t.choice
	since, until = offered.Since, offered.Until
	before := len(d.faults)
	if !chosen.Since.IsZero() {
		since = chosen.Since.UTC()
		if offered.TimeField == "" {
			d.fault(t.control("since"), "%s cannot be limited to dates. Leave the date empty.", t.name())
		} else if since.Before(offered.Since) || !inRange(since) {
			d.fault(t.control("since"), "This date is earlier than requested. Choose a later one, or leave it empty.")
		}
	}
	if !chosen.Until.IsZero() {
		until = chosen.Until.UTC()
		if offered.TimeField == "" {
			d.fault(t.control("until"), "%s cannot be limited to dates. Leave the date empty.", t.name())
		} else if !offered.Until.IsZero() && until.After(offered.Until) || !inRange(until) {
			d.fault(t.control("until"), "This date is later than requested. Choose an earlier one, or leave it empty.")
		}
	}
	if len(d.faults) == before && !since.IsZero() && !until.IsZero() && !since.Before(until) {
		control := "until"
		if chosen.Until.IsZero() {
			control = "since"
		}
		d.fault(t.control(control), "The start is not before the end. Choose an earlier start or a later end.")
	}
	return since, until
}

// inRange reports whether a grant can contain the bound (G-2).
func inRange(t time.Time) bool { return t.Year() >= 2 && t.Year() <= 9999 }

// exists checks that the catalog still has the connection, the stream and the fields.
func (d *decider) exists(t ticked, fields []string) bool {
	c, ok := d.catalog.Connection(t.source.Connection)
	if !ok || !grant.Active(c) || c.Connector != t.source.ConnectorKey {
		d.fault("stream", "%s is no longer connected. Leave it out.", t.source.Label)
		return false
	}
	m := d.catalog.Manifest(t.source.ConnectorKey)
	if m == nil || m.Stream(t.stream.Name) == nil {
		d.fault("stream", "%s no longer exists. Leave it out.", t.name())
		return false
	}
	for _, name := range fields {
		if m.Stream(t.stream.Name).Field(name) == nil {
			d.fault(t.control("field"), "Field %s of %s no longer exists. Choose the other fields, or start again in the application.",
				grant.Show(name), t.name())
			return false
		}
	}
	return true
}

package consent

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/grant"
)

func mustDecide(t *testing.T, o *Offer, ch Choice) *Decision {
	t.Helper()
	d, faults := o.Decide(ch, catalog(t), issue())
	if d == nil || len(faults) > 0 {
		t.Fatalf("Decide(%+v) = %v, %v", ch, d, faults)
	}
	return d
}

func controls(faults []Fault) string {
	var out []string
	for _, f := range faults {
		out = append(out, f.Control)
	}
	return strings.Join(out, " ")
}

func date(year int) time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }

func TestH148Decide(t *testing.T) {
	o := NewOffer(mustParse(t, `[{"type":"https://pdpp.dev/data-access","source":{"id":"https://reg.acme.test/c/mail"},
		"purpose_code":"https://pdpp.dev/purpose/analytics","purpose_description":"Charts","retention":{"max_duration":"P30D"},
		"streams":[{"name":"messages","fields":["subject","body","sent_at"],"resources":["m1"],"time_range":{"since":"2024-01-01"}}]}]`), catalog(t))
	n := find(t, o, "cin_home", "messages")
	d := mustDecide(t, o, Choice{
		Streams:  []StreamChoice{{N: n, Fields: []string{"sent_at", "subject"}, Until: date(2026)}},
		Duration: Duration30d, Replace: []string{"grt_2", "grt_1", "grt_2"},
	})
	issued := now.Truncate(time.Millisecond)
	want := []*pdpp.Grant{{
		IssuedAt: issued, SubjectID: "own_1", ClientID: "cli_1", ClientName: "Tally",
		SourceKind: "connector", SourceID: "https://reg.acme.test/c/mail", ConnectorKey: "mail",
		ManifestVersion: "3", ManifestDigest: parseManifest(t, mailManifest).Digest,
		PurposeCode: "https://pdpp.dev/purpose/analytics", PurposeDescription: "Charts", AccessMode: grant.Continuous,
		Retention: &pdpp.Retention{MaxDuration: "P30D"}, ExpiresAt: issued.Add(30 * 24 * time.Hour),
		Streams: []pdpp.GrantStream{{
			Name: "messages", Connections: []pdpp.ConnectionID{"cin_home"}, Fields: []string{"box", "subject", "sent_at", "id"},
			Time: &pdpp.TimeConstraint{Field: "sent_at", Since: date(2024), Until: date(2026)}, Resources: []pdpp.RecordID{"m1"},
		}},
	}}
	if diff := cmp.Diff(want, d.Grants); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
	if d.IsPackage() || d.Training || cmp.Diff([]string{"grt_1", "grt_2"}, d.Replace) != "" {
		t.Errorf("decision = %+v", d)
	}
	if got := LeftOut(catalog(t), d.Grants[0], d.Grants[0].Streams[0]); cmp.Diff([]string{"body"}, got) != "" {
		t.Errorf("LeftOut = %v, want body", got)
	}
}

func TestH149Durations(t *testing.T) {
	o := NewOffer(nil, catalog(t))
	issued := now.Truncate(time.Millisecond)
	for _, tt := range []struct {
		duration Duration
		mode     string
		want     time.Time
	}{
		{DurationOnce, grant.SingleUse, issued.Add(24 * time.Hour)},
		{Duration7d, grant.Continuous, issued.Add(7 * 24 * time.Hour)},
		{Duration365d, grant.Continuous, issued.Add(365 * 24 * time.Hour)},
		{DurationForever, grant.Continuous, time.Time{}},
		{DurationDate, grant.Continuous, date(2030)},
	} {
		d := mustDecide(t, o, Choice{Streams: []StreamChoice{{N: 1}}, Duration: tt.duration, Until: date(2030)})
		if g := d.Grants[0]; !g.ExpiresAt.Equal(tt.want) || g.AccessMode != tt.mode {
			t.Errorf("%s: %s until %v, want %s until %v", tt.duration, g.AccessMode, g.ExpiresAt, tt.mode, tt.want)
		}
		if got := tt.duration.End(issued, date(2030)); !got.Equal(tt.want) {
			t.Errorf("%s.End = %v, want %v", tt.duration, got, tt.want)
		}
	}
}

func TestH149SingleUseRequest(t *testing.T) {
	o := NewOffer(mustParse(t, with(`"access_mode":"single_use"`)), catalog(t))
	if diff := cmp.Diff([]Duration{DurationOnce}, o.Durations()); diff != "" {
		t.Errorf("durations (-want +got):\n%s", diff)
	}
	ch := Choice{Streams: []StreamChoice{{N: 1}}, Duration: Duration7d}
	if d, faults := o.Decide(ch, catalog(t), issue()); d != nil || controls(faults) != "duration" {
		t.Errorf("Decide = %v, %v", d, faults)
	}
	ch.Duration = DurationOnce
	if g := mustDecide(t, o, ch).Grants[0]; g.AccessMode != grant.SingleUse {
		t.Errorf("mode = %q", g.AccessMode)
	}
}

func TestH181Faults(t *testing.T) {
	o := NewOffer(nil, catalog(t)) // 1 messages, 2 contacts, …
	one := []StreamChoice{{N: 1}}
	narrow := offerOf(t, `{"name":"messages","time_range":{"since":"2024-01-01","until":"2026-01-01"},"instance_ids":["cin_home"]}`)
	tests := []struct {
		name  string
		offer *Offer
		ch    Choice
		want  string
	}{
		{"nothing", o, Choice{}, "stream duration"},
		{"no duration", o, Choice{Streams: one}, "duration"},
		{"unknown duration", o, Choice{Streams: one, Duration: "1d"}, "duration"},
		{"no date", o, Choice{Streams: one, Duration: DurationDate}, "until_date"},
		{"a date in the past", o, Choice{Streams: one, Duration: DurationDate, Until: now}, "until_date"},
		{"a date too far", o, Choice{Streams: one, Duration: DurationDate, Until: date(2200)}, "until_date"},
		{"index 0", o, Choice{Streams: []StreamChoice{{N: 0}}, Duration: Duration7d}, "stream"},
		{"index outside", o, Choice{Streams: []StreamChoice{{N: 1}, {N: 6}}, Duration: Duration7d}, "stream"},
		{"negative index", o, Choice{Streams: []StreamChoice{{N: -1}}, Duration: Duration7d}, "stream"},
		{"index twice", o, Choice{Streams: []StreamChoice{{N: 1}, {N: 1, Fields: []string{"id"}}}, Duration: Duration7d}, "stream"},
		{"field not offered", o, Choice{Streams: []StreamChoice{{N: 1, Fields: []string{"name"}}}, Duration: Duration7d}, "field.1"},
		{"some fields of a whole stream", o, Choice{Streams: []StreamChoice{{N: 2, Fields: []string{"id"}}}, Duration: Duration7d}, "field.2"},
		{"dates without a time", o, Choice{Streams: []StreamChoice{{N: 2, Since: date(2025), Until: date(2026)}}, Duration: Duration7d}, "since.2 until.2"},
		{"dates exchanged", o, Choice{Streams: []StreamChoice{{N: 1, Since: date(2026), Until: date(2025)}}, Duration: Duration7d}, "until.1"},
		{"since too early", narrow, Choice{Streams: []StreamChoice{{N: 1, Since: date(2023)}}, Duration: Duration7d}, "since.1"},
		{"until too late", narrow, Choice{Streams: []StreamChoice{{N: 1, Until: date(2027)}}, Duration: Duration7d}, "until.1"},
		{"since after the requested end", narrow, Choice{Streams: []StreamChoice{{N: 1, Since: date(2026)}}, Duration: Duration7d}, "since.1"},
		{"several", o, Choice{Streams: []StreamChoice{{N: 2, Fields: []string{"x"}}, {N: 1, Since: date(0)}}}, "since.1 field.2 duration"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, faults := tt.offer.Decide(tt.ch, catalog(t), issue())
			if d != nil || controls(faults) != tt.want {
				t.Errorf("Decide = %v, %v, want faults of %s", d, faults, tt.want)
			}
		})
	}
}

func TestH183Training(t *testing.T) {
	o := NewOffer(mustParse(t, with(`"purpose_code":"https://pdpp.dev/purpose/ai_training"`)), catalog(t))
	ch := Choice{Streams: []StreamChoice{{N: 1}}, Duration: Duration7d}
	if d, faults := o.Decide(ch, catalog(t), issue()); d != nil || controls(faults) != "training" {
		t.Errorf("Decide without consent to training = %v, %v", d, faults)
	}
	ch.Training = true
	if !mustDecide(t, o, ch).Training {
		t.Error("the decision is not marked as training")
	}
}

// What the owner has chosen may be gone or different when the form arrives (H-182).
func TestH182Revalidation(t *testing.T) {
	hidden := catalog(t)
	hidden.Connections[1].Status = "hidden"
	moved := catalog(t)
	moved.Connections[1].Connector = "chat"
	gone := catalog(t)
	gone.Connections = gone.Connections[2:]
	unregistered := catalog(t)
	unregistered.Manifests = unregistered.Manifests[:1]
	brief := offerOf(t, `{"name":"contacts","view":"ids","instance_ids":["cin_home"]}`)
	all := NewOffer(nil, catalog(t)) // 1 messages and 2 contacts of cin_home
	tests := []struct {
		name    string
		offer   *Offer
		ch      StreamChoice
		catalog *pdpp.Catalog
		want    string
	}{
		{"connection hidden", all, StreamChoice{N: 1}, hidden, "stream"},
		{"connection moved", all, StreamChoice{N: 1}, moved, "stream"},
		{"connection gone", all, StreamChoice{N: 1}, gone, "stream"},
		{"source gone", all, StreamChoice{N: 1}, unregistered, "stream"},
		{"stream gone", all, StreamChoice{N: 2}, withManifest(t, `"name": "contacts"`, `"name": "people"`), "stream"},
		{"field gone", all, StreamChoice{N: 1}, withManifest(t, `"body": {`, `"text": {`), "field.1"},
		{"another field gone", all, StreamChoice{N: 1, Fields: []string{"subject"}}, withManifest(t, `"body": {`, `"text": {`), ""},
		{"field added", all, StreamChoice{N: 1}, withManifest(t, `"body": {`, `"more": {"type": "string"}, "body": {`), ""},
		{"field added to a whole stream", all, StreamChoice{N: 2}, withManifest(t, `"name": {`, `"more": {"type": "string"}, "name": {`), "stream"},
		{"key changed", all, StreamChoice{N: 1, Fields: []string{"id"}}, withManifest(t, `["box", "id"]`, `["id", "body"]`), "stream"},
		{"time changed", all, StreamChoice{N: 1, Since: date(2025)}, withManifest(t, `"consent_time_field": "sent_at",`, ``), "stream"},
		{"view wider", brief, StreamChoice{N: 1}, withManifest(t, `"fields": ["id"]`, `"fields": ["id", "name"]`), "stream"},
		{"view gone", brief, StreamChoice{N: 1}, withManifest(t, `"id": "ids"`, `"id": "other"`), "stream"},
		{"view the same", brief, StreamChoice{N: 1}, catalog(t), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ch := Choice{Streams: []StreamChoice{tt.ch}, Duration: Duration7d}
			d, faults := tt.offer.Decide(ch, tt.catalog, issue())
			if controls(faults) != tt.want || (d == nil) != (tt.want != "") {
				t.Fatalf("Decide = %v, %v, want faults of %q", d, faults, tt.want)
			}
			if d != nil {
				checkDecision(t, d, tt.offer, ch)
			}
		})
	}
}

func TestH82OneGrantPerConnection(t *testing.T) {
	o := NewOffer(nil, catalog(t))
	d := mustDecide(t, o, Choice{Streams: []StreamChoice{{N: 5}, {N: 3}, {N: 1}, {N: 2}}, Duration: DurationForever})
	var got []string
	for _, g := range d.Grants {
		for _, s := range g.Streams {
			got = append(got, string(g.Connections()[0])+" "+s.Name)
		}
		if len(g.Connections()) != 1 {
			t.Errorf("grant over %v", g.Connections())
		}
	}
	want := []string{"cin_home messages", "cin_home contacts", "cin_work messages", "cin_chat messages"}
	if diff := cmp.Diff(want, got); diff != "" || len(d.Grants) != 3 || !d.IsPackage() {
		t.Errorf("%d grants (-want +got):\n%s", len(d.Grants), diff)
	}
}

func TestH82OneEntryStaysOneGrant(t *testing.T) {
	o := offerOf(t, `{"name":"messages","instance_ids":["cin_home","cin_work"]},{"name":"contacts","instance_ids":["cin_work"]}`)
	d := mustDecide(t, o, Choice{Streams: []StreamChoice{{N: 1}, {N: 2}, {N: 3}}, Duration: Duration7d})
	all := []string{"box", "subject", "body", "sent_at", "id"}
	want := []pdpp.GrantStream{
		{Name: "messages", Connections: []pdpp.ConnectionID{"cin_home", "cin_work"}, Fields: all},
		{Name: "contacts", Connections: []pdpp.ConnectionID{"cin_work"}, Fields: []string{"id", "name"}},
	}
	if len(d.Grants) != 1 || d.IsPackage() {
		t.Fatalf("%d grants, want one", len(d.Grants))
	}
	if diff := cmp.Diff(want, d.Grants[0].Streams); diff != "" {
		t.Errorf("streams (-want +got):\n%s", diff)
	}
	// One grant cannot give a stream two extents.
	d = mustDecide(t, o, Choice{Streams: []StreamChoice{{N: 1, Fields: []string{"id"}}, {N: 2}}, Duration: Duration7d})
	if len(d.Grants) != 2 {
		t.Errorf("%d grants, want one per connection", len(d.Grants))
	}
	// An entry that does not name connections is split.
	o = offerOf(t, `{"name":"messages"}`)
	d = mustDecide(t, o, Choice{Streams: []StreamChoice{{N: 1}, {N: 2}}, Duration: Duration7d})
	if len(d.Grants) != 2 {
		t.Errorf("%d grants, want one per connection", len(d.Grants))
	}
}

func TestH16AtMostHundredMembers(t *testing.T) {
	c := &pdpp.Catalog{Manifests: []*pdpp.Manifest{parseManifest(t, chatManifest)}}
	ch := Choice{Duration: Duration7d}
	for i := range 101 {
		id := pdpp.ConnectionID("cin_" + strings.Repeat("x", i+1))
		c.Connections = append(c.Connections, pdpp.Connection{ID: id, Connector: "chat", Status: "active"})
		ch.Streams = append(ch.Streams, StreamChoice{N: i + 1})
	}
	o := NewOffer(nil, c)
	if d, faults := o.Decide(ch, c, issue()); d != nil || controls(faults) != "stream" {
		t.Errorf("Decide over 101 connections = %v, %v", d, faults)
	}
	ch.Streams = ch.Streams[1:]
	if d, faults := o.Decide(ch, c, issue()); d == nil || len(d.Grants) != 100 {
		t.Errorf("Decide over 100 connections = %v, %v", d, faults)
	}
}

func TestH181ParseDay(t *testing.T) {
	start, end, ok := ParseDay("2026-12-31")
	if !ok || !start.Equal(time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)) || !end.Equal(date(2027)) {
		t.Errorf("ParseDay = %v, %v, %v", start, end, ok)
	}
	for _, s := range []string{"", "2026-13-01", "31.12.2026", "0001-01-01", "9999-12-31", "2026-12-31T00:00:00Z"} {
		if _, _, ok := ParseDay(s); ok {
			t.Errorf("ParseDay(%q) is valid", s)
		}
	}
}

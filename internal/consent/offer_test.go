package consent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/grant"
)

// outline returns an offer as lines: connection, stream, fields.
func outline(o *Offer) []string {
	var out []string
	for _, source := range o.Sources {
		for _, s := range source.Streams {
			var names []string
			for _, f := range s.Fields {
				name := f.Name
				if f.Key {
					name += "*"
				}
				names = append(names, name)
			}
			out = append(out, fmt.Sprintf("%d %s %s: %s", s.N, source.Connection, s.Name, strings.Join(names, " ")))
		}
	}
	return out
}

func TestH147OfferEverything(t *testing.T) {
	o := NewOffer(nil, catalog(t))
	want := []string{
		"1 cin_home messages: box* subject body sent_at id*",
		"2 cin_home contacts: id* name",
		"3 cin_work messages: box* subject body sent_at id*",
		"4 cin_work contacts: id* name",
		"5 cin_chat messages: id* text",
	}
	if diff := cmp.Diff(want, outline(o)); diff != "" {
		t.Errorf("offer (-want +got):\n%s", diff)
	}
	if o.Requested || o.Purpose != grant.DefaultPurpose || o.AccessMode != grant.Continuous || o.Missing != nil {
		t.Errorf("offer = %+v", o)
	}
	home := o.Sources[0]
	if home.Label != "Home mail" || home.Connector != "Mail" || home.ConnectorKey != "mail" {
		t.Errorf("source = %q %q %q", home.Label, home.Connector, home.ConnectorKey)
	}
	if s := home.Streams[0]; s.Description != "Letters" || s.Fields[1].Description != "The subject line" || s.TimeField != "sent_at" || !s.SelectFields {
		t.Errorf("stream = %+v", s)
	}
	if work := o.Sources[1]; work.Label != "work" {
		t.Errorf("label of a connection without one = %q", work.Label)
	}
}

func TestH147OfferRequested(t *testing.T) {
	tests := []struct {
		name, streams string
		want, missing []string
	}{
		{"all streams", `{"name":"*","instance_ids":["cin_work"]}`, []string{
			"1 cin_work messages: box* subject body sent_at id*", "2 cin_work contacts: id* name",
		}, nil},
		{"fields", `{"name":"messages","fields":["subject","sbject"],"instance_ids":["cin_home"]}`, []string{
			"1 cin_home messages: box* subject id*",
		}, []string{`"messages" of Mail has no field "sbject".`}},
		{"unknown fields only", `{"name":"messages","fields":["sbject"]}`, nil, []string{`"messages" of Mail has no field "sbject".`}},
		{"view", `{"name":"messages","view":"brief","instance_ids":["cin_home"]}`, []string{
			"1 cin_home messages: box* subject sent_at id*",
		}, nil},
		{"unknown view", `{"name":"messages","view":"all"}`, nil, []string{`"messages" of Mail has no view "all".`}},
		{"fields of a stream without selection", `{"name":"contacts","fields":["id"]}`, nil, []string{
			`"contacts" of Mail can only be shared with all its fields, and some of them were not requested.`,
		}},
		{"view of a stream without selection", `{"name":"contacts","view":"ids","instance_ids":["cin_home"]}`, []string{
			"1 cin_home contacts: id*",
		}, nil},
		{"no consent time", `{"name":"contacts","time_range":{"since":"2026-01-01"}}`, nil, []string{
			`"contacts" of Mail cannot be limited in time as requested.`,
		}},
		{"no selection of records", `{"name":"contacts","resources":["c1"]}`, nil, []string{
			`"contacts" of Mail cannot be limited to single records as requested.`,
		}},
		{"unknown stream", `{"name":"drafts"},{"name":"contacts","instance_ids":["cin_home"]}`, []string{
			"1 cin_home contacts: id* name",
		}, []string{`Mail has no stream "drafts".`}},
		{"hidden, foreign and unknown connections", `{"name":"contacts","instance_ids":["cin_old","cin_chat","cin_x","cin_work"]}`, []string{
			"1 cin_work contacts: id* name",
		}, []string{
			`Mail has no connected account "cin_chat".`, `Mail has no connected account "cin_old".`, `Mail has no connected account "cin_x".`,
		}},
		{"connections per stream", `{"name":"messages","fields":["id"],"instance_ids":["cin_home"]},{"name":"contacts","instance_ids":["cin_work"]}`, []string{
			"1 cin_home messages: box* id*", "2 cin_work contacts: id* name",
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := offerOf(t, tt.streams)
			if diff := cmp.Diff(tt.want, outline(o)); diff != "" {
				t.Errorf("offer (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.missing, o.Missing); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
		})
	}
}

func TestH147MissingSources(t *testing.T) {
	source := func(source string) string {
		return `{"type":"https://pdpp.dev/data-access","source":` + source + `,"streams":[{"name":"*"}]}`
	}
	o := NewOffer(mustParse(t, "["+source(`{"id":"https://reg.acme.test/c/post"}`)+","+source(`{"connector_key":"notes"}`)+"]"), catalog(t))
	want := []string{`The source "https://reg.acme.test/c/post" is not set up here.`, "notes has no connected account."}
	if diff := cmp.Diff(want, o.Missing); diff != "" || len(o.Sources) > 0 {
		t.Errorf("sources %v, missing (-want +got):\n%s", outline(o), diff)
	}
}

// One source can be named by its id and by its key, which is noticed only here.
func TestH82OfferHasAConnectionOnce(t *testing.T) {
	byID := strings.Replace(entry(`{"name":"messages","fields":["subject"]},{"name":"contacts"}`),
		`{"connector_key":"mail"}`, `{"id":"https://reg.acme.test/c/mail"}`, 1)
	o := NewOffer(mustParse(t, "["+entry(`{"name":"messages","fields":["body"],"instance_ids":["cin_home"]}`)+","+byID+"]"), catalog(t))
	want := []string{
		"1 cin_home messages: box* body id*", "2 cin_home contacts: id* name",
		"3 cin_work messages: box* subject id*", "4 cin_work contacts: id* name",
	}
	if diff := cmp.Diff(want, outline(o)); diff != "" {
		t.Errorf("offer (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`"messages" of Home mail was requested twice; the first request counts.`}, o.Missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
}

// The client chooses how many names are wrong, and what they look like.
func TestH147MissingIsBounded(t *testing.T) {
	var streams []string
	for i := range 500 {
		streams = append(streams, fmt.Sprintf(`{"name":"s%d"}`, i))
	}
	o := offerOf(t, strings.Join(streams, ","))
	if len(o.Missing) != maxMissing+1 || o.Missing[maxMissing] != "480 other requested things are not available either." {
		t.Errorf("missing = %d, last %q", len(o.Missing), o.Missing[len(o.Missing)-1])
	}
	o = offerOf(t, `{"name":"messages","fields":["\u202egnp.`+strings.Repeat("x", 500)+`"]}`)
	if text := o.Missing[0]; len(text) > 200 || strings.Contains(text, "\u202e") {
		t.Errorf("missing = %q", text)
	}
}

// The offer is stored with the request as JSON.
func TestH182OfferAsJSON(t *testing.T) {
	o := offerOf(t, `{"name":"messages","view":"brief","resources":["m1"],"necessity":"required",
		"time_range":{"since":"2025-01-01T00:00:00.123456789+01:00"}},{"name":"drafts"}`)
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(text), "The subject line"); got != 1 || len(o.Sources) != 2 {
		t.Errorf("the stream of %d connections is stored %d times, want once", len(o.Sources), got)
	}
	var back Offer
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(o, &back); diff != "" {
		t.Errorf("round trip (-want +got):\n%s", diff)
	}
	for _, invalid := range []string{`[]`, `{"sources":[{"connection":"cin_1","streams":[0]}]}`} {
		if err := json.Unmarshal([]byte(invalid), &back); err == nil {
			t.Errorf("the stored offer %s is valid", invalid)
		}
	}
	r := mustParse(t, "["+entry(`{"name":"messages","time_range":{"until":"2027-01-01"}}`)+"]")
	var again Request
	if text, err = json.Marshal(r); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, &again); diff != "" {
		t.Errorf("round trip (-want +got):\n%s", diff)
	}
}

package grant

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
)

func mustFreeze(t *testing.T, spec string) *pdpp.Grant {
	t.Helper()
	g, err := Freeze([]byte(spec), testCatalog(t), issue())
	if err != nil {
		t.Fatalf("Freeze(%s): %v", spec, err)
	}
	return g
}

func TestFreeze(t *testing.T) {
	got := mustFreeze(t, `{"type": "https://pdpp.dev/data-access",
		"source": {"id": "https://reg.acme.test/c/mail", "kind": "connector"},
		"purpose_code": "https://pdpp.dev/purpose/analytics", "purpose_description": "weekly digest",
		"access_mode": "continuous", "expires_in": "90d",
		"retention": {"max_duration": "P30D", "on_expiry": "delete"},
		"streams": [{"name": "messages", "fields": ["sent_at", "subject"], "connections": ["home", "cin_work"],
			"time_range": {"since": "2025-01-01T00:00:00.123456789+01:00", "until": "2026-01-01"},
			"resources": ["m2", "m1"], "necessity": "required"},
			{"name": "contacts"}]}`)
	want := &pdpp.Grant{
		ID: "grt_1", IssuedAt: issued, SubjectID: "own_1", ClientID: "cli_1", ClientName: "Tally \"T\"",
		SourceKind: "connector", SourceID: "https://reg.acme.test/c/mail", ConnectorKey: "mail", ManifestVersion: "3",
		ManifestDigest: parseManifest(t, mailManifest).Digest,
		PurposeCode:    "https://pdpp.dev/purpose/analytics", PurposeDescription: "weekly digest", AccessMode: Continuous,
		Retention: &pdpp.Retention{MaxDuration: "P30D", OnExpiry: "delete"},
		ExpiresAt: issued.Add(90 * 24 * time.Hour),
		Streams: []pdpp.GrantStream{
			{
				Name: "messages", Connections: []pdpp.ConnectionID{"cin_home", "cin_work"},
				Fields: []string{"box", "subject", "sent_at", "id"},
				Time: &pdpp.TimeConstraint{
					Field: "sent_at", Since: time.Date(2024, 12, 31, 23, 0, 0, 123456789, time.UTC),
					Until: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
				},
				Resources: []pdpp.RecordID{"m2", "m1"},
			},
			{Name: "contacts", Connections: []pdpp.ConnectionID{"cin_home", "cin_twin", "cin_work"}, Fields: []string{"id", "name"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Freeze (-want +got):\n%s", diff)
	}
}

func TestFreezeAllStreams(t *testing.T) {
	got := mustFreeze(t, `{"source":{"connector_key":"mail"},"streams":[{"name":"*"}]}`)
	all := []pdpp.ConnectionID{"cin_home", "cin_twin", "cin_work"}
	want := []pdpp.GrantStream{
		{Name: "messages", Connections: all, Fields: []string{"box", "subject", "body", "sent_at", "id"}},
		{Name: "contacts", Connections: all, Fields: []string{"id", "name"}},
		{Name: "attachments", Connections: all, Fields: []string{"id", "message_id", "size"}},
	}
	if diff := cmp.Diff(want, got.Streams); diff != "" {
		t.Errorf("streams (-want +got):\n%s", diff)
	}
	if got.PurposeCode != DefaultPurpose || got.AccessMode != Continuous || !got.ExpiresAt.IsZero() || got.Retention != nil {
		t.Errorf("defaults: purpose %q, mode %q, expires %v, retention %v", got.PurposeCode, got.AccessMode, got.ExpiresAt, got.Retention)
	}
}

// one returns a spec of the mail source with one stream.
func one(entry string) string {
	return `{"source":{"connector_key":"mail"},"streams":[` + entry + `]}`
}

func TestFreezeStream(t *testing.T) {
	tests := []struct {
		name, entry string
		conns       []pdpp.ConnectionID
		fields      []string
	}{
		{
			"view", `{"name":"messages","view":"brief","instance_ids":["cin_home"]}`,
			[]pdpp.ConnectionID{"cin_home"},
			[]string{"box", "subject", "sent_at", "id"},
		},
		{
			"primary key alone", `{"name":"messages","fields":["id"],"connections":["cin_home"]}`,
			[]pdpp.ConnectionID{"cin_home"},
			[]string{"box", "id"},
		},
		{
			"all fields where fields cannot be selected", `{"name":"contacts","fields":["name"],"connections":["home"]}`,
			[]pdpp.ConnectionID{"cin_home"},
			[]string{"id", "name"},
		},
		{
			"view where fields cannot be selected", `{"name":"contacts","view":"ids","connections":["home"]}`,
			[]pdpp.ConnectionID{"cin_home"},
			[]string{"id"},
		},
		{
			"by label", `{"name":"contacts","connections":["Work","Home mail"]}`,
			[]pdpp.ConnectionID{"cin_work", "cin_home"},
			[]string{"id", "name"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := mustFreeze(t, one(tt.entry)).Streams[0]
			if diff := cmp.Diff(tt.conns, got.Connections); diff != "" {
				t.Errorf("connections (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.fields, got.Fields); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
		})
	}
	wild := mustFreeze(t, one(`{"name":"*","connections":["home"],"necessity":"optional"}`))
	for _, s := range wild.Streams {
		if diff := cmp.Diff([]pdpp.ConnectionID{"cin_home"}, s.Connections); diff != "" {
			t.Errorf("connections of %s (-want +got):\n%s", s.Name, diff)
		}
	}
}

// with returns a valid spec with additional top-level members.
func with(members string) string {
	return `{"source":{"connector_key":"mail"},"streams":[{"name":"contacts"}],` + members + `}`
}

func TestFreezeExpiry(t *testing.T) {
	day := issued.Add(24 * time.Hour)
	tests := []struct {
		name, members string
		want          time.Time
	}{
		{"in", `"expires_in":"90s"`, issued.Add(90 * time.Second)},
		{"maxLifetime", `"expires_in":"36500d"`, issued.Add(36500 * 24 * time.Hour)},
		{"at, cut to milliseconds", `"expires_at":"2027-01-01T01:00:00.1239+01:00"`, time.Date(2027, 1, 1, 0, 0, 0, 123000000, time.UTC)},
		{"single use", `"access_mode":"single_use"`, day},
		{"single use, earlier", `"access_mode":"single_use","expires_in":"1h"`, issued.Add(time.Hour)},
		{"single use, a day", `"access_mode":"single_use","expires_in":"24h"`, day},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := mustFreeze(t, with(tt.members)).ExpiresAt; !got.Equal(tt.want) {
				t.Errorf("ExpiresAt = %v, want %v", got, tt.want)
			}
		})
	}
}

// many returns a JSON list of n distinct record ids.
func many(n int) string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf(`"m%d"`, i)
	}
	return "[" + strings.Join(ids, ",") + "]"
}

func TestFreezeMaxResources(t *testing.T) {
	g := mustFreeze(t, one(`{"name":"messages","resources":`+many(1000)+`}`))
	if got := len(g.Streams[0].Resources); got != 1000 {
		t.Errorf("got %d resources, want 1000", got)
	}
}

// invalidSpecs are specs with the path and a part of the expected message.
var invalidSpecs = []struct{ name, spec, path, text string }{
	{"invalid JSON", `{"source":`, "", "not valid JSON"},
	{"two values", `{} {}`, "", "not valid JSON"},
	{"no object", `[]`, "", "must be an object"},
	{"too large", with(`"purpose_description":"` + strings.Repeat("x", maxSpec) + `"`), "", "65536 bytes"},
	{"unknown key", with(`"stream":[]`), "stream", "unknown key"},
	{"odd key", with(`"a b":1`), `["a b"]`, "unknown key"},
	{"duplicate key", with(`"source":{"connector_key":"mail"}`), "source", "duplicate"},
	{"duplicate key, escaped", one(`{"name":"contacts","n\u0061me":"contacts"}`), "streams[0].name", "duplicate"},
	{
		"duplicate key, nested", one(`{"name":"contacts"},{"name":"messages","time_range":{"since":"2025-01-01","since":"2026-01-01"}}`),
		"streams[1].time_range.since", "duplicate",
	},
	{"type", with(`"type":"https://pdpp.dev/other"`), "type", detailType},
	{"mode", with(`"access_mode":"forever"`), "access_mode", "single_use"},
	{"null", with(`"purpose_code":null`), "purpose_code", "string"},
	{"purpose", with(`"purpose_code":"a\nb"`), "purpose_code", "control"},
	{"purpose too long", with(`"purpose_code":"` + strings.Repeat("x", maxPurpose+1) + `"`), "purpose_code", "2048"},
	{"preset", `{"source":{"connector_key":"mail"},"selection_preset":"all"}`, "selection_preset", "unknown preset"},
	{"preset and streams", with(`"selection_preset":"all"`), "selection_preset", "unknown preset"},
	{"retention", with(`"retention":{"max_duration":"30 days"}`), "retention.max_duration", "P30D"},
	{"retention without parts", with(`"retention":{"max_duration":"PT"}`), "retention.max_duration", "P30D"},
	{"retention empty", with(`"retention":{}`), "retention", "max_duration"},
	{"retention key", with(`"retention":{"days":3}`), "retention.days", "unknown key"},

	{"no source", `{"streams":[{"name":"*"}]}`, "source", "required"},
	{"empty source", `{"source":{},"streams":[{"name":"*"}]}`, "source", "chat, mail, notes"},
	{"source kind", `{"source":{"connector_key":"mail","kind":"app"},"streams":[{"name":"*"}]}`, "source.kind", "connector"},
	{"source unknown", `{"source":{"connector_key":"post"},"streams":[{"name":"*"}]}`, "source", "chat, mail, notes"},
	{"source mixed", `{"source":{"connector_key":"mail","id":"https://reg.acme.test/c/chat"},"streams":[{"name":"*"}]}`, "source", "no such source"},
	{"nothing connected", `{"source":{"connector_key":"notes"},"streams":[{"name":"notes"}]}`, "streams[0]", "add a connection first"},
	{"nothing connected, all", `{"source":{"connector_key":"notes"},"streams":[{"name":"*"}]}`, "streams[0]", "add a connection first"},

	{"no streams", `{"source":{"connector_key":"mail"}}`, "streams", "required"},
	{"empty streams", one(``), "streams", "empty"},
	{"stream twice", one(`{"name":"contacts"},{"name":"contacts"}`), "streams[1]", "twice"},
	{"stream unknown", one(`{"name":"notes"}`), "streams[0].name", "messages, contacts, attachments"},
	{"stream key", one(`{"name":"contacts","feilds":["id"]}`), "streams[0].feilds", "unknown key"},
	{"no name", one(`{}`), "streams[0].name", "required"},
	{"all and more", one(`{"name":"contacts"},{"name":"*"}`), "streams[1]", "only entry"},
	{"all with fields", one(`{"name":"*","fields":["id"]}`), "streams[0].fields", "by name"},
	{"all with view", one(`{"name":"*","view":"brief"}`), "streams[0].view", "by name"},
	{"all with time", one(`{"name":"*","time_range":{"since":"2025-01-01"}}`), "streams[0].time_range", "by name"},
	{"all with records", one(`{"name":"*","resources":["m1"]}`), "streams[0].resources", "by name"},
	{"necessity", one(`{"name":"contacts","necessity":1}`), "streams[0].necessity", "string"},

	{"fields and view", one(`{"name":"messages","fields":["id"],"view":"brief"}`), "streams[0].view", "keep one"},
	{"no fields", one(`{"name":"messages","fields":[]}`), "streams[0].fields", "empty"},
	{"null fields", one(`{"name":"messages","fields":null}`), "streams[0].fields", "list"},
	{"field unknown", one(`{"name":"messages","fields":["id","sbject"]}`), "streams[0].fields[1]", "box, subject, body, sent_at, id"},
	{"field all", one(`{"name":"messages","fields":["*"]}`), "streams[0].fields[0]", "no field"},
	{"field twice", one(`{"name":"messages","fields":["id","id"]}`), "streams[0].fields[1]", "twice"},
	{"fields cannot be selected", one(`{"name":"contacts","fields":["id"]}`), "streams[0].fields", "all its fields"},
	{"view unknown", one(`{"name":"messages","view":"full"}`), "streams[0].view", "brief"},

	{"no consent time", one(`{"name":"contacts","time_range":{"since":"2025-01-01"}}`), "streams[0].time_range", "no consent time"},
	{"no bound", one(`{"name":"messages","time_range":{}}`), "streams[0].time_range", "since, until"},
	{"bounds equal", one(`{"name":"messages","time_range":{"since":"2025-01-01","until":"2025-01-01T00:00:00Z"}}`), "streams[0].time_range", "before"},
	{"relative time", one(`{"name":"messages","time_range":{"since":"30d"}}`), "streams[0].time_range.since", "absolute"},
	{"null bound", one(`{"name":"messages","time_range":{"since":"2025-01-01","until":null}}`), "streams[0].time_range.until", "string"},
	{
		"bound equal to the zero time", one(`{"name":"messages","time_range":{"since":"2025-01-01","until":"0001-01-01T00:00:00Z"}}`),
		"streams[0].time_range.until", "absolute",
	},
	{"bound before year 1", one(`{"name":"messages","time_range":{"since":"0001-01-01T00:00:00+05:00"}}`), "streams[0].time_range.since", "absolute"},
	{"bound after year 9999", one(`{"name":"messages","time_range":{"until":"9999-12-31T23:00:00-05:00"}}`), "streams[0].time_range.until", "absolute"},
	{"time key", one(`{"name":"messages","time_range":{"from":"2025-01-01"}}`), "streams[0].time_range.from", "unknown key"},

	{"no records", one(`{"name":"messages","resources":[]}`), "streams[0].resources", "empty"},
	{"records cannot be selected", one(`{"name":"contacts","resources":["c1"]}`), "streams[0].resources", "leave it out"},
	{"record twice", one(`{"name":"messages","resources":["m1","m1"]}`), "streams[0].resources[1]", "twice"},
	{"record id", one(`{"name":"messages","resources":["m1",".."]}`), "streams[0].resources[1]", "form"},
	{"many records", one(`{"name":"messages","resources":` + many(1001) + `}`), "streams[0].resources", "1000"},

	{"connections and instance_ids", one(`{"name":"contacts","connections":["home"],"instance_ids":["cin_home"]}`), "streams[0].connections", "keep one"},
	{"no connections", one(`{"name":"contacts","connections":[]}`), "streams[0].connections", "empty"},
	{"connection unknown", one(`{"name":"contacts","connections":["none"]}`), "streams[0].connections[0]", "cin_home"},
	{"connection of another connector", one(`{"name":"contacts","connections":["cin_chat"]}`), "streams[0].connections[0]", "no connection"},
	{"name under instance_ids", one(`{"name":"contacts","instance_ids":["home"]}`), "streams[0].instance_ids[0]", "no connection"},
	{"ambiguous", one(`{"name":"contacts","connections":["work"]}`), "streams[0].connections[0]", "cin_twin, cin_work"},
	{"connection twice", one(`{"name":"contacts","connections":["home","Home mail"]}`), "streams[0].connections[1]", "twice"},
	{"not active", one(`{"name":"contacts","connections":["old"]}`), "streams[0].connections[0]", "paused"},

	{"expires twice", with(`"expires_in":"1d","expires_at":"2027-01-01"`), "expires_in", "keep one"},
	{"expires in form", with(`"expires_in":"1w"`), "expires_in", "90d"},
	{"expires in number", with(`"expires_in":90`), "expires_in", "string"},
	{"expires in too long", with(`"expires_in":"36501d"`), "expires_in", "36500d"},
	{"expires in overflows", with(`"expires_in":"213504d"`), "expires_in", "36500d"},
	{"expires past", with(`"expires_at":"2026-11-01T11:00:00Z"`), "expires_at", "future"},
	{"expires now", with(`"expires_at":"2026-11-01T11:00:00.9876Z"`), "expires_at", "future"},
	{"expires form", with(`"expires_at":"tomorrow"`), "expires_at", "absolute"},
	{"single use, later", with(`"access_mode":"single_use","expires_in":"2d"`), "expires_in", "24 hours"},
	{"single use, later date", with(`"access_mode":"single_use","expires_at":"2027-01-01"`), "expires_at", "24 hours"},
}

func TestFreezeErrors(t *testing.T) {
	cat := testCatalog(t)
	for _, tt := range invalidSpecs {
		t.Run(tt.name, func(t *testing.T) {
			g, err := Freeze([]byte(tt.spec), cat, issue())
			var e *pdpp.Error
			if !errors.As(err, &e) || g != nil {
				t.Fatalf("Freeze = %v, %v, want an error", g, err)
			}
			if e.Code != pdpp.CodeInvalidInput || e.Param != tt.path {
				t.Errorf("error has code %q at %q, want %q at %q", e.Code, e.Param, pdpp.CodeInvalidInput, tt.path)
			}
			if !strings.Contains(e.Message, tt.text) || !strings.HasPrefix(e.Message, tt.path) {
				t.Errorf("message %q should start with %q and contain %q", e.Message, tt.path, tt.text)
			}
			if strings.ContainsAny(e.Message, "\n\r\x00") || len(e.Message) > 2000 {
				t.Errorf("message %.100q… is too long or has a line break", e.Message)
			}
		})
	}
}

// Two connectors may have the same source. The source id alone is then ambiguous.
func TestFreezeSharedSource(t *testing.T) {
	cat := testCatalog(t)
	other := parseManifest(t, strings.Replace(mailManifest, `"connector_key": "mail"`, `"connector_key": "mail2"`, 1))
	cat.Manifests = append(cat.Manifests, other)
	_, err := Freeze([]byte(`{"source":{"id":"https://reg.acme.test/c/mail"},"streams":[{"name":"*"}]}`), cat, issue())
	if err == nil || !strings.Contains(err.Error(), "mail, mail2") {
		t.Errorf("Freeze by a shared id = %v, want an error that lists mail, mail2", err)
	}
	g, err := Freeze([]byte(`{"source":{"id":"https://reg.acme.test/c/mail","connector_key":"mail"},"streams":[{"name":"*"}]}`), cat, issue())
	if err != nil || g.ConnectorKey != "mail" {
		t.Errorf("Freeze by id and key = %v, %v", g, err)
	}
}

// Connections and fields that are added later are not in the grant (H-148, M-11).
func TestFrozen(t *testing.T) {
	g := mustFreeze(t, one(`{"name":"*"}`))
	cat := testCatalog(t)
	cat.Manifests[1] = parseManifest(t, strings.Replace(mailManifest, `"name": {"type": "string"}`,
		`"name": {"type": "string"}, "phone": {"type": "string"}`, 1))
	cat.Connections = append(cat.Connections, pdpp.Connection{ID: "cin_zoo", Connector: "mail", Status: "active"})
	rows, err := ForClient(g, cat).Stream("contacts", Selector{})
	if err != nil {
		t.Fatal(err)
	}
	if rows[0].Access.Granted("phone") || !rows[0].Access.Granted("name") {
		t.Error("the grant has a field that was declared later, or not all of its own")
	}
	if diff := cmp.Diff([]string{"mail/contacts: cin_home cin_twin cin_work"}, summary(rows)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

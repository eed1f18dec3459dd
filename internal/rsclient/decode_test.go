package rsclient_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pdpp"
	"pdpp/internal/evidence"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

func compact(t *testing.T, s string) []byte {
	t.Helper()
	b, err := rawjson.CompactRelayed(nil, []byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestListsAreFound(t *testing.T) {
	for _, body := range []string{
		`[1,2]`, `{"data":[1,2]}`, `{"results":[1,2]}`, `{"data":{"results":[1,2]}}`, `{"data":{"data":[1,2]}}`,
		`{"data":null,"results":[1,2]}`, `{"results":[],"data":[1,2]}`,
	} {
		if p := rsclient.PageOf([]byte(body)); len(p.Rows) != 2 {
			t.Errorf("%s: %q", body, p.Rows)
		}
	}
	for _, body := range []string{`{}`, `{"data":{}}`, `{"data":"[1]"}`, `{"data":{"data":{"data":[1]}}}`} {
		if p := rsclient.PageOf([]byte(body)); len(p.Rows) != 0 {
			t.Errorf("%s: %q", body, p.Rows)
		}
	}
}

func TestCounts(t *testing.T) {
	for meta, want := range map[string]string{
		`{"count":{"kind":"exact","value":57},"count_accuracy":"estimated"}`: "exact:57",
		`{"count":{"kind":"lower_bound","value":10000}}`:                     "at_least:10000",
		`{"count":11,"count_accuracy":"exact"}`:                              "exact:11",
		`{"count":11,"count_accuracy":"estimated"}`:                          "estimated:11",
		`{"count":11,"count_accuracy":"lower_bound"}`:                        "at_least:11",
		`{"count":{"kind":"none"}}`:                                          "",
		`{"count":null,"count_accuracy":"exact"}`:                            "",
		`{"count":11,"count_accuracy":"not_counted"}`:                        "",
		`{"count":-1,"count_accuracy":"exact"}`:                              "",
		`{"count":{"kind":"exact","value":"57"}}`:                            "",
		`{"count":{"kind":"\n1. \"forged\"","value":5}}`:                     "",
	} {
		if got := rsclient.PageOf([]byte(`{"meta":` + meta + `}`)).Count.String(); got != want {
			t.Errorf("%s: %q, want %q", meta, got, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	p := rsclient.PageOf(compact(t, `{"meta":{"warnings":[
		{"code":"source_unavailable","message":"m","connection_id":"cin_9","detail":{"connector_key":"bank","error":{"code":"timeout","status":503}}},
		{"code":"limit_clamped","message":"limit reduced to 100","param":"limit"}]}}`))
	want := []rsclient.Warning{
		{Code: "source_unavailable", Message: "m", Connection: "cin_9", ConnectorKey: "bank", Error: "timeout"},
		{Code: "limit_clamped", Message: "limit reduced to 100", Param: "limit"},
	}
	if diff := cmp.Diff(want, p.Warnings, cmpopts.IgnoreFields(rsclient.Warning{}, "Raw")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestShortKeys(t *testing.T) {
	for key, want := range map[string]string{
		"ledgerly": "ledgerly", "": "", "https://r.example/connectors/gmail": "gmail", "https://r.example/connectors/gmail/?v=1#x": "gmail",
		"https://r.example": "r.example", "urn:x:y": "urn:x:y", "a/b": "a/b", "x://": "x://",
	} {
		if got := rsclient.ShortKey(key); got != want {
			t.Errorf("ShortKey(%q) = %q, want %q", key, got, want)
		}
	}
}

func TestRetryWith(t *testing.T) {
	for obj, want := range map[string]string{
		`{"retry_with":"connection_id"}`: "connection_id", `{"retry_with":{"field":"stream","x":1}}`: "stream", `{"retry_with":7}`: "", `{}`: "",
	} {
		if got := rsclient.RetryWith([]byte(obj)); got != want {
			t.Errorf("RetryWith(%s) = %q, want %q", obj, got, want)
		}
	}
}

func TestRecords(t *testing.T) {
	asked := rsclient.Identity{Connection: "cin_q", Stream: "entries", Record: "r"}
	tests := []struct {
		name, raw string
		want      rsclient.Record
	}{
		{
			"ours", `{"object":"record","id":"ent_31","stream":"s","data":{"id":"ent_31"},"emitted_at":"2026-05-01T08:00:00.000Z",
			"connection_id":"cin_a1","connector_key":"ledgerly","display_name":"Joint","truncated_fields":{"note":{"total_chars":9120,"shown_chars":64},
			"b":{"total_chars":64284,"shown_chars":0,"as":"json","binary":{"kind":"base64_text","size_bytes":48213}}}}`,
			rsclient.Record{
				Identity: rsclient.Identity{Connection: "cin_a1", Stream: "s", Record: "ent_31"},
				Source:   rsclient.Source{ConnectorKey: "ledgerly", DisplayName: "Joint"},
				Payload:  []byte(`{"id":"ent_31"}`), EmittedAt: "2026-05-01T08:00:00.000Z",
				Truncated: map[string]*evidence.Truncation{
					"note": {TotalChars: 9120, ShownChars: 64},
					"b":    {TotalChars: 64284, AsJSON: true, Binary: &evidence.Binary{Kind: "base64_text", SizeBytes: 48213}},
				},
			},
		},
		{
			"aliases", `{"record_key":"k","connector_instance_id":"cin_z","connector_id":"gmail","connector_display_name":"Mail","data":{}}`,
			rsclient.Record{
				Identity: rsclient.Identity{Connection: "cin_z", Stream: "entries", Record: "k"},
				Source:   rsclient.Source{ConnectorKey: "gmail", ConnectorName: "Mail"}, Payload: []byte(`{}`),
			},
		},
		{
			"flat", `{"id":"f","connection_id":"cin_z","subject":"S","amount":1.10,"data":"own","meta":1}`,
			rsclient.Record{
				Identity: rsclient.Identity{Connection: "cin_z", Stream: "entries", Record: "f"}, Flat: true,
				Payload: []byte(`{"subject":"S","amount":1.10,"data":"own","meta":1}`),
			},
		},
		{
			"tombstone", `{"object":"record","id":"d","deleted":true,"deleted_at":"2026-05-02T10:00:00Z","removed_reason":"deleted"}`,
			rsclient.Record{
				Identity: rsclient.Identity{Connection: "cin_q", Stream: "entries", Record: "d"}, Flat: true, Payload: []byte(`{}`),
				Deleted: true, DeletedAt: "2026-05-02T10:00:00Z", RemovedReason: "deleted",
			},
		},
	}
	for _, test := range tests {
		got := recordOf(compact(t, test.raw), asked)
		if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(rsclient.Record{}, "Raw")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.name, diff)
		}
	}
	if d := detailOf([]byte(`{"id":"f","subject":"S","links":{},"meta":{}}`), asked); string(d.Payload) != `{"subject":"S"}` {
		t.Errorf("flat detail: %s", d.Payload)
	}
}

func TestProject(t *testing.T) {
	t.Run("PROJ-2 project", func(t *testing.T) {
		r := recordOf([]byte(`{"id":"1","data":{"a":1.0,"b\u0062":2,"a":3,"c":{"bb":1}}}`), rsclient.Identity{})
		r.Project([]string{"bb", "a", "zz"})
		if got, want := string(r.Payload), `{"a":1.0,"b\u0062":2,"a":3}`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

func TestPresentation(t *testing.T) {
	t.Run("EVID-1 presentation", func(t *testing.T) {
		body := compact(t, `{"meta":{"presentation":{"ledgerly/entries":{"label":"L","time_field":"posted_at","roles":{"primary-title":["memo","alt"]}},
		"a/posts":{"roles":{}},"b/posts":{"time_field":"t","roles":{}}}},
		"id":"e1","connection_id":"cin_a1","data":{"alt":"Second","posted_at":"2026-04-30"}}`)
		all := rsclient.PresentationsOf(body)
		for _, key := range []string{"ledgerly", ""} {
			want := &evidence.Presentation{BlobsByID: true, TimeFields: []string{"posted_at"}, Roles: map[pdpp.Role][]string{"primary-title": {"memo", "alt"}}}
			if diff := cmp.Diff(want, all.For(key, "entries")); diff != "" {
				t.Errorf("%q (-want +got)\n%s", key, diff)
			}
		}
		for _, stream := range [][2]string{{"", "posts"}, {"c", "posts"}, {"ledgerly", "none"}, {"other", "entries"}} {
			if diff := cmp.Diff(&evidence.Presentation{BlobsByID: true}, all.For(stream[0], stream[1])); diff != "" {
				t.Errorf("%q (-want +got)\n%s", stream, diff)
			}
		}
		r := detailOf(body, rsclient.Identity{Stream: "entries"})
		e := r.Evidence(all)
		if title, at := evidence.TitleOf(e), evidence.EventTimeOf(e); title.Text != "Second" || at.Value != "2026-04-30" {
			t.Errorf("title %+v at %+v", title, at)
		}
	})
}

func TestSchemaShapes(t *testing.T) {
	const row = `{"name":"entries","label":"L","cursor_field":"at","field_capabilities":{"id":"t=string,eq","n":{"granted":true}},
		"views":[{"id":"brief","fields":["id"]}],"expand_capabilities":[{"relation":"r","target_stream":"s","max_limit":50},{"name":"q","usable":false}]}`
	wantRow := rsclient.SchemaRow{
		Name: "entries", Label: "L", CursorField: "at", FieldCount: -1,
		Fields:    []rsclient.SchemaField{{Name: "id", Flags: "t=string,eq"}, {Name: "n", Object: []byte(`{"granted":true}`)}},
		Views:     []rsclient.SchemaView{{ID: "brief", Fields: []string{"id"}}},
		Relations: []rsclient.SchemaRelation{{Name: "r", Stream: "s", Max: 50, Usable: true}, {Name: "q", Max: -1}},
	}
	ignore := cmpopts.IgnoreFields(rsclient.SchemaRow{}, "Raw")
	for _, body := range []string{`{"streams":[` + row + `]}`, `{"data":{"streams":[` + row + `,{"label":"nameless"},7]}}`} {
		want := wantRow
		want.Index = -1
		if diff := cmp.Diff([]rsclient.SchemaRow{want}, rsclient.SchemaOf(compact(t, body)).Rows(), ignore); diff != "" {
			t.Errorf("%s (-want +got)\n%s", body, diff)
		}
	}
	s := rsclient.SchemaOf(compact(t, `{"data":{"object":"schema","detail":"compact","bearer":{"scope":"grant"},"connectors":[
		{"source":{"id":"https://r.example/x/gmail"},"connector_display_name":"Mail","granted_connections":[{"connection_id":"c1","display_name":"Work"},{"connection_id":"c2"}],
		 "streams":[`+row+`,{"name":"one","connection_id":"c2","display_name":"Two"},{"name":"own","granted_connections":[{"connector_instance_id":"c3"}]},{"name":"none","granted_connections":[]}]}],
		"streams":[{"name":"entries"},{"name":"extra"}]}}`))
	if !s.Compact || s.Scope != "grant" || s.Document[1] != '"' || string(s.Document[2:8]) != "object" {
		t.Errorf("document %+v", s)
	}
	type summary struct {
		Name, Key, Label string
		Connections      []rsclient.Connection
		Own              bool
	}
	var got []summary
	for _, r := range s.Rows() {
		got = append(got, summary{r.Name, r.ConnectorKey, r.Source.Label(), r.Connections, r.OwnConnections})
	}
	const key = "https://r.example/x/gmail"
	want := []summary{
		{"entries", key, "Mail", []rsclient.Connection{{ID: "c1", DisplayName: "Work"}, {ID: "c2"}}, false},
		{"one", key, "Two", []rsclient.Connection{{ID: "c2", DisplayName: "Two"}}, false},
		{"own", key, "Mail", []rsclient.Connection{{ID: "c3"}}, true},
		{"none", key, "Mail", nil, true},
		{"extra", "", "", nil, false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWindows(t *testing.T) {
	asked := rsclient.Identity{Connection: "cin", Stream: "s", Record: "r"}
	w, ok := rsclient.WindowOf(compact(t, `{"window":{"text":"a\u00e9","start_chars":5,"end_chars":7,"total_chars":null,"next_offset_chars":7,"complete":false,"has_more":true}}`), asked, "body")
	want := rsclient.Window{
		Identity: asked, Text: "aé", Start: 5, End: 7, Total: -1, Limit: -1, Next: 7, Previous: -1, MatchStart: -1, MatchEnd: -1, NextMatch: -1, HasMore: true,
	}
	want.Field.Path = "body"
	if diff := cmp.Diff(want, w, cmpopts.IgnoreFields(rsclient.Window{}, "Raw")); diff != "" || !ok {
		t.Errorf("%t (-want +got)\n%s", ok, diff)
	}
	for _, body := range []string{`{}`, `{"window":{}}`, `{"window":{"text":5,"start_chars":0,"end_chars":1}}`, `{"window":{"text":"a","start_chars":3,"end_chars":1}}`} {
		if w, ok := rsclient.WindowOf([]byte(body), asked, "body"); ok {
			t.Errorf("%s: %+v", body, w)
		}
	}
}

func TestPageBody(t *testing.T) {
	p := rsclient.PageOf([]byte(`{"object":"list","has_more":false,"next_cursor":"c","data":[{"n":1.0},{"n":2}],"links":{"self":"s","next":"/v1?cursor=c","x":1},"next_changes_since":"b","meta":{}}`))
	got := string(p.Body(p.Rows[:1]))
	want := `{"object":"list","data":[{"n":1.0}],"links":{"self":"s","next":null,"x":1},"meta":{},"has_more":true}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

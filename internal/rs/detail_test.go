package rs_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"pdpp/internal/rs/resttest"
)

func TestRecordDetail(t *testing.T) {
	w := filledCabinet(t)
	tok, id := w.Grant(cabinetGrant)
	owner := w.OwnerToken()

	t.Run("REC-13 C-30 the complete body", func(t *testing.T) {
		sameJSON(t, w.Get(tok, "/v1/streams/ticks/records/9?connection_id=cin_c1").OK().JSON(), `{"object":"record","id":"9","stream":"ticks",
			"data":{"n":9,"seq":2,"word":"nine"},"emitted_at":"2026-05-01T08:00:00.000Z","connection_id":"cin_c1","connector_key":"cabinet","display_name":"Left drawer",
			"links":{"self":"/v1/streams/ticks/records/9?connection_id=cin_c1"},
			"meta":{"count":{"kind":"none"},"warnings":[],"presentation":{"cabinet/ticks":{"time_field":"seq","primary_key":["n"],"roles":{}}}}}`)
	})
	t.Run("REC-13 detail equals the list item", func(t *testing.T) {
		list := w.Get(tok, "/v1/streams/items/records?connection_id=cin_c1").OK()
		for i, id := range list.IDs() {
			detail := w.Get(tok, "/v1/streams/items/records/"+url.PathEscape(id)+"?connection_id=cin_c1").OK().JSON().(map[string]any)
			delete(detail, "links")
			delete(detail, "meta")
			sameJSON(t, detail, rawMember(t, list, "data", strconv.Itoa(i)))
		}
	})
	t.Run("REC-2 compound and integer keys", func(t *testing.T) {
		for id, total := range map[string]string{`["acc_1","2026-04"]`: "7", `["acc \"2\"","2026-05"]`: "8"} {
			a := w.Get(tok, "/v1/streams/balances/records/"+url.PathEscape(id)).OK()
			if a.At("id") != id || rawMember(t, a, "data", "total") != total {
				t.Errorf("%s: want the id and the total %s: %s", id, total, a.Body)
			}
		}
		sameRaw(t, w.Get(tok, "/v1/streams/ticks/records/-1"), "-1", "data", "n")
		for _, other := range []string{"09", "9.0", "%2B9"} {
			refused(t, w.Get(tok, "/v1/streams/ticks/records/"+other), refusal{status: 404, code: "not_found"})
		}
	})
	t.Run("REC-13 the answer is the same for missing, deleted and invisible records", func(t *testing.T) {
		w.Ingest("cin_c1", "covers", `{"key":"gone","data":{"id":"gone"}}`)
		w.Ingest("cin_c1", "covers", `{"key":"gone","op":"delete"}`)
		bounded, _ := w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items","time_range":{"since":"2026-01-11T00:00:00Z"},"resources":["left","tie"]},{"name":"covers"}]}`)
		want := string(w.Get(bounded, "/v1/streams/items/records/missing", "Request-Id: r").Body)
		if !strings.Contains(want, `"code":"not_found"`) {
			t.Fatalf("missing record: %s, want not_found", want)
		}
		for _, path := range []string{"/v1/streams/covers/records/gone", "/v1/streams/items/records/right", "/v1/streams/items/records/tie", "/v1/streams/items/records/null"} {
			a := w.Get(bounded, path, "Request-Id: r")
			if a.Status != 404 || string(a.Body) != want {
				t.Errorf("%s: %d %s, want 404 %s", path, a.Status, a.Body, want)
			}
		}
		w.Get(bounded, "/v1/streams/items/records/left").OK()
	})
	t.Run("REC-14 C-43 an id on two connections is ambiguous", func(t *testing.T) {
		a := w.Get(tok, "/v1/streams/items/records/tie", "Request-Id: r")
		sameJSON(t, a.JSON(), `{"error":{"type":"api_error","code":"ambiguous_connection","message":"Several connections have a record with this id. Repeat the request with one of the connection_id values listed.",
			"param":"connection_id","retry_with":"connection_id","available_connections":[
				{"connection_id":"cin_c1","connector_key":"cabinet","display_name":"Left drawer","grant_id":"`+string(id)+`"},
				{"connection_id":"cin_c2","connector_key":"cabinet","grant_id":"`+string(id)+`"}],
			"available_connection_count":2,"request_id":"r"}}`)
		if a.Status != 409 {
			t.Errorf("status = %d, want 409", a.Status)
		}
		sameValue(t, w.Get(tok, "/v1/streams/items/records/tie?connection_id=cin_c2").OK(), "data.title", "Right tie")
	})
	t.Run("REC-14 only connections with the id are listed", func(t *testing.T) {
		w.Connect("cabinet", "cin_c3", "Empty")
		sameJSON(t, w.Get(owner, "/v1/streams/items/records/tie").At("error.available_connection_count"), "2")
		w.Get(owner, "/v1/streams/items/records/left").OK()
	})
	t.Run("REC-14 invisible records do not make an id ambiguous", func(t *testing.T) {
		// Of the two records with the id tie, only that of cin_c1 has a day.
		bounded, _ := w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items","time_range":{"since":"2026-01-01T00:00:00Z"}}]}`)
		sameValue(t, w.Get(bounded, "/v1/streams/items/records/tie").OK(), "connection_id", "cin_c1")
	})
	t.Run("C-25 an id in two connectors", func(t *testing.T) {
		two := twoSources(t)
		a := two.Get(two.OwnerToken(), "/v1/streams/events/records/ev_1")
		refused(t, a, refusal{status: 409, code: "ambiguous_connection", param: "connection_id"})
		a = two.Get(two.OwnerToken(), "/v1/streams/events/records/ev_1?fields=room").OK()
		sameJSON(t, a.At("data"), `{"room":"Blue"}`)
		sameJSON(t, a.At("meta.warnings.0.detail"), `{"connector_key":"beta","connection_id":"cin_b1"}`)
		refused(t, two.Get(two.OwnerToken(), "/v1/streams/events/records/ev_9"), refusal{status: 404, code: "not_found"})
	})
}

// TestRecordVisibility: list, detail and counts agree about visibility (REC-28 to REC-30).
func TestRecordVisibility(t *testing.T) {
	w := resttest.Cabinet(t)
	w.Ingest("cin_c1", "items",
		item("before", `"day":"2025-12-31"`), item("at_since", `"day":"2026-01-01"`), item("offset", `"day":"2026-01-31T23:30:00-01:00"`),
		item("inside", `"day":"2026-01-15T12:00:00"`), item("at_until", `"day":"2026-02-01"`),
		item("null", `"day":null`), item("absent", ""), item("unread", `"day":"last week"`), item("number", `"day":20260115`))
	for _, test := range []struct {
		rule, bounds string
		want         []string
	}{
		{"REC-28 since is included, until is not", `"time_range":{"since":"2026-01-01T00:00:00Z","until":"2026-02-01T00:00:00Z"}`, []string{"inside", "at_since"}},
		{"REC-28 since alone", `"time_range":{"since":"2026-02-01T00:00:00Z"}`, []string{"offset", "at_until"}},
		{"REC-28 until alone", `"time_range":{"until":"2026-01-01T00:00:00Z"}`, []string{"before"}},
		{"REC-29 resources", `"resources":["null","absent","none"]`, []string{"null", "absent"}},
		{"REC-28 REC-29 resources and time range", `"resources":["inside","before"],"time_range":{"since":"2026-01-01T00:00:00Z"}`, []string{"inside"}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			// The time field itself is not granted (REC-28).
			tok, _ := w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items","fields":["id"],` + test.bounds + `}]}`)
			a := w.Get(tok, "/v1/streams/items/records?count=exact").OK()
			seen := map[string]bool{}
			for _, id := range a.IDs() {
				seen[id] = true
			}
			for _, id := range test.want {
				if !seen[id] {
					t.Errorf("%s is missing from %v", id, a.IDs())
				}
				w.Get(tok, "/v1/streams/items/records/"+id).OK()
				delete(seen, id)
			}
			if len(seen) > 0 {
				t.Errorf("invisible records are listed: %v", seen)
			}
			sameRaw(t, a, strconv.Itoa(len(test.want)), "meta", "count", "value")
			sameRaw(t, w.Get(tok, "/v1/streams?connection_id=cin_c1"), strconv.Itoa(len(test.want)), "data", "0", "record_count")
			refused(t, w.Get(tok, "/v1/streams/items/records/unread"), refusal{status: 404, code: "not_found"})
		})
	}
}

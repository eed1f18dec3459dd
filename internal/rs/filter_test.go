package rs_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pdpp/internal/rs/resttest"
)

// filterWorld returns a cabinet with values of all types, also null and of wrong types.
func filterWorld(t testing.TB) *resttest.World {
	t.Helper()
	w := resttest.Cabinet(t)
	w.Ingest("cin_c1", "items",
		item("1", `"title":"Straße","author":"","price":12,"qty":12,"done":true,"day":"2026-01-10","at":"2026-01-10T12:00:00Z","mixed":"a"`),
		item("2", `"title":"strasse","author":"a b","price":12.0,"qty":-3,"done":false,"day":"2026-01-11","at":"2026-01-10T13:00:00+01:00"`),
		item("3", `"title":"Cafe\u0301","price":0.1,"qty":9007199254740993,"done":"true","day":"2026-01-10T00:00:00","at":"2026-01-10T12:00:00.001Z"`),
		item("4", `"title":null,"price":null,"qty":"12","at":"soon"`),
		item("5", `"price":1.2e1,"qty":12.0,"day":"2026-02-30","at":null`),
		item("6", `"price":"12","qty":9007199254740992,"at":"2026-01-09T00:00:00Z"`))
	return w
}

func TestRecordFilters(t *testing.T) {
	w := filterWorld(t)
	bothTokens(t, w, cabinetGrant, func(t *testing.T, tok string) {
		for _, test := range []struct{ rule, query, want string }{
			{"REC-19 string by code points", "filter[title]=" + url.QueryEscape("Straße"), "1"},
			{"REC-19 string by code points", "filter[title]=Stra%C3%9Fe&filter[qty]=12", "1"},
			{"REC-19 no normalization", "filter[title]=" + url.QueryEscape("Café"), ""},
			{"REC-19 escapes are text", "filter[title]=" + url.QueryEscape("Cafe\u0301"), "3"},
			{"REC-19 case matters", "filter[title]=STRASSE", ""},
			{"REC-19 empty operand", "filter[author]=", "1"},
			{"REC-19 white space is significant", "filter[author]=a+b", "2"},
			{"REC-19 numbers as exact decimals", "filter[price]=12", "1 2 5"},
			{"REC-19 numbers as exact decimals", "filter[price]=1.20e%2B1", "1 2 5"},
			{"REC-19 numbers as exact decimals", "filter[price]=0.10", "3"},
			{"REC-19 integers above the precision of float64", "filter[qty]=9007199254740993", "3"},
			{"REC-19 integers", "filter[qty]=12", "1 5"},
			{"REC-19 integers", "filter[qty]=-3", "2"},
			{"REC-19 booleans", "filter[done]=true", "1"},
			{"REC-19 booleans", "filter[done]=false", "2"},
			{"REC-19 date-time by instant", "filter[at]=2026-01-10T12:00:00Z", "1 2"},
			{"REC-19 date-time by instant", "filter[at]=2026-01-10T14:00:00.000%2B02:00", "1 2"},
			{"REC-19 date by instant", "filter[day]=2026-01-10", "1 3"},
			{"REC-19 null matches nothing", "filter[title]=null", ""},
			{"REC-19 by key", "filter[id]=4", "4"},
			{"REC-20 range", "filter[at][gte]=2026-01-10T12:00:00Z", "1 2 3"},
			{"REC-20 range", "filter[at][gt]=2026-01-10T12:00:00Z", "3"},
			{"REC-20 range", "filter[at][lte]=2026-01-10T12:00:00Z", "1 2 6"},
			{"REC-20 range", "filter[at][lt]=2026-01-10T12:00:00Z", "6"},
			{"REC-20 two operators", "filter[at][gte]=2026-01-10&filter[at][lt]=2026-01-10T12:00:00.001Z", "1 2"},
			{"REC-20 numbers", "filter[price][gt]=0.1", "1 2 5"},
			{"REC-20 numbers", "filter[price][lte]=0.1", "3"},
			{"REC-20 dates", "filter[day][gte]=2026-01-11", "2"},
			{"REC-20 exact integers", "filter[qty][gte]=9007199254740993", "3"},
			{"REC-18 conditions are ANDed", "filter[price]=12&filter[done]=false", "2"},
			{"REC-18 conditions are ANDed", "filter[price][gt]=1&filter[at]=2026-01-10T12:00:00Z&filter[day][lt]=2026-01-11", "1"},
		} {
			t.Run(test.rule+": "+test.query, func(t *testing.T) {
				a := w.Get(tok, "/v1/streams/items/records?order=asc&count=exact&"+test.query).OK()
				got := a.IDs()
				less := func(a, b string) bool { return a < b }
				if diff := cmp.Diff(strings.Fields(test.want), got, cmpopts.SortSlices(less), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("ids differ (-want +got):\n%s", diff)
				}
				if n := rawMember(t, a, "meta", "count", "value"); n != fmt.Sprint(len(got)) {
					t.Errorf("count = %s, want %d", n, len(got))
				}
			})
		}
		bad := func(field string) refusal {
			return refusal{status: 400, code: "invalid_request", param: "filter", field: field}
		}
		for _, test := range []struct {
			rule, query string
			want        refusal
		}{
			{"REC-19 operand that does not parse", "filter[price]=many", bad("price")},
			{"REC-19 operand that does not parse", "filter[qty]=1.5", bad("qty")},
			{"REC-19 operand that does not parse", "filter[done]=yes", bad("done")},
			{"REC-19 operand that does not parse", "filter[at]=soon", bad("at")},
			{"REC-19 operand that does not parse", "filter[price]=", bad("price")},
			{"REC-19 field of several types", "filter[mixed]=a", bad("mixed")},
			{"REC-19 field is not a scalar", "filter[meta]=a", bad("meta")},
			{"REC-19 field is not a scalar", "filter[scan]=a", bad("scan")},
			{"REC-20 undeclared operator", "filter[qty][lt]=1", bad("qty")},
			{"REC-20 undeclared field", "filter[title][gte]=a", bad("title")},
			{"REC-21 unknown operator", "filter[at][ne]=2026-01-01", bad("at")},
			{"REC-21 unknown operator", "filter[at][eq]=2026-01-01", bad("at")},
			{"REC-21 list value", "filter[title]=a&filter[title]=b", bad("title")},
			{"REC-21 list value", "filter[title][]=a", bad("title")},
			{"REC-21 nesting", "filter[meta][a][b]=1", bad("meta")},
			{"REC-18 equality and range together", "filter[at]=2026-01-01&filter[at][gte]=2026-01-01", bad("at")},
			{"REC-18 equality and range together", "filter[at][gte]=2026-01-01&filter[at]=2026-01-01", bad("at")},
			{"REC-18 one operator twice", "filter[at][gte]=2026-01-01&filter[at][gte]=2026-01-01", bad("at")},
			{"REC-18 operand size", "filter[title]=" + strings.Repeat("a", 1025), bad("title")},
			{"REC-18 number of fields", manyFilters(17), bad("f16")},
			{"REC-21 unknown field", "filter[nope]=1", refusal{status: 400, code: "unknown_field", param: "filter", field: "nope"}},
			{"REC-21 unknown field", "filter[nope][gte]=1", refusal{status: 400, code: "unknown_field", param: "filter", field: "nope"}},
		} {
			t.Run(test.rule, func(t *testing.T) {
				refused(t, w.Get(tok, "/v1/streams/items/records?"+test.query), test.want)
			})
		}
	})
	t.Run("REC-18 an operand of 1,024 bytes", func(t *testing.T) {
		w.Ingest("cin_c1", "items", item("wide", `"title":"`+strings.Repeat("w", 1024)+`"`), item("wider", `"title":"`+strings.Repeat("w", 1025)+`"`))
		sameIDs(t, w.Get(w.OwnerToken(), "/v1/streams/items/records?filter[title]="+strings.Repeat("w", 1024)), "wide")
	})
	t.Run("REC-21 ungranted field", func(t *testing.T) {
		tok, _ := w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items","fields":["title"]}]}`)
		for _, query := range []string{"filter[price]=1", "filter[price][gt]=1", "filter[price]=bad", "filter[price][lt]=1"} {
			a := w.Get(tok, "/v1/streams/items/records?"+query)
			refused(t, a, refusal{status: 403, code: "field_not_granted", param: "filter", field: "price"})
			if a.At("error.needs_broader_grant") != true {
				t.Errorf("needs_broader_grant is missing: %s", a.Body)
			}
		}
	})
	t.Run("REC-22 a filter never widens a grant", func(t *testing.T) {
		tok, _ := w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items","resources":["1"]}]}`)
		sameIDs(t, w.Get(tok, "/v1/streams/items/records?filter[price]=12"), "1")
	})
}

func manyFilters(n int) string {
	var parts []string
	for i := range n {
		parts = append(parts, fmt.Sprintf("filter[f%d]=1", i))
	}
	return strings.Join(parts, "&")
}

// TestSharedStreamName: two connectors have a stream of the same name (C-25, REC-9).
func TestSharedStreamName(t *testing.T) {
	w := twoSources(t)
	owner := w.OwnerToken()
	const list = "/v1/streams/events/records?"
	skipped := func(connector, connection string) string {
		return `[{"code":"source_skipped_not_applicable","message":"This source does not support what the request uses, so it was left out.",
			"detail":{"connector_key":"` + connector + `","connection_id":"` + connection + `"}}]`
	}
	for _, test := range []struct {
		rule, query string
		want        []string
		warnings    string
	}{
		{"REC-9 ordered by emitted_at", "", []string{"ev_3@cin_b1", "ev_2@cin_z9", "ev_1@cin_b1", "ev_1@cin_z9"}, "[]"},
		{"REC-9 ordered by emitted_at", "order=asc", []string{"ev_1@cin_z9", "ev_1@cin_b1", "ev_2@cin_z9", "ev_3@cin_b1"}, "[]"},
		{"REC-9 sort skips other connectors", "sort=starts_at", []string{"ev_2@cin_z9", "ev_1@cin_z9"}, skipped("beta", "cin_b1")},
		{"REC-9 sort skips other connectors", "sort=-happened_at", []string{"ev_3@cin_b1", "ev_1@cin_b1"}, skipped("alpha", "cin_z9")},
		{"C-25 shared field", "filter[title]=Run", []string{"ev_1@cin_b1"}, "[]"},
		{"C-25 filter", "filter[room]=Red", []string{"ev_2@cin_z9"}, skipped("beta", "cin_b1")},
		{"C-25 operator", "filter[starts_at][lt]=2026-04-03", []string{"ev_2@cin_z9"}, skipped("beta", "cin_b1")},
		{"C-25 fields", "fields=score", []string{"ev_3@cin_b1", "ev_1@cin_b1"}, skipped("alpha", "cin_z9")},
		{"C-25 view", "view=brief", []string{"ev_1@cin_z9", "ev_2@cin_z9"}, skipped("beta", "cin_b1")},
		{"C-25 expand", "expand=guests", []string{"ev_1@cin_z9", "ev_2@cin_z9"}, skipped("beta", "cin_b1")},
		{"C-6 a selector", "connector_id=alpha", []string{"ev_1@cin_z9", "ev_2@cin_z9"}, "[]"},
	} {
		t.Run(test.rule+": "+test.query, func(t *testing.T) {
			a := w.Get(owner, list+"count=exact&"+test.query).OK()
			samePlaces(t, a, test.want...)
			sameJSON(t, a.At("meta.warnings"), test.warnings)
			sameRaw(t, a, fmt.Sprint(len(test.want)), "meta", "count", "value")
		})
	}
	t.Run("C-25 if all bindings are skipped, the error is that of the first connection_id", func(t *testing.T) {
		for _, query := range []string{"filter[nope]=1", "fields=nope", "sort=nope", "view=nope", "expand=nope", "fields=room,score"} {
			all, first := w.Get(owner, list+query, "Request-Id: r"), w.Get(owner, list+query+"&connection_id=cin_b1", "Request-Id: r")
			if all.Status != 400 || string(all.Body) != string(first.Body) {
				t.Errorf("%s: %d %s, want %d %s", query, all.Status, all.Body, first.Status, first.Body)
			}
		}
	})
	t.Run("C-25 a selected binding is refused instead of skipped", func(t *testing.T) {
		refused(t, w.Get(owner, list+"filter[room]=Red&connector_id=beta"), refusal{status: 400, code: "unknown_field", param: "filter", field: "room"})
	})
	t.Run("C-25 paging with a skipped source", func(t *testing.T) {
		a := w.Get(owner, list+"sort=starts_at&limit=1").OK()
		sameIDs(t, a, "ev_2")
		b := w.Get(owner, a.At("links.next").(string)).OK()
		sameIDs(t, b, "ev_1")
		sameJSON(t, b.At("meta.warnings"), skipped("beta", "cin_b1"))
		if b.At("has_more") != false {
			t.Error("has_more on the last page")
		}
	})
}

// TestUnconnectedConnector: a connector without connections has no binding and does not affect
// other connectors (REC-9, C-25).
func TestUnconnectedConnector(t *testing.T) {
	w := twoSources(t)
	w.Manifest(strings.NewReplacer("c/beta", "c/gamma", `"Beta"`, `"Gamma"`).Replace(testManifest(t, "testdata/beta.json")))
	owner := w.OwnerToken()
	only := resttest.New(t)
	only.ManifestFile("testdata/alpha.json")
	only.ManifestFile("testdata/beta.json")
	only.Connect("alpha", "cin_z9", "Work")
	only.Ingest("cin_z9", "events",
		`{"key":"a","data":{"id":"a","starts_at":"2026-04-02T00:00:00Z"},"emitted_at":"2026-04-01T00:00:00Z"}`,
		`{"key":"b","data":{"id":"b","starts_at":"2026-04-01T00:00:00Z"},"emitted_at":"2026-04-02T00:00:00Z"}`)

	t.Run("C-25 a connector without connections causes no warning", func(t *testing.T) {
		sameIDs(t, w.Get(owner, "/v1/streams/events/records?fields=score"), "ev_3", "ev_1")
		sameJSON(t, w.Get(owner, "/v1/streams/events/records?fields=score").At("meta.warnings.1"), "null")
	})
	t.Run("REC-9 bindings of one connector keep its order", func(t *testing.T) {
		sameIDs(t, only.Get(only.OwnerToken(), "/v1/streams/events/records"), "a", "b")
	})
	t.Run("C-25 a field of the unconnected connector is unknown", func(t *testing.T) {
		refused(t, only.Get(only.OwnerToken(), "/v1/streams/events/records?filter[score]=1"), refusal{status: 400, code: "unknown_field", param: "filter", field: "score"})
	})
	t.Run("C-25 no connector is connected", func(t *testing.T) {
		none := resttest.New(t)
		none.ManifestFile("testdata/alpha.json")
		none.ManifestFile("testdata/beta.json")
		sameIDs(t, none.Get(none.OwnerToken(), "/v1/streams/events/records"))
		refused(t, none.Get(none.OwnerToken(), "/v1/streams/events/records?fields=nope"), refusal{status: 400, code: "unknown_field", param: "fields", field: "nope"})
		refused(t, none.Get(none.OwnerToken(), "/v1/streams/events/records/x"), refusal{status: 404, code: "not_found"})
	})
}

package rs_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/rs/resttest"
)

// bothTokens runs a check with the token of a client and with that of the owner (C-5, REC-22).
func bothTokens(t *testing.T, w *resttest.World, spec string, check func(t *testing.T, token string)) {
	t.Helper()
	client, _ := w.Grant(spec)
	t.Run("client", func(t *testing.T) { check(t, client) })
	t.Run("owner", func(t *testing.T) { check(t, w.OwnerToken()) })
}

func TestPaths(t *testing.T) {
	w := filledCabinet(t)
	tok, _ := w.Grant(cabinetGrant)

	t.Run("C-2 unknown path", func(t *testing.T) {
		for _, path := range []string{"/v1", "/v2/streams", "/v1/streams/items/nothing", "/v1/streams/items/records/tie/more", "/v1/stream", "/V1/streams"} {
			refused(t, w.Get(tok, path), refusal{status: 404, code: "not_found"})
		}
	})
	t.Run("C-2 trailing slash", func(t *testing.T) {
		for _, path := range []string{"/v1/streams/", "/v1/streams/items/", "/v1/streams/items/records/", "/v1/schema/"} {
			refused(t, w.Get(tok, path), refusal{status: 404, code: "not_found"})
		}
	})
	t.Run("C-2 other method", func(t *testing.T) {
		for _, test := range []struct{ method, path, allow string }{
			{"POST", "/v1/streams", "GET, HEAD"},
			{"PATCH", "/v1/streams/items/records", "DELETE, GET, HEAD"},
			{"PUT", "/v1/streams/items/records/tie", "DELETE, GET, HEAD"},
			{"GET", "/v1/ingest/items", "POST"},
			{"DELETE", "/v1/state/cabinet", "GET, HEAD, PUT"},
			{"DELETE", "/v1/schema", "GET, HEAD"},
			{"POST", "/", "GET, HEAD"},
		} {
			a := w.Do(test.method, tok, test.path, "")
			refused(t, a, refusal{status: 405, code: "method_not_allowed"})
			sameHeader(t, a, "Allow", test.allow)
		}
	})
	t.Run("C-3 segments are decoded once", func(t *testing.T) {
		a := w.Get(tok, "/v1/streams/items/records/a%2Fb%20c:d%3Fe%23f%25").OK()
		sameValue(t, a, "data.title", "Awkward id")
		refused(t, w.Get(tok, "/v1/streams/items/records/a%252Fb%2520c:d%253Fe%2523f%2525"), refusal{status: 404, code: "not_found"})
		sameJSON(t, w.Get(tok, "/v1/streams/%69tems/records/t%69e?fields=id&connection_id=cin_c1").OK().At("data"), `{"id":"tie"}`)
	})
	t.Run("C-3 paths are neither cleaned nor redirected", func(t *testing.T) {
		for _, path := range []string{"//v1/streams", "/v1//streams", "/v1/./streams", "/v1/x/../streams", "/v1/streams/items/../items"} {
			refused(t, w.Get(tok, path), refusal{status: 404, code: "not_found"})
		}
		refused(t, w.Get(tok, "/v1/streams/items/records/.."), refusal{status: 404, code: "not_found"})
	})
	t.Run("C-3 segment is not valid text", func(t *testing.T) {
		for _, path := range []string{"/v1/streams/%FF", "/v1/streams/items/records/%00", "/v1/streams/items/records/a%C3", "/v1/streams/%ED%A0%80/records"} {
			refused(t, w.Get(tok, path), refusal{status: 400, code: "invalid_request"})
		}
	})
}

// TestQueryGrammar has valid and invalid query strings (C-4, C-8).
func TestQueryGrammar(t *testing.T) {
	w := filledCabinet(t)
	tok, _ := w.Grant(cabinetGrant)
	const list = "/v1/streams/items/records?"

	t.Run("C-4 equivalent query strings", func(t *testing.T) {
		want := rawMember(t, w.Get(tok, list+"fields=id,title,at&filter[at][gte]=2026-01-11"), "data")
		for _, query := range []string{
			"fields=id&fields=title&fields=at&filter[at][gte]=2026-01-11",
			"fields[]=id&fields[]=title&fields[]=at&filter%5Bat%5D%5Bgte%5D=2026-01-11",
			"fields=id,title&fields[]=at&filter[at][gte]=2026%2D01%2D11",
			"fields=id,title,at,title,id&&filter[at][gte]=2026-01-11&",
		} {
			sameRaw(t, w.Get(tok, list+query), want, "data")
		}
	})
	t.Run("C-4 plus is a space", func(t *testing.T) {
		sameIDs(t, w.Get(tok, list+"filter[title]=Left+only"), "left")
	})
	for _, test := range []struct{ rule, query, param string }{
		{"C-4 nested brackets", "expand_limit[a][b][c]=1", "expand_limit"},
		{"C-4 unbalanced brackets", "filter[a=1", "filter"},
		{"C-4 unbalanced brackets", "filter]=1", "filter]"},
		{"C-4 text after a bracket", "filter[a]b=1", "filter"},
		{"C-4 invalid percent encoding", "filter[title]=%zz", ""},
		{"C-4 invalid percent encoding", "li%mit=1", ""},
		{"C-4 invalid UTF-8", "filter[title]=%FF", ""},
		{"C-4 invalid UTF-8", "%C3=1", ""},
		{"C-4 query is too long", "filter[title]=" + strings.Repeat("a", 16<<10), ""},
		{"C-4 too many parameters", strings.Repeat("fields=id&", 129), ""},
		{"C-8 repeated parameter", "limit=1&limit=1", "limit"},
		{"C-8 repeated parameter", "order=asc&order[]=asc", "order"},
		{"C-8 repeated parameter", "connection_id=cin_c1&connection_id=cin_c1", "connection_id"},
		{"C-8 repeated parameter", "sort=at&sort=at", "sort"},
		{"C-8 repeated parameter", "count=none&count=none", "count"},
		{"C-8 repeated parameter", "view=brief&view=brief", "view"},
		{"C-8 repeated parameter", "cursor=a&cursor=b", "cursor"},
		{"C-8 empty value", "limit=", "limit"},
		{"C-8 empty value", "fields=", "fields"},
		{"C-8 empty value", "fields=id,,title", "fields"},
		{"C-8 empty value", "expand=", "expand"},
		{"C-8 empty value", "view", "view"},
		{"C-8 empty value", "connection_id=", "connection_id"},
		{"C-8 empty value", "connector_id=", "connector_id"},
		{"C-8 empty value", "cursor=", "cursor"},
		{"C-8 filter without a bracket", "filter=1", "filter"},
		{"C-8 filter without a name", "filter[]=1", "filter"},
		{"C-8 brackets on a scalar", "limit[a]=1", "limit"},
		{"C-8 brackets on a list", "fields[a]=id", "fields"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			refused(t, w.Get(tok, list+test.query), refusal{status: 400, code: "invalid_request", param: test.param})
		})
	}
	t.Run("C-8 an empty operand", func(t *testing.T) {
		sameIDs(t, w.Get(tok, list+"filter[title]="))
	})
	t.Run("C-4 128 parameters are allowed", func(t *testing.T) {
		w.Get(tok, list+strings.Repeat("fields=id&", 128)).OK()
	})
}

func TestUnknownParameters(t *testing.T) {
	w := filledCabinet(t)
	bothTokens(t, w, cabinetGrant, func(t *testing.T, tok string) {
		for _, route := range []struct{ path, refused string }{
			{"/v1/streams", "limit"},
			{"/v1/streams/items", "view"},
			{"/v1/schema", "fields"},
			{"/v1/streams/items/records", "q"},
			{"/v1/streams/items/records/left", "filter[a]"},
			{"/v1/streams/items/records/left", "limit"},
		} {
			t.Run("C-5 "+route.path, func(t *testing.T) {
				a := w.Get(tok, route.path+"?"+route.refused+"=1&connection_id=cin_c1&zebra[x]=2&Limit=3")
				name, _, _ := strings.Cut(route.refused, "[")
				refused(t, a, refusal{status: 400, code: "invalid_request", param: name})
				if message := a.At("error.message").(string); !strings.Contains(message, name+", zebra, Limit") {
					t.Errorf("message %q does not list every unknown name", message)
				}
			})
		}
	})
	t.Run("C-5 unknown parameters are reported before stream and connection", func(t *testing.T) {
		tok, _ := w.Grant(cabinetGrant)
		refused(t, w.Get(tok, "/v1/streams/nothing/records?foo=1&connection_id=cin_none"), refusal{status: 400, code: "invalid_request", param: "foo"})
	})
}

func TestConnectionSelectors(t *testing.T) {
	w := filledCabinet(t)
	bothTokens(t, w, cabinetGrant, func(t *testing.T, tok string) {
		t.Run("C-6 every read can be limited to a connection", func(t *testing.T) {
			for _, path := range []string{"/v1/streams", "/v1/streams/items", "/v1/schema", "/v1/streams/items/records", "/v1/streams/items/records/tie"} {
				for _, selector := range []string{"connection_id=cin_c2", "connector_instance_id=cin_c2", "connection_id=cin_c2&connector_id=cabinet"} {
					a := w.Get(tok, path+"?"+selector).OK()
					if strings.Contains(string(a.Body), `"connection_id":"cin_c1"`) {
						t.Errorf("%s?%s shows the other connection: %s", path, selector, a.Body)
					}
				}
				w.Get(tok, path+"?connection_id=cin_c1&connector_id=cabinet").OK()
			}
			sameIDs(t, w.Get(tok, "/v1/streams/items/records?connection_id=cin_c2"), "right", "tie", "absent")
		})
		t.Run("C-7 the deprecated name", func(t *testing.T) {
			path := "/v1/streams/items/records?fields=id&connector_instance_id=cin_c2"
			a := w.Get(tok, path).OK()
			if strings.Contains(strings.ReplaceAll(string(a.Body), path, ""), "connector_instance_id") {
				t.Errorf("the deprecated name appears outside links.self: %s", a.Body)
			}
			w.Get(tok, path+"&connection_id=cin_c2").OK()
			refused(t, w.Get(tok, path+"&connection_id=cin_c1"), refusal{status: 400, code: "invalid_argument", param: "connector_instance_id"})
		})
		t.Run("C-23 unknown connection or connector", func(t *testing.T) {
			for _, path := range []string{"/v1/streams", "/v1/streams/items", "/v1/schema", "/v1/streams/items/records", "/v1/streams/items/records/tie"} {
				refused(t, w.Get(tok, path+"?connection_id=cin_none"), refusal{status: 404, code: "connection_not_found", param: "connection_id"})
				refused(t, w.Get(tok, path+"?connector_id=other"), refusal{status: 404, code: "not_found", param: "connector_id"})
			}
		})
	})
	t.Run("C-23 ungranted or unknown stream", func(t *testing.T) {
		tok, _ := w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"notes"}]}`)
		for _, path := range []string{"/v1/streams/%s", "/v1/schema?stream=%s", "/v1/streams/%s/records", "/v1/streams/%s/records/tie"} {
			declared := w.Get(tok, strings.ReplaceAll(path, "%s", "items"))
			refused(t, declared, refusal{status: 403, code: "grant_stream_not_allowed", stream: "items"})
			if declared.At("error.needs_broader_grant") != true {
				t.Errorf("C-44 needs_broader_grant is missing: %s", declared.Body)
			}
			unknown := w.Get(tok, strings.ReplaceAll(path, "%s", "nothing"))
			refused(t, unknown, refusal{status: 403, code: "grant_stream_not_allowed", stream: "nothing"})
			if unknown.At("error.needs_broader_grant") != nil {
				t.Errorf("C-44 needs_broader_grant for an undeclared stream: %s", unknown.Body)
			}
			refused(t, w.Get(w.OwnerToken(), strings.ReplaceAll(path, "%s", "nothing")), refusal{status: 404, code: "not_found", stream: "nothing"})
		}
	})
	t.Run("C-23 connection of another granted stream", func(t *testing.T) {
		tok, _ := w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items","instance_ids":["cin_c1"]},{"name":"notes","instance_ids":["cin_c2"]}]}`)
		refused(t, w.Get(tok, "/v1/streams/items/records?connection_id=cin_c2"), refusal{status: 404, code: "connection_not_found", param: "connection_id"})
		refused(t, w.Get(tok, "/v1/streams/items?connection_id=cin_c2"), refusal{status: 404, code: "connection_not_found", param: "connection_id"})
	})
}

func TestResponseHeaders(t *testing.T) {
	w := ledger(t)
	tok, _ := w.Grant(ledgerGrant)
	const list = "/v1/streams/entries/records"

	t.Run("C-10 Request-Id", func(t *testing.T) {
		generated := regexp.MustCompile(`^req_[0-9a-f]{32}$`)
		if got := w.Get(tok, list).OK().Header.Get("Request-Id"); !generated.MatchString(got) {
			t.Errorf("Request-Id = %q, want a generated one", got)
		}
		sameHeader(t, w.Get(tok, list, "Request-Id: My.own:id_1-2"), "Request-Id", "My.own:id_1-2")
		for _, bad := range []string{"has space", strings.Repeat("a", 129), "ü"} {
			if got := w.Get(tok, list, "Request-Id: "+bad).Header.Get("Request-Id"); !generated.MatchString(got) {
				t.Errorf("invalid Request-Id %q: answered with %q", bad, got)
			}
		}
		a := w.Get(tok, list+"?foo=1", "Request-Id: abc")
		if a.At("error.request_id") != "abc" || a.Header.Get("Request-Id") != "abc" {
			t.Errorf("the error has another request id: %s", a.Body)
		}
	})
	t.Run("C-11 PDPP-Version", func(t *testing.T) {
		for _, path := range []string{list, "/v1/nothing", list + "?foo=1"} {
			sameHeader(t, w.Get(tok, path), "PDPP-Version", "2026-04-06")
		}
		w.Get(tok, list, "PDPP-Version: 2026-04-06").OK()
		refused(t, w.Get("", list, "PDPP-Version: 2025-01-01"), refusal{status: 400, code: "unsupported_version"})
		refused(t, w.Get("", "/v1/nothing", "PDPP-Version: x"), refusal{status: 400, code: "unsupported_version"})
	})
	t.Run("C-12 headers of JSON answers", func(t *testing.T) {
		for _, path := range []string{list, "/v1/schema", "/v1/streams", "/v1/streams/entries", list + "/ent_31", list + "?foo=1"} {
			h := w.Get(tok, path).Header
			got := []string{h.Get("Content-Type"), h.Get("Cache-Control"), strings.Join(h.Values("Vary"), ", "), h.Get("X-Content-Type-Options")}
			want := []string{"application/json; charset=utf-8", "private, no-store", "Origin, Authorization, Prefer", "nosniff"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: headers differ (-want +got):\n%s", path, diff)
			}
		}
		for _, path := range []string{"/", "/.well-known/oauth-protected-resource"} {
			sameHeader(t, w.Get("", path).OK(), "Cache-Control", "public, max-age=60")
		}
	})
	t.Run("C-1 HEAD", func(t *testing.T) {
		for _, path := range []string{list, list + "/ent_31", list + "/none", "/v1/schema?view=compact", "/v1/streams", "/v1/streams/entries", list + "?foo=1", "/v1/nothing", "/", "/.well-known/oauth-protected-resource"} {
			get, head := w.Get(tok, path, "Request-Id: same"), w.Do(http.MethodHead, tok, path, "", "Request-Id: same")
			get.Header.Del("Date")
			head.Header.Del("Date")
			if head.Status != get.Status || len(head.Body) != 0 {
				t.Errorf("HEAD %s: status %d with %d bytes, want %d with none", path, head.Status, len(head.Body), get.Status)
			}
			if diff := cmp.Diff(get.Header, head.Header); diff != "" {
				t.Errorf("HEAD %s: headers differ (-GET +HEAD):\n%s", path, diff)
			}
		}
	})
}

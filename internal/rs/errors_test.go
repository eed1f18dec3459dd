package rs_test

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/httpx"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
	"pdpp/internal/store"
)

// errorCase has a code of C-42 and a request that is answered with it.
type errorCase struct {
	code   pdpp.Code
	status int
	typ    string
	keys   string // members of the envelope besides type, code, message and request_id
	send   func() resttest.Answer
}

// errorWorld is a world in which every error can be provoked.
type errorWorld struct {
	*resttest.World
	token, owner              string
	revoked, expired          string
	invalid, pack, undeclared string
	faulty                    *resttest.World
	broken                    *brokenStore
}

func newErrorWorld(t *testing.T) *errorWorld {
	w := ledger(t)
	x := &errorWorld{World: w, owner: w.OwnerToken(), invalid: mintForInvalidGrant(w)}
	x.token = first(w.Grant(ledgerGrant))
	revoked, id := w.Grant(ledgerGrant)
	w.Revoke(id)
	x.revoked = revoked
	x.expired = first(w.Grant(strings.Replace(ledgerGrant, `{"source"`, `{"expires_at":"2026-05-01T08:00:01Z","source"`, 1)))
	x.pack, _ = mint(w, store.Token{Kind: pdpp.TokenPackage})
	w.Manifest(strings.Replace(testManifest(t, "testdata/cabinet.json"), `"ticks"`, `"tocks"`, 1))
	w.Connect("cabinet", "cin_c1", "")
	x.undeclared = first(w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"tocks"},{"name":"items"}]}`))
	w.ManifestFile("testdata/cabinet.json")
	x.faulty, x.broken = breakable(w)
	return x
}

func (x *errorWorld) get(token, target string, headers ...string) func() resttest.Answer {
	return func() resttest.Answer { return x.Get(token, target, headers...) }
}

func (x *errorWorld) do(method, target, body string, headers ...string) func() resttest.Answer {
	return func() resttest.Answer { return x.Do(method, x.owner, target, body, headers...) }
}

// errorTable returns a row for each code, in the order of C-42.
func errorTable(x *errorWorld) []errorCase {
	const (
		invalid, denied, missing = "invalid_request_error", "permission_error", "not_found_error"
		list                     = "/v1/streams/entries/records"
	)
	tok := x.token
	return []errorCase{
		{"invalid_request", 400, invalid, "param", x.get(tok, list+"?nope=1")},
		{"invalid_argument", 400, invalid, "param", x.get(tok, list+"?connection_id=a&connector_instance_id=b")},
		{"unsupported_version", 400, invalid, "", x.get(tok, list, "PDPP-Version: 2020-01-01")},
		{"invalid_cursor", 400, invalid, "param", x.get(tok, list+"?cursor=pc1.x")},
		{"invalid_sort", 400, invalid, "field param", x.get(tok, list+"?sort=memo")},
		{"invalid_expand", 400, invalid, "param stream", x.get(tok, list+"?expand=nope")},
		{"unknown_field", 400, invalid, "field param", x.get(tok, list+"?fields=nope")},
		{"authentication_error", 401, "authentication_error", "next_step resource_metadata", x.get("", list)},
		{"invalid_token", 401, "authentication_error", "next_step resource_metadata", x.get("nope", list)},
		{"grant_stream_not_allowed", 403, denied, "next_step stream", x.get(tok, "/v1/streams/nope/records")},
		{"field_not_granted", 403, denied, "field needs_broader_grant next_step param", x.get(tok, list+"?fields=note")},
		{"insufficient_scope", 403, denied, "needs_broader_grant next_step param stream", func() resttest.Answer {
			narrow := first(x.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries"}]}`))
			return x.Get(narrow, list+"?expand=receipts")
		}},
		{"grant_revoked", 403, denied, "next_step", x.get(x.revoked, list)},
		{"grant_expired", 403, denied, "", func() resttest.Answer {
			x.Advance(time.Second)
			return x.Get(x.expired, list)
		}},
		{"grant_invalid", 403, denied, "next_step", x.get(x.invalid, list)},
		{"permission_error", 403, denied, "next_step", x.get(x.pack, list)},
		{"not_found", 404, missing, "", x.get(tok, list+"/nope")},
		{"connection_not_found", 404, missing, "param", x.get(tok, list+"?connection_id=nope")},
		{"stream_not_declared", 404, missing, "stream", x.get(x.undeclared, "/v1/streams/tocks/records")},
		{"method_not_allowed", 405, invalid, "", x.do("PATCH", list, "")},
		{"ambiguous_connection", 409, "api_error", "available_connection_count available_connections param retry_with", func() resttest.Answer {
			x.Ingest("cin_b2", "entries", `{"key":"ent_31","data":{"id":"ent_31"}}`)
			return x.Get(tok, list+"/ent_31")
		}},
		{"ambiguous_schema_detail", 409, "api_error", "available_connection_count available_connections param retry_with", x.get(tok, "/v1/schema?stream=entries&detail=full")},
		{"cursor_expired", 410, "gone_error", "param", func() resttest.Answer {
			cursor, _ := x.Get(tok, list+"?limit=1").At("next_cursor").(string)
			x.Advance(25 * time.Hour)
			return x.Get(tok, list+"?cursor="+cursor)
		}},
		{"resource_limit", 413, "request_entity_too_large_error", "", x.do("PUT", statePath, strings.Repeat(" ", 1<<20+1))},
		{"rate_limit_exceeded", 429, "rate_limit_error", "retry_after_s", func() resttest.Answer {
			slow := secondServer(x.World, func(c *server.Config) { c.Rate = 1 })
			slow.Get(tok, list).OK()
			return slow.Get(tok, list)
		}},
		{"api_error", 500, "api_error", "", func() resttest.Answer {
			x.broken.list.Store(true)
			defer x.broken.list.Store(false)
			return x.faulty.Get(tok, list)
		}},
		{"temporarily_unavailable", 503, "api_error", "retry_after_s", func() resttest.Answer {
			x.broken.begin.Store(true)
			defer x.broken.begin.Store(false)
			return x.faulty.Get(tok, list)
		}},
		{"ingest_batch_storage_error", 503, "api_error", "retry_after_s", func() resttest.Answer {
			x.broken.commit.Store(true)
			defer x.broken.commit.Store(false)
			return x.faulty.Do("POST", x.owner, ingestPath, `{"key":"n","data":{"memo":"April rent"}}`, ndjson)
		}},
		{"unsupported_media_type", 415, invalid, "", x.do("POST", ingestPath, "")},
		{"misdirected_request", 421, invalid, "", func() resttest.Answer { return misdirected(x.World) }},
	}
}

// misdirected sends a request with another host name (H-126).
func misdirected(w *resttest.World) resttest.Answer {
	w.T.Helper()
	req := localRequest(w.T.Context(), "GET", w.OwnerToken(), "/v1/streams", nil)
	req.Host = "evil.example"
	return handle(w, req)
}

// otherCodes are the codes of C-42 that other tests cover or that no request causes yet.
var otherCodes = map[string]string{
	"timeout":               "TestTimeout",
	"overloaded":            "package httpx",
	"origin_not_allowed":    "package httpx",
	"not_acceptable":        "package mcphttp",
	"invalid_field_path":    "TestFieldWindow",
	"invalid_window":        "TestFieldWindow",
	"field_not_found":       "TestFieldWindow",
	"query_not_found":       "TestFieldWindow",
	"field_not_text":        "TestFieldWindow",
	"blob_not_found":        "TestBlobAccess",
	"range_not_satisfiable": "TestBlobRangeNotSatisfiable",
}

func TestErrorEnvelopes(t *testing.T) { // C-40 to C-42
	x := newErrorWorld(t)
	for _, row := range errorTable(x) {
		t.Run(string(row.code), func(t *testing.T) {
			a := row.send()
			expectError(t, a, row.status, row.code)
			envelope, _ := a.At("error").(map[string]any)
			var keys []string
			for key := range envelope {
				if !slices.Contains([]string{"type", "code", "message", "request_id"}, key) {
					keys = append(keys, key)
				}
			}
			slices.Sort(keys)
			if diff := cmp.Diff(row.keys, strings.Join(keys, " ")); diff != "" {
				t.Errorf("envelope keys differ (-want +got):\n%s%s", diff, a.Body)
			}
			if top, _ := a.JSON().(map[string]any); len(top) != 1 || envelope["type"] != row.typ || envelope["message"] == "" {
				t.Errorf("want only error, with type and message: %s", a.Body)
			}
			if envelope["request_id"] != a.Header.Get("Request-Id") || a.Header.Get("PDPP-Version") != "2026-04-06" {
				t.Errorf("want the same request id and PDPP-Version: headers %v, body %s", a.Header, a.Body)
			}
			if wait := a.Header.Get("Retry-After"); (wait != "") != (row.status == 429 || row.status == 503) {
				t.Errorf("Retry-After %q with status %d", wait, row.status)
			}
			checkNoDetails(t, a)
		})
	}
	for _, value := range []string{"April rent", "125000", "ent_31"} {
		if log := withoutCauses(x.Log.String()); strings.Contains(log, value) {
			t.Errorf("the log contains %q:\n%s", value, log)
		}
	}
}

var causes = regexp.MustCompile(`cause="[^"]*"`)

// withoutCauses removes causes from a log. They contain the text of errDisk on purpose.
func withoutCauses(log string) string { return causes.ReplaceAllString(log, "") }

// checkNoDetails fails if an error contains values of records, causes or the deprecated name
// of a connection (C-7).
func checkNoDetails(t *testing.T, a resttest.Answer) {
	t.Helper()
	forbidden := []string{"April rent", "March rent", "125000", "2026-04-30", "disk", "sqlite", "SELECT", ".go:", "goroutine"}
	if a.Code() != string(pdpp.CodeInvalidArgument) {
		forbidden = append(forbidden, "connector_instance_id")
	}
	for _, text := range forbidden {
		if strings.Contains(string(a.Body), text) || strings.Contains(a.Header.Get("WWW-Authenticate"), text) {
			t.Errorf("the answer contains %q: %s", text, a.Body)
		}
	}
}

// TestErrorTableIsComplete: every code of C-42 is in errorTable or in otherCodes.
func TestErrorTableIsComplete(t *testing.T) {
	spec, err := os.ReadFile("../../docs/spec/rs-contract.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(spec), "- **C-42** Codes.")
	table, _, _ = strings.Cut(table, "- **C-43**")
	rows := map[string]bool{}
	for _, row := range errorTable(newErrorWorld(t)) {
		rows[string(row.code)] = true
	}
	n := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.Contains(cells[2], "`") {
			continue
		}
		for _, code := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cells[2], -1) {
			n++
			if !rows[code[1]] && otherCodes[code[1]] == "" {
				t.Errorf("no row for %s", code[1])
			}
		}
	}
	if n < 30 {
		t.Errorf("found %d codes in the table of C-42, want at least 30", n)
	}
}

func TestNeedsBroaderGrant(t *testing.T) { // C-44
	w := ledger(t)
	addCabinet(w)
	tok := first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["id"],"instance_ids":["cin_a1"]}]}`))
	for target, want := range map[string]any{
		"/v1/streams/receipts/records":                        true, // the connector of the grant has it
		"/v1/schema?stream=receipts":                          true,
		"/v1/streams/items/records":                           nil, // another connector of the owner has it
		"/v1/streams/nope/records":                            nil,
		"/v1/streams/entries/records?fields=memo":             true,
		"/v1/streams/entries/records?filter[memo]=x":          true,
		"/v1/streams/entries/records?sort=posted_at":          true,
		"/v1/streams/entries/records?expand=receipts":         true,
		"/v1/streams/entries/records?fields=nope":             nil,
		"/v1/streams/entries/records/ent_29":                  nil,
		"/v1/streams/entries/records?connection_id=cin_b2":    nil,
		"/v1/streams/entries/records?connector_id=cabinet":    nil,
		"/v1/streams/entries/records/ent_31?fields=id,note,x": nil,
	} {
		a := w.Get(tok, target)
		if got := a.At("error.needs_broader_grant"); got != want || a.Status < 400 {
			t.Errorf("%s: status %d, needs_broader_grant %v, want %v", target, a.Status, got, want)
		}
	}
}

// stuckStore is a store whose reads block until their context ends.
type stuckStore struct{ store.Store }

func (stuckStore) View(ctx context.Context, _ func(store.View) error) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestTimeout(t *testing.T) { // C-35: 30 s for a read
	synctest.Test(t, func(t *testing.T) {
		s, err := server.New(server.Config{Store: stuckStore{}, InstanceKey: []byte("k"), Edge: &httpx.Edge{}, Log: slog.New(slog.DiscardHandler), Clock: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		a := handle(&resttest.World{T: t, Server: s}, localRequest(t.Context(), "GET", "x", "/v1/streams", nil))
		expectError(t, a, http.StatusServiceUnavailable, pdpp.CodeTimeout)
		if took := time.Since(start); took != 30*time.Second || a.Header.Get("Retry-After") == "" {
			t.Errorf("answered after %v, want 30s and Retry-After: %v", took, a.Header)
		}
	})
}

// TestStoreFailureDuringAuthentication: if the token cannot be looked up, the answer is 503,
// not 401 (C-17).
func TestStoreFailureDuringAuthentication(t *testing.T) {
	w := ledger(t)
	tok := first(w.Grant(ledgerGrant))
	faulty, b := breakable(w)
	b.begin.Store(true)
	for _, token := range []string{tok, "pdpp_at_unknown", w.OwnerToken()} {
		for _, r := range []string{"GET /v1/streams", "GET " + statePath, "DELETE /v1/streams/entries/records?connection_id=cin_a1"} {
			method, target, _ := strings.Cut(r, " ")
			a := faulty.Do(method, token, target, "")
			expectError(t, a, 503, pdpp.CodeUnavailable)
			if a.Header.Get("Retry-After") == "" || a.Header.Get("WWW-Authenticate") != "" {
				t.Errorf("%s: want Retry-After and no challenge: %v", r, a.Header)
			}
		}
	}
	expectError(t, faulty.Get("", "/v1/streams"), 401, pdpp.CodeAuthentication)
}

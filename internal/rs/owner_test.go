package rs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
	"pdpp/internal/store"
)

const (
	ndjson     = "Content-Type: application/x-ndjson"
	ingestPath = "/v1/ingest/entries?connection_id=cin_a1"
	allEntries = "/v1/streams/entries/records?limit=100"
	statePath  = "/v1/state/ledgerly?connection_id=cin_a1"
)

// post ingests lines into the entries of cin_a1.
func post(w *resttest.World, tok string, lines ...string) resttest.Answer {
	w.T.Helper()
	return w.Do("POST", tok, ingestPath, strings.Join(lines, "\n"), ndjson)
}

// deleteRecords sends a DELETE and fails unless the status is 204.
func deleteRecords(w *resttest.World, token, target string) {
	w.T.Helper()
	if a := w.Do("DELETE", token, target, ""); a.Status != 204 {
		w.T.Fatalf("%s: status %d, want 204: %s", a.Request, a.Status, a.Body)
	}
}

// expectUnchanged fails unless the entries are the three of the ledger.
func expectUnchanged(t *testing.T, w *resttest.World, tok string) {
	t.Helper()
	sameIDs(t, w.Get(tok, allEntries), "ent_31", "ent_29", "ent_30")
}

func TestIngestRequests(t *testing.T) { // I-1, I-2, I-3
	w := ledger(t)
	addCabinet(w)
	owner := w.OwnerToken()
	const line = `{"key":"new","data":{"id":"new"}}`
	for _, tc := range []struct {
		name, target, contentType string
		status                    int
		code                      pdpp.Code
		param                     any
	}{
		{"no content type", ingestPath, "", 415, pdpp.CodeUnsupportedMediaType, nil},
		{"JSON", ingestPath, "application/json", 415, pdpp.CodeUnsupportedMediaType, nil},
		{"malformed type", ingestPath, "application/x-ndjson/x", 415, pdpp.CodeUnsupportedMediaType, nil},
		{"no connection", "/v1/ingest/entries", "application/x-ndjson", 400, pdpp.CodeInvalidRequest, "connection_id"},
		{"two connections", ingestPath + "&connection_id=cin_b2", "application/x-ndjson", 400, pdpp.CodeInvalidRequest, "connection_id"},
		{"conflicting alias", ingestPath + "&connector_instance_id=cin_b2", "application/x-ndjson", 400, pdpp.CodeInvalidArgument, "connector_instance_id"},
		{"unknown connection", "/v1/ingest/entries?connection_id=cin_zz", "application/x-ndjson", 404, pdpp.CodeConnectionNotFound, "connection_id"},
		{"undeclared stream", "/v1/ingest/nope?connection_id=cin_a1", "application/x-ndjson", 404, pdpp.CodeNotFound, nil},
		{"stream of another connector", "/v1/ingest/entries?connection_id=cin_c1", "application/x-ndjson", 404, pdpp.CodeConnectionNotFound, "connection_id"},
		{"unknown connector", ingestPath + "&connector_id=nope", "application/x-ndjson", 404, pdpp.CodeNotFound, "connector_id"},
		{"parameter of record lists", ingestPath + "&limit=1", "application/x-ndjson", 400, pdpp.CodeInvalidRequest, "limit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := w.Do("POST", owner, tc.target, line, "Content-Type: "+tc.contentType)
			expectError(t, a, tc.status, tc.code)
			sameValue(t, a, "error.param", tc.param)
			expectUnchanged(t, w, owner)
		})
	}
	for _, typ := range []string{"application/x-ndjson; charset=utf-8", "Application/X-NDJSON"} {
		w.Do("POST", owner, "/v1/ingest/entries?connector_instance_id=cin_a1&connector_id=ledgerly", line, "Content-Type: "+typ).OK()
	}
}

// TestIngestLimits: a batch above a limit is refused and nothing of it is stored (I-3).
func TestIngestLimits(t *testing.T) {
	w := ledger(t)
	owner := w.OwnerToken()
	small := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "{\"key\":\"n%d\",\"op\":\"delete\"}\n", i)
		}
		return b.String()
	}
	const good = `{"key":"new","data":{"id":"new","posted_at":"2026-01-01"}}` + "\n"
	long := func(n int) string { return `{"key":"long","data":{"note":"` + strings.Repeat("x", n) + `"}}` + "\n" }
	for name, body := range map[string]string{
		"10,001 lines":          good + small(10_000),
		"a line above 16 MiB":   good + long(16<<20),
		"50 MiB of records":     good + strings.Repeat(long(1<<20), 51),
		"50 MiB of empty lines": good + strings.Repeat("\n", 50<<20),
	} {
		t.Run(name, func(t *testing.T) {
			a := w.Do("POST", owner, ingestPath, body, ndjson)
			expectError(t, a, 413, pdpp.CodeResourceLimit)
			sameValue(t, a, "error.type", "request_entity_too_large_error")
			expectUnchanged(t, w, owner)
		})
	}
	a := w.Do("POST", owner, ingestPath, small(9_999)+"\n\n"+good, ndjson).OK()
	if got := string(a.Body); got != `{"stream":"entries","records_attempted":10000,"records_accepted":10000,"records_rejected":0,"rejections":[]}`+"\n" {
		t.Errorf("want 10,000 lines accepted: %s", got)
	}
}

func TestIngestLines(t *testing.T) { // I-4, I-5, I-6
	w := ledger(t)
	owner := w.OwnerToken()
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	a := post(w, owner,
		`{"key":"ok_1","data":{"id":"ok_1","memo":"One","posted_at":"2026-01-01"},"emitted_at":"2026-04-01T00:00:00Z"}`,
		``,
		`not JSON`,
		"{\"key\":\"u\xff\",\"data\":{}}",
		`{"key":"a\u0000b","data":{}}`,
		`{"key":"dup","data":{"memo":1,"memo":2}}`,
		`{"key":"deep","data":{"memo":`+deep+`}}`,
		`{"key":"nodata"}`,
		`{"key":"list","data":[]}`,
		`{"key":"other","data":{"id":"different"}}`,
		`{"data":{"id":"nokey"}}`,
		`{"key":"..","data":{}}`,
		`{"key":"`+strings.Repeat("k", 513)+`","data":{}}`,
		`{"key":"op","op":"replace","data":{}}`,
		`{"key":"when","data":{},"emitted_at":"soon"}`,
		`{"key":["ok_2"],"data":{"memo":"Two"},"unknown":true}`,
		`{"key":3,"data":{"id":"3"}}`).OK()
	want := `{"stream":"entries","records_attempted":16,"records_accepted":3,"records_rejected":13,"rejections":[` +
		`{"input_index":1,"code":"malformed_ndjson"},{"input_index":2,"code":"invalid_utf8"},{"input_index":3,"code":"invalid_record_identity"},` +
		`{"input_index":4,"code":"malformed_ndjson"},{"input_index":5,"code":"malformed_ndjson"},{"input_index":6,"code":"invalid_record"},` +
		`{"input_index":7,"code":"invalid_record"},{"input_index":8,"code":"invalid_record_identity"},{"input_index":9,"code":"invalid_record_identity"},` +
		`{"input_index":10,"code":"invalid_record_identity"},{"input_index":11,"code":"invalid_record_identity"},{"input_index":12,"code":"invalid_record"},` +
		`{"input_index":13,"code":"invalid_record"}]}` + "\n"
	if diff := cmp.Diff(want, string(a.Body)); diff != "" {
		t.Errorf("answer differs (-want +got):\n%s", diff)
	}
	for _, id := range []string{"ok_1", "ok_2", "3"} {
		w.Get(owner, "/v1/streams/entries/records/"+id).OK()
	}
	expectError(t, w.Get(owner, "/v1/streams/entries/records/dup"), 404, pdpp.CodeNotFound)
	sameValue(t, w.Get(owner, "/v1/streams/entries/records/ok_1"), "emitted_at", "2026-04-01T00:00:00.000Z")
	for _, body := range []string{"", "\n\n"} {
		if got := post(w, owner, body).OK().At("records_attempted"); fmt.Sprint(got) != "0" {
			t.Errorf("empty body: records_attempted = %v, want 0", got)
		}
	}
}

func TestIngestOfUnchangedRecords(t *testing.T) { // I-8
	w := ledger(t)
	owner := w.OwnerToken()
	before := w.Get(owner, "/v1/streams/entries/records/ent_31", fixedID).OK()
	streams := w.Get(owner, "/v1/streams", fixedID).OK()
	w.Advance(time.Hour)
	a := post(w, owner,
		`{"key":"ent_31", "data": { "id" : "ent_31", "memo":"April rent","amount_minor":125000,"posted_at":"2026-04-30T09:00:00Z"}, "emitted_at":"2027-01-01T00:00:00Z"}`,
		`{"key":"never_stored","op":"delete"}`).OK()
	if got := fmt.Sprint(a.At("records_accepted")); got != "2" {
		t.Errorf("records_accepted = %s, want 2", got)
	}
	sameAnswer(t, "record", w.Get(owner, "/v1/streams/entries/records/ent_31", fixedID), before)
	sameAnswer(t, "streams", w.Get(owner, "/v1/streams", fixedID), streams)

	post(w, owner, `{"key":"ent_31","data":{"id":"ent_31","memo":"Changed"}}`).OK()
	got := w.Get(owner, "/v1/streams/entries/records/ent_31").OK()
	if got.At("emitted_at") != "2026-05-01T09:00:00.000Z" || got.At("data.memo") != "Changed" || got.At("data.amount_minor") != nil {
		t.Errorf("want the changed record with a new emitted_at: %s", got.Body)
	}
}

func TestDeleteRecords(t *testing.T) { // I-9
	w := ledger(t)
	owner := w.OwnerToken()
	post(w, owner, `{"key":"a/b c","data":{"id":"a/b c"}}`).OK()
	remove := func(target string, want int) {
		t.Helper()
		a := w.Do("DELETE", owner, target, "")
		if a.Status != want || want == 204 && (len(a.Body) > 0 || a.Header.Get("Content-Type") != "") {
			t.Errorf("DELETE %s: status %d, body %q, want %d", target, a.Status, a.Body, want)
		}
	}
	one := "/v1/streams/entries/records/"
	remove(one+"a%2Fb%20c?connection_id=cin_a1", 204)
	remove(one+"ent_31?connection_id=cin_b2", 204) // not on this connection
	remove(one+"never_stored?connection_id=cin_a1", 204)
	expectUnchanged(t, w, owner)
	remove(one+"ent_31", 400)
	remove(one+"ent_31?connection_id=cin_zz", 404)
	remove("/v1/streams/nope/records/ent_31?connection_id=cin_a1", 404)
	remove("/v1/streams/entries/records", 400)
	expectUnchanged(t, w, owner)

	remove(one+"ent_31?connection_id=cin_a1", 204)
	expectError(t, w.Get(owner, one+"ent_31"), 404, pdpp.CodeNotFound)
	remove(one+"ent_31?connection_id=cin_a1", 204)
	remove("/v1/streams/entries/records?connection_id=cin_a1", 204)
	remove("/v1/streams/entries/records?connection_id=cin_a1", 204)
	if ids := w.Get(owner, allEntries).IDs(); len(ids) != 1 || ids[0] != "ent_29" {
		t.Errorf("records after deleting all of one connection: %v, want ent_29", ids)
	}
	w.Get(owner, "/v1/streams/receipts/records/rc_9").OK()
	counts := w.Get(owner, "/v1/streams?connection_id=cin_a1").OK()
	if fmt.Sprint(counts.At("data.0.record_count")) != "0" || counts.At("data.0.last_updated") != nil {
		t.Errorf("want record_count 0 and no last_updated: %s", counts.Body)
	}
}

func TestCollectionState(t *testing.T) { // I-10
	w := ledger(t)
	addCabinet(w)
	owner := w.OwnerToken()
	put := func(body string) resttest.Answer { return w.Do("PUT", owner, statePath, body) }
	same := func(a resttest.Answer, state string) {
		t.Helper()
		want := `{"object":"stream_state","connector_key":"ledgerly","connection_id":"cin_a1","state":` + state + "}\n"
		if diff := cmp.Diff(want, string(a.OK().Body)); diff != "" {
			t.Errorf("answer differs (-want +got):\n%s", diff)
		}
	}
	same(w.Get(owner, statePath), `{},"updated_at":null`)
	first := `{"entries":{"after":"2026-05-01","n":1.50}},"updated_at":"2026-05-01T08:00:00.000Z"`
	same(put(`{"state": {"entries": {"after": "2026-05-01", "n": 1.50}}}`), first)
	same(w.Get(owner, statePath), first)
	w.Advance(time.Minute)
	same(put(`{"state":{"receipts":null}}`), `{"entries":{"after":"2026-05-01","n":1.50},"receipts":null},"updated_at":"2026-05-01T08:01:00.000Z"`)
	latest := `{"entries":"b","receipts":null},"updated_at":"2026-05-01T08:01:00.000Z"`
	same(put(`{"state":{"entries":"b"}}`), latest)

	for _, tc := range []struct {
		name, body string
		status     int
		code       pdpp.Code
	}{
		{"undeclared stream", `{"state":{"entries":"c","nope":1}}`, 404, pdpp.CodeNotFound},
		{"no state", `{}`, 400, pdpp.CodeInvalidRequest},
		{"state is a list", `{"state":[]}`, 400, pdpp.CodeInvalidRequest},
		{"body is not an object", `"state"`, 400, pdpp.CodeInvalidRequest},
		{"body is not JSON", `{"state":`, 400, pdpp.CodeInvalidRequest},
		{"empty body", ``, 400, pdpp.CodeInvalidRequest},
		{"duplicate key", `{"state":{"entries":1,"entries":2}}`, 400, pdpp.CodeInvalidRequest},
		{"invalid UTF-8", "{\"state\":{\"entries\":\"\xff\"}}", 400, pdpp.CodeInvalidRequest},
		{"too large", `{"state":{"entries":"` + strings.Repeat("x", 1<<20) + `"}}`, 413, pdpp.CodeResourceLimit},
	} {
		t.Run(tc.name, func(t *testing.T) {
			expectError(t, put(tc.body), tc.status, tc.code)
			same(w.Get(owner, statePath), latest)
		})
	}
	big := `{"state":{"entries":"` + strings.Repeat("x", 1<<20-len(`{"state":{"entries":""}}`)) + `"}}`
	put(big).OK()
	for target, want := range map[string]pdpp.Code{
		"/v1/state/ledgerly":                        pdpp.CodeAmbiguousConnection,
		"/v1/state/ledgerly?connection_id=cin_zz":   pdpp.CodeConnectionNotFound,
		"/v1/state/ledgerly?connection_id=cin_c1":   pdpp.CodeConnectionNotFound,
		"/v1/state/cabinet?connection_id=cin_a1":    pdpp.CodeConnectionNotFound,
		"/v1/state/nope?connection_id=cin_a1":       pdpp.CodeNotFound,
		statePath + "&stream=entries":               pdpp.CodeInvalidRequest,
		"/v1/state/ledgerly/x?connection_id=cin_a1": pdpp.CodeNotFound,
	} {
		if got := w.Get(owner, target).Code(); got != string(want) {
			t.Errorf("GET %s: %s, want %s", target, got, want)
		}
	}
}

// brokenStore is a store whose operations fail on demand.
type brokenStore struct {
	store.Store
	commit atomic.Bool // updates fail after all their work
	begin  atomic.Bool // views fail to begin
	list   atomic.Bool // reads of records fail
}

var errDisk = errors.New("disk error near April rent")

func (b *brokenStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	return b.Store.Update(ctx, b.failing(fn))
}

func (b *brokenStore) Bulk(ctx context.Context, fn func(store.Tx) error) error {
	return b.Store.Bulk(ctx, b.failing(fn))
}

func (b *brokenStore) failing(fn func(store.Tx) error) func(store.Tx) error {
	return func(tx store.Tx) error {
		if err := fn(tx); err != nil || !b.commit.Load() {
			return err
		}
		return errDisk
	}
}

func (b *brokenStore) View(ctx context.Context, fn func(store.View) error) error {
	if b.begin.Load() {
		return errDisk
	}
	return b.Store.View(ctx, func(v store.View) error {
		if b.list.Load() {
			v = brokenView{v}
		}
		return fn(v)
	})
}

type brokenView struct{ store.View }

func (brokenView) Catalog(pdpp.SubjectID) (*pdpp.Catalog, error) { return nil, errDisk }

// breakable serves a world from a brokenStore.
func breakable(w *resttest.World) (*resttest.World, *brokenStore) {
	b := &brokenStore{Store: w.Store}
	return secondServer(w, func(c *server.Config) { c.Store = b }), b
}

func TestIngestStorageFailure(t *testing.T) { // I-7
	w := ledger(t)
	owner := w.OwnerToken()
	faulty, b := breakable(w)
	lines := []string{`{"key":"n1","data":{"id":"n1","memo":"one"}}`, `{"key":"ent_30","op":"delete"}`, `{"key":"ent_31","data":{"id":"ent_31"}}`}
	b.commit.Store(true)
	a := post(faulty, owner, lines...)
	expectError(t, a, 503, pdpp.CodeIngestStorage)
	if a.Header.Get("Retry-After") == "" || a.At("error.type") != "api_error" || strings.Contains(string(a.Body), "disk") {
		t.Errorf("Retry-After %q, want one, and no cause in the error: %s", a.Header.Get("Retry-After"), a.Body)
	}
	expectUnchanged(t, w, owner)
	if memo := w.Get(owner, "/v1/streams/entries/records/ent_31").At("data.memo"); memo != "April rent" {
		t.Errorf("memo = %v after a failed call, want April rent", memo)
	}
	for _, r := range []string{"DELETE /v1/streams/entries/records?connection_id=cin_a1", "DELETE /v1/streams/entries/records/ent_31?connection_id=cin_a1", "PUT " + statePath} {
		method, target, _ := strings.Cut(r, " ")
		if a := faulty.Do(method, owner, target, `{"state":{"entries":1}}`); a.Status < 500 || strings.Contains(string(a.Body), "disk") {
			t.Errorf("%s with a failing store: status %d, want 500 or more: %s", r, a.Status, a.Body)
		}
	}
	expectUnchanged(t, w, owner)
	b.commit.Store(false)
	post(faulty, owner, lines...).OK() // a repeated call is harmless
	post(faulty, owner, lines...).OK()
	if ids := w.Get(owner, allEntries).IDs(); len(ids) != 3 {
		t.Errorf("records after the retry: %v, want 3", ids)
	}
}

// TestContentLengthLimit: a request is refused by its Content-Length, before its body is read
// (I-3).
func TestContentLengthLimit(t *testing.T) {
	w := ledger(t)
	req := localRequest(t.Context(), "POST", w.OwnerToken(), ingestPath, unreadableBody{})
	req.ContentLength = 50<<20 + 1
	req.Header.Set("Content-Type", "application/x-ndjson")
	refused(t, handle(w, req), refusal{status: 413, code: "resource_limit"})
}

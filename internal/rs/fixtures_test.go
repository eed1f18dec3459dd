package rs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pdpp/internal/rs/resttest"
)

// maxWait limits waits, so that a hang becomes a failure.
const maxWait = 5 * time.Minute

// testManifest returns the content of a file.
func testManifest(t testing.TB, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// ledger returns the world of most tests.
func ledger(t testing.TB) *resttest.World {
	t.Helper()
	return resttest.Ledger(t)
}

// ledgerGrant covers entries without amount_minor, note and scan, and receipts.
const ledgerGrant = `{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["id","memo","posted_at"]},{"name":"receipts"}]}`

// cabinetGrant covers all streams of the cabinet.
const cabinetGrant = `{"source":{"connector_key":"cabinet"},"streams":[{"name":"*"}]}`

// filledCabinet returns a cabinet with records: ties and null sort values over both
// connections, ids that need escaping, compound and integer keys, children on
// both connections, and blob references.
func filledCabinet(t testing.TB) *resttest.World {
	t.Helper()
	w := resttest.Cabinet(t)
	w.Ingest("cin_c1", "items",
		item("tie", `"title":"Left tie","price":10.50,"qty":3,"done":true,"day":"2026-01-10","at":"2026-01-10T12:00:00Z"`),
		item("left", `"title":"Left only","price":1e2,"qty":12,"done":false,"day":"2026-01-11","at":"2026-01-11T12:00:00+02:00","undeclared":"kept"`),
		item("null", `"title":null,"price":null,"at":null`),
		item("bad", `"title":"Bad time","at":"soon"`),
		item("a/b c:d?e#f%", `"title":"Awkward id","at":"2026-01-01T00:00:00Z"`),
		item("blob", `"at":"2025-12-01T00:00:00Z","scan":{"fetch_url":"https://elsewhere.test/x","blob_id":"blob_1","mime_type":"image/png"},"pages":[{"blob_id":"blob 2"},{"blob_id":"blob_3","fetch_url":"x"},{"none":1}]`))
	w.Ingest("cin_c2", "items",
		item("tie", `"title":"Right tie","at":"2026-01-10T12:00:00.000Z"`),
		item("right", `"title":"Right only","at":"2026-01-12T00:00:00Z"`),
		item("absent", `"title":"No time"`))
	w.Ingest("cin_c1", "notes",
		note("n1", "tie", "first", "2026-02-01T00:00:00Z"), note("n2", "tie", "second", "2026-02-02T00:00:00Z"),
		note("n3", "tie", "third", "2026-02-03T00:00:00Z"), note("n4", "left", "other", "2026-02-04T00:00:00Z"))
	w.Ingest("cin_c2", "notes", note("n9", "tie", "of the right", "2026-02-05T00:00:00Z"))
	w.Ingest("cin_c1", "covers",
		`{"key":"cv1","data":{"id":"cv1","item_id":"tie","color":"red"}}`,
		`{"key":"cv2","data":{"id":"cv2","item_id":"tie","color":"blue"}}`)
	w.Ingest("cin_c1", "balances",
		`{"key":["acc_1","2026-04"],"data":{"account":"acc_1","month":"2026-04","total":7}}`,
		`{"key":["acc \"2\"","2026-05"],"data":{"account":"acc \"2\"","month":"2026-05","total":8}}`)
	w.Ingest("cin_c1", "ticks",
		`{"key":9,"data":{"n":9,"seq":2,"word":"nine"}}`, `{"key":10,"data":{"n":10,"seq":10,"word":"ten"}}`,
		`{"key":-1,"data":{"n":-1,"seq":null,"word":"minus one"}}`)
	w.Ingest("cin_c1", "marks",
		`{"key":"m1","data":{"id":"m1","tick":10}}`, `{"key":"m2","data":{"id":"m2","tick":10}}`, `{"key":"m3","data":{"id":"m3","tick":9}}`)
	return w
}

// item returns an ingest line for items. members are JSON members after the id.
func item(id, members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"key":%q,"data":{"id":%q%s}}`, id, id, members)
}

// note returns an ingest line for notes.
func note(id, parent, text, at string) string {
	return fmt.Sprintf(`{"key":%q,"data":{"id":%q,"item_id":%q,"text":%q,"written_at":%q}}`, id, id, parent, text, at)
}

// longText returns n characters without repetition. Stores keep values above 16 KiB in pieces.
func longText(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %d of a long letter; ", i)
	}
	return b.String()[:n]
}

// twoSources returns an owner with two connectors that have a stream named events.
// The order of connectors (alpha, beta) and of connections (cin_b1 of beta,
// cin_z9 of alpha) differ. No two records have the same emitted_at.
func twoSources(t testing.TB) *resttest.World {
	t.Helper()
	w := resttest.New(t)
	w.ManifestFile("testdata/alpha.json")
	w.ManifestFile("testdata/beta.json")
	w.Connect("alpha", "cin_z9", "Work")
	w.Connect("beta", "cin_b1", "")
	ingest := func(connection, line string) {
		w.Advance(time.Minute)
		w.Ingest(connection, "events", line)
	}
	ingest("cin_z9", `{"key":"ev_1","data":{"id":"ev_1","title":"Standup","starts_at":"2026-04-03T09:00:00Z","room":"Blue"}}`)
	ingest("cin_b1", `{"key":"ev_1","data":{"id":"ev_1","title":"Run","happened_at":"2026-04-01T06:00:00Z","score":4}}`)
	ingest("cin_z9", `{"key":"ev_2","data":{"id":"ev_2","title":"Review","starts_at":"2026-04-02T09:00:00Z","room":"Red"}}`)
	ingest("cin_b1", `{"key":"ev_3","data":{"id":"ev_3","title":"Swim","happened_at":"2026-04-04T06:00:00Z","score":9}}`)
	w.Ingest("cin_z9", "guests", `{"key":"g1","data":{"id":"g1","event_id":"ev_1"}}`)
	return w
}

// addCabinet adds the cabinet with the connection cin_c1 to a world.
func addCabinet(w *resttest.World) {
	w.T.Helper()
	w.ManifestFile("testdata/cabinet.json")
	w.Connect("cabinet", "cin_c1", "")
}

// neighbourOf adds an owner with an empty ledger, whose connection has the id of another
// owner's connection.
func neighbourOf(w *resttest.World) *resttest.World {
	w.T.Helper()
	neighbour := w.As(w.Owner("neighbour"))
	neighbour.ManifestFile("../manifest/testdata/ledgerly.json")
	neighbour.Connect("ledgerly", "cin_a1", "Their account")
	return neighbour
}

// localRequest returns a request of a client on the same machine, for handle.
func localRequest(ctx context.Context, method, token, target string, body io.Reader) *http.Request {
	req := httptest.NewRequestWithContext(ctx, method, "http://localhost"+target, body)
	req.RemoteAddr = "127.0.0.1:1"
	req.Header.Set("Authorization", "Bearer "+token)
	return req
}

// handle calls the server without a network.
func handle(w *resttest.World, req *http.Request) resttest.Answer {
	w.T.Helper()
	rec := httptest.NewRecorder()
	w.Server.Handler().ServeHTTP(rec, req)
	return resttest.Answer{T: w.T, Request: req.Method + " " + req.URL.RequestURI(), Status: rec.Code, Header: rec.Header(), Body: rec.Body.Bytes()}
}

// refusal has the members of an error that tests compare.
type refusal struct {
	status                     int
	code, param, field, stream string
}

// refused compares an error answer with a refusal.
func refused(t testing.TB, a resttest.Answer, want refusal) {
	t.Helper()
	text := func(path string) string {
		s, _ := a.At(path).(string)
		return s
	}
	got := refusal{a.Status, text("error.code"), text("error.param"), text("error.field"), text("error.stream")}
	if got != want {
		t.Errorf("%s: refused with %+v, want %+v\n%s", a.Request, got, want, a.Body)
	}
}

// decoded decodes JSON. Numbers are json.Number.
func decoded(t testing.TB, text string) any {
	t.Helper()
	return resttest.Answer{T: t, Body: []byte(text)}.JSON()
}

// sameJSON compares a decoded value with JSON text.
func sameJSON(t testing.TB, got any, want string) {
	t.Helper()
	if diff := cmp.Diff(decoded(t, want), got); diff != "" {
		t.Errorf("answer differs (-want +got):\n%s", diff)
	}
}

// sameValue compares the value at a path of the body.
func sameValue(t testing.TB, a resttest.Answer, path string, want any) {
	t.Helper()
	if got := a.At(path); got != want {
		t.Errorf("%s: %s = %v, want %v", a.Request, path, got, want)
	}
}

// sameHeader compares a header.
func sameHeader(t testing.TB, a resttest.Answer, name, want string) {
	t.Helper()
	if got := a.Header.Get(name); got != want {
		t.Errorf("%s: %s = %q, want %q", a.Request, name, got, want)
	}
}

// sameRaw compares the bytes of a member of the body.
func sameRaw(t testing.TB, a resttest.Answer, want string, path ...string) {
	t.Helper()
	if diff := cmp.Diff(want, rawMember(t, a, path...)); diff != "" {
		t.Errorf("%s: %s differs (-want +got):\n%s", a.Request, strings.Join(path, "."), diff)
	}
}

// sameIDs compares the record ids of a list.
func sameIDs(t testing.TB, a resttest.Answer, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, a.IDs(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: ids differ (-want +got):\n%s", a.Request, diff)
	}
}

// places returns the records of a list as "id@connection".
func places(t testing.TB, a resttest.Answer) []string {
	t.Helper()
	var out []string
	for i := range a.IDs() {
		out = append(out, fmt.Sprintf("%v@%v", a.At(fmt.Sprintf("data.%d.id", i)), a.At(fmt.Sprintf("data.%d.connection_id", i))))
	}
	return out
}

// samePlaces compares the records of a list, written as places does.
func samePlaces(t testing.TB, a resttest.Answer, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, places(t, a)); diff != "" {
		t.Errorf("%s: records differ (-want +got):\n%s", a.Request, diff)
	}
}

// rawMember returns the bytes of a member as the server sent them.
func rawMember(t testing.TB, a resttest.Answer, path ...string) string {
	t.Helper()
	raw := json.RawMessage(a.OK().Body)
	for _, key := range path {
		if i, err := strconv.Atoi(key); err == nil {
			var list []json.RawMessage
			if err := json.Unmarshal(raw, &list); err != nil || i >= len(list) {
				t.Fatalf("no element %d in %.200s", i, raw)
			}
			raw = list[i]
			continue
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			t.Fatalf("no member %q in %.200s", key, raw)
		}
		raw = object[key]
	}
	return string(raw)
}

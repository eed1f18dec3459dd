package rs_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/sortkey"
)

// twoLedgers returns the ledgers of two owners of a world. The other owner has a connection
// with the same id and one more.
func twoLedgers(t *testing.T) (mine, theirs *resttest.World) {
	t.Helper()
	mine = ledger(t)
	theirs = neighbourOf(mine)
	theirs.Connect("ledgerly", "cin_theirs", "Their other account")
	theirs.Ingest("cin_a1", "entries", `{"key":"ent_their","data":{"id":"ent_their","memo":"Their rent","posted_at":"2026-04-30T09:00:00Z"}}`)
	theirs.Ingest("cin_theirs", "receipts", `{"key":"rc_their","data":{"id":"rc_their","entry_id":"ent_31"}}`)
	mine.Ingest("cin_a1", "receipts", `{"key":"rc_8","data":{"id":"rc_8","entry_id":"ent_31"}}`)
	mine.Ingest("cin_a1", "entries",
		`{"key":"ent_gone","data":{"id":"ent_gone","memo":"Deposit","posted_at":"2026-04-29T09:00:00Z"}}`, `{"key":"ent_gone","op":"delete"}`,
		`{"key":"ent_undated","data":{"id":"ent_undated","memo":"No time"}}`)
	return mine, theirs
}

// TestHiddenRecordsLookMissing: the answers for a hidden record and for one that never existed
// are the same bytes, for every reason and on every route of a record (REC-13, C-21).
func TestHiddenRecordsLookMissing(t *testing.T) {
	w, _ := twoLedgers(t)
	tok := first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[
		{"name":"entries","fields":["id","memo"],"instance_ids":["cin_a1"],"time_range":{"since":"2026-04-01T00:00:00Z","until":"2026-05-01T00:00:00Z"}},
		{"name":"receipts","instance_ids":["cin_a1"],"resources":["rc_9"]}]}`))
	w.Get(tok, "/v1/streams/entries/records/ent_31").OK()
	w.Get(tok, "/v1/streams/receipts/records/rc_9").OK()
	for name, tc := range map[string]struct{ stream, id string }{
		"outside the time range":          {"entries", "ent_30"},
		"without a time":                  {"entries", "ent_undated"},
		"on another connection":           {"entries", "ent_29"},
		"of another owner":                {"entries", "ent_their"},
		"deleted":                         {"entries", "ent_gone"},
		"not among the granted resources": {"receipts", "rc_8"},
		"receipt of another owner":        {"receipts", "rc_their"},
		"of another stream":               {"receipts", "ent_31"},
	} {
		for _, suffix := range []string{"", "?fields=id", "?connection_id=cin_a1", "?connector_id=ledgerly"} {
			for _, method := range []string{"GET", "HEAD"} {
				path := "/v1/streams/" + tc.stream + "/records/"
				got := w.Do(method, tok, path+tc.id+suffix, "", fixedID)
				want := w.Do(method, tok, path+"never_stored"+suffix, "", fixedID)
				if want.Status != 404 {
					t.Fatalf("missing record: status %d, want 404: %s", want.Status, want.Body)
				}
				sameAnswer(t, name+" "+method+suffix, got, want)
			}
		}
	}
}

// TestForeignConnectionsLookUnknown: the answers for a connection of another owner, one that is
// not granted and one that does not exist are the same bytes on every route (C-21, C-23).
func TestForeignConnectionsLookUnknown(t *testing.T) {
	w, _ := twoLedgers(t)
	tok := first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","instance_ids":["cin_a1"]},{"name":"receipts","instance_ids":["cin_a1"]}]}`))
	owner := w.OwnerToken()
	for _, tc := range []struct {
		token   string
		foreign []string
		request []string
	}{
		{tok, []string{"cin_b2", "cin_theirs"}, []string{
			"GET /v1/streams?", "GET /v1/streams/entries?", "GET /v1/schema?", "GET /v1/schema?view=compact&", "GET /v1/schema?stream=entries&detail=full&",
			"GET /v1/streams/entries/records?", "GET /v1/streams/entries/records?limit=0&", "GET /v1/streams/entries/records/ent_31?", "HEAD /v1/streams/receipts/records?", "GET /v1/search?", "GET /v1/search?streams=entries&q=rent&",
		}},
		{owner, []string{"cin_theirs"}, []string{
			"GET /v1/streams?", "GET /v1/streams/entries/records?", "GET /v1/streams/receipts/records/rc_their?", "GET /v1/schema?", "GET /v1/state/ledgerly?",
			"PUT /v1/state/ledgerly?", "POST /v1/ingest/receipts?", "DELETE /v1/streams/receipts/records?", "DELETE /v1/streams/receipts/records/rc_their?",
		}},
	} {
		for _, request := range tc.request {
			for _, param := range []string{"connection_id=", "connector_instance_id="} {
				method, target, _ := strings.Cut(request, " ")
				want := w.Do(method, tc.token, target+param+"cin_unknown", "", fixedID)
				if want.Status != 404 || method != "HEAD" && want.Code() != string(pdpp.CodeConnectionNotFound) {
					t.Fatalf("%s with an unknown connection: status %d, want 404: %s", request, want.Status, want.Body)
				}
				for _, id := range tc.foreign {
					sameAnswer(t, request+id, w.Do(method, tc.token, target+param+id, "", fixedID), want)
				}
			}
		}
	}
}

// TestOwnersAreIsolated: owners whose connections have the same id do not see or change data of
// each other (C-21, R12).
func TestOwnersAreIsolated(t *testing.T) {
	mine, theirs := twoLedgers(t)
	myToken, theirToken := mine.OwnerToken(), theirs.OwnerToken()
	for _, target := range []string{
		"/v1/connectors", "/v1/streams", "/v1/schema", "/v1/schema?view=compact", "/v1/streams/entries", "/v1/streams/entries/records?count=exact",
		"/v1/streams/entries/records?connection_id=cin_a1&expand=receipts", "/v1/streams/receipts/records",
		"/v1/streams/entries/records?filter[memo]=Their+rent&count=exact", "/v1/streams/entries/records/ent_31?expand=receipts",
	} {
		a := mine.Get(myToken, target).OK()
		for _, secret := range []string{"Their account", "ent_their", "Their other account", "cin_theirs", "rc_their"} {
			if strings.Contains(string(a.Body), secret) {
				t.Errorf("%s contains %q:\n%s", target, secret, a.Body)
			}
		}
	}
	if n := theirs.Get(theirToken, "/v1/streams/entries/records?count=exact").At("meta.count.value"); n == nil || n.(interface{ String() string }).String() != "1" {
		t.Errorf("count of the other owner = %v, want 1", n)
	}
	deleteRecords(mine, myToken, entriesPath+"?connection_id=cin_a1")
	mine.Do("PUT", myToken, statePath, `{"state":{"entries":"mine"}}`).OK()
	if ids := theirs.Get(theirToken, "/v1/streams/entries/records").IDs(); len(ids) != 1 || ids[0] != "ent_their" {
		t.Errorf("records of the other owner after a delete: %v, want ent_their", ids)
	}
	if state := string(theirs.Get(theirToken, "/v1/state/ledgerly?connection_id=cin_a1").OK().Body); strings.Contains(state, "mine") {
		t.Errorf("the state of the other owner changed: %s", state)
	}
}

// TestCursorsRevealNoSortValue: if the cursor field is not granted, cursors contain no sort
// value, neither as text nor encoded (C-37, R5).
func TestCursorsRevealNoSortValue(t *testing.T) {
	w := ledger(t)
	when := time.Date(2026, 4, 30, 9, 0, 0, 0, time.UTC)
	for fields, want := range map[string]bool{`["id","memo"]`: false, `["id","posted_at"]`: true} {
		tok := first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":` + fields + `}]}`))
		a := w.Get(tok, "/v1/streams/entries/records?limit=1").OK()
		cursor, _ := a.At("next_cursor").(string)
		payload, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(cursor, "pc1."))
		if err != nil || !strings.Contains(string(payload), "ent_31") {
			t.Fatalf("cursor %q does not contain the id of the last record: %v", cursor, err)
		}
		if got := strings.Contains(string(payload), string(sortkey.FromTime(when))); got != want {
			t.Errorf("fields %s: cursor contains the sort value: %t, want %t", fields, got, want)
		}
		for _, text := range []string{"2026-04-30", "125000", "April"} {
			if strings.Contains(string(payload), text) {
				t.Errorf("the cursor contains %q", text)
			}
		}
	}
}

// TestOrderHidesUngrantedCursorField: without a granted cursor field, the order is by id.
func TestOrderHidesUngrantedCursorField(t *testing.T) {
	w := ledger(t)
	tok := first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["id"]}]}`))
	got := strings.Join(w.Get(tok, "/v1/streams/entries/records").IDs(), " ")
	if want := "ent_31 ent_30 ent_29"; got != want { // by posted_at it would be 31, 29, 30
		t.Errorf("order %s, want %s", got, want)
	}
}

package rs_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
)

// longLedger returns a ledger with ten more entries, and a token that sees them.
func longLedger(t *testing.T) (*resttest.World, string) {
	t.Helper()
	w := ledger(t)
	for i := range 10 {
		id := fmt.Sprintf("ent_x%d", i)
		w.Ingest("cin_a1", "entries", fmt.Sprintf(`{"key":%q,"data":{"id":%q,"memo":"Tea","posted_at":"2026-02-%02dT00:00:00Z"}}`, id, id, i+1))
	}
	return w, first(w.Grant(ledgerGrant))
}

func nextCursor(t *testing.T, a resttest.Answer) string {
	t.Helper()
	c, _ := a.OK().At("next_cursor").(string)
	if !strings.HasPrefix(c, "pc1.") || len(c) > 2048 {
		t.Fatalf("next_cursor = %q, want pc1.… of at most 2048 bytes", c)
	}
	return c
}

const entriesPath = "/v1/streams/entries/records"

func TestForgedCursors(t *testing.T) { // C-37, C-39
	w, tok := longLedger(t)
	good := nextCursor(t, w.Get(tok, entriesPath+"?limit=2"))
	w.Get(tok, entriesPath+"?limit=2&cursor="+good).OK()
	try := func(name, cursor string) {
		t.Helper()
		a := w.Get(tok, entriesPath+"?limit=2&cursor="+url.QueryEscape(cursor))
		if a.Status != 400 || a.Code() != string(pdpp.CodeInvalidCursor) || a.At("error.param") != "cursor" {
			t.Errorf("%s: answer %d %s, want invalid_cursor", name, a.Status, a.Body)
		}
	}
	for i := range good {
		flipped := []byte(good)
		if flipped[i] = 'A'; good[i] == 'A' {
			flipped[i] = 'B'
		}
		try(fmt.Sprintf("character %d changed", i), string(flipped))
	}
	for i := 1; i < len(good); i += 7 {
		try(fmt.Sprintf("cut at %d", i), good[:i])
	}
	for _, prefix := range []string{"cc1.", "cs1.", "sl1.", "ss1.", "ps1.", "pc2.", ""} {
		try("prefix "+prefix, prefix+good[4:])
	}
	try("longer", good+"AAAA")
	try("line break", good+"\n")
	try("padded", good+"=")
	try("too long", "pc1."+strings.Repeat("A", 2045))
	try("text", "!!")
	expectError(t, w.Get(tok, entriesPath+"?cursor="), 400, pdpp.CodeInvalidRequest)
}

// TestCursorIsBoundToRequest: a cursor is valid for one grant, path and query (C-38).
func TestCursorIsBoundToRequest(t *testing.T) {
	w, tok := longLedger(t)
	other := first(w.Grant(ledgerGrant))
	owner := w.OwnerToken()
	neighbour := neighbourOf(w)
	const query = "?filter[memo]=Tea&order=asc&limit=2"
	good := nextCursor(t, w.Get(tok, entriesPath+query))
	for _, tc := range []struct{ name, token, target string }{
		{"other grant", other, entriesPath + query},
		{"owner", owner, entriesPath + query},
		{"other owner", neighbour.OwnerToken(), entriesPath + query},
		{"other path", tok, "/v1/streams/receipts/records?order=asc&limit=2"},
		{"same path, escaped differently", tok, "/v1/streams/%65ntries/records" + query},
		{"no filter", tok, entriesPath + "?order=asc&limit=2"},
		{"other filter", tok, entriesPath + "?filter[memo]=Rent&order=asc"},
		{"one more filter", tok, entriesPath + query + "&filter[id]=ent_x1"},
		{"other order", tok, entriesPath + "?filter[memo]=Tea&order=desc"},
		{"other sort", tok, entriesPath + query + "&sort=posted_at"},
		{"fields", tok, entriesPath + query + "&fields=id"},
		{"view", tok, entriesPath + query + "&view=brief"},
		{"expand", tok, entriesPath + query + "&expand=receipts"},
		{"connection", tok, entriesPath + query + "&connection_id=cin_a1"},
		{"connector", tok, entriesPath + query + "&connector_id=ledgerly"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			expectError(t, w.Get(tc.token, tc.target+"&cursor="+good), 400, pdpp.CodeInvalidCursor)
		})
	}
	// The cursor of an owner is not valid for a client.
	expectError(t, w.Get(tok, entriesPath+query+"&cursor="+nextCursor(t, w.Get(owner, entriesPath+query))), 400, pdpp.CodeInvalidCursor)
}

// TestCursorAllowsOtherParameters: limit, count, preferences and spelling may differ (C-38).
func TestCursorAllowsOtherParameters(t *testing.T) {
	w, tok := longLedger(t)
	const query = "?filter[memo]=Tea&filter[posted_at][gte]=2026-02-02&order=asc&limit=2"
	a := w.Get(tok, entriesPath+query)
	good := nextCursor(t, a)
	sameIDs(t, a, "ent_x1", "ent_x2")
	for _, tc := range []struct {
		name, target string
		prefer       string
		want         []string
	}{
		{"same", query, "", []string{"ent_x3", "ent_x4"}},
		{"other limit", strings.Replace(query, "limit=2", "limit=3", 1), "", []string{"ent_x3", "ent_x4", "ent_x5"}},
		{"no limit", strings.Replace(query, "&limit=2", "", 1), "", []string{"ent_x3", "ent_x4", "ent_x5", "ent_x6", "ent_x7", "ent_x8", "ent_x9"}},
		{"a count", query + "&count=exact", "", []string{"ent_x3", "ent_x4"}},
		{"order of parameters", "?limit=2&order=asc&filter[posted_at][gte]=2026-02-02&filter[memo]=Tea", "", []string{"ent_x3", "ent_x4"}},
		{"escapes", "?filter%5Bmemo%5D=%54ea&filter[posted_at][gte]=2026-02-02&order=asc&limit=2", "", []string{"ent_x3", "ent_x4"}},
		{"preferences", query, "pdpp-field-preview=64, pdpp-page-bytes=4096", []string{"ent_x3", "ent_x4"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := w.Get(tok, entriesPath+tc.target+"&cursor="+good, "Prefer: "+tc.prefer)
			sameIDs(t, a, tc.want...)
		})
	}
	// The count covers all records, not only those after the cursor.
	if n := w.Get(tok, entriesPath+query+"&count=exact&cursor="+good).At("meta.count.value"); fmt.Sprint(n) != "9" {
		t.Errorf("count with a cursor is %v, want 9", n)
	}
}

func TestExpiredCursors(t *testing.T) { // C-39
	w, tok := longLedger(t)
	good := nextCursor(t, w.Get(tok, entriesPath+"?limit=2"))
	w.Advance(24 * time.Hour)
	w.Get(tok, entriesPath+"?limit=2&cursor="+good).OK()
	w.Advance(time.Millisecond)
	a := w.Get(tok, entriesPath+"?limit=2&cursor="+good)
	refused(t, a, refusal{status: 410, code: "cursor_expired", param: "cursor"})
	sameValue(t, a, "error.type", "gone_error")
	// In another request it is invalid rather than expired.
	expectError(t, w.Get(tok, entriesPath+"?order=asc&cursor="+good), 400, pdpp.CodeInvalidCursor)
}

// TestCursorAfterChanges: a cursor remains valid after a restart and after the deletion of
// its record, but not under another instance key.
func TestCursorAfterChanges(t *testing.T) {
	w, tok := longLedger(t)
	a := w.Get(tok, entriesPath+"?limit=2&order=asc")
	good := nextCursor(t, a)
	at := a.IDs()[1]
	w.Ingest("cin_a1", "entries", fmt.Sprintf(`{"key":%q,"op":"delete"}`, at))
	if ids := w.Get(tok, entriesPath+"?limit=2&order=asc&cursor="+good).IDs(); len(ids) != 2 || ids[0] != "ent_x2" {
		t.Errorf("after the record was deleted: %v, want 2 from ent_x2", ids)
	}
	same := secondServer(w, func(*server.Config) {})
	same.Get(tok, entriesPath+"?limit=2&order=asc&cursor="+good).OK()
	rekeyed := secondServer(w, withNewKey)
	expectError(t, rekeyed.Get(tok, entriesPath+"?limit=2&order=asc&cursor="+good), 400, pdpp.CodeInvalidCursor)
}

// TestCursorIsInvalidAfterNewOrder: a new manifest with another cursor field changes the order
// of records. An older cursor would skip or repeat some (C-38).
func TestCursorIsInvalidAfterNewOrder(t *testing.T) {
	w, _ := longLedger(t)
	tok := w.OwnerToken()
	cursor := nextCursor(t, w.Get(tok, entriesPath+"?limit=2"))
	w.Get(tok, entriesPath+"?limit=2&cursor="+cursor).OK()
	raw := testManifest(t, "../manifest/testdata/ledgerly.json")
	w.Manifest(strings.Replace(raw, `"cursor_field": "posted_at", `, "", 1))
	expectError(t, w.Get(tok, entriesPath+"?limit=2&cursor="+cursor), 400, pdpp.CodeInvalidCursor)
}

package rs_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
)

// feed reads the changes feed of one stream with fixed parameters.
type feed struct {
	t      testing.TB
	w      *resttest.World
	token  string
	target string // with "?"
	prefer string

	between func()            // called between two pages
	answer  resttest.Answer   // the last page
	answers []resttest.Answer // all pages of the last session
}

func newFeed(w *resttest.World, token, target string) *feed {
	return &feed{t: w.T, w: w, token: token, target: target}
}

// since reads all pages since a bookmark, checks the form of each (REC-36) and returns the
// items and the next bookmark.
func (f *feed) since(bookmark string) (items []string, next string) {
	f.t.Helper()
	f.answers = nil
	for target := f.target + "&changes_since=" + url.QueryEscape(bookmark); ; {
		f.page(target)
		items = append(items, changesIn(f.answer)...)
		if f.answer.At("has_more") != true {
			break
		}
		target = f.answer.At("links.next").(string)
		if f.between != nil {
			f.between()
		}
	}
	return items, f.answer.At("next_changes_since").(string)
}

func (f *feed) page(target string) {
	f.t.Helper()
	f.answer = f.w.Get(f.token, target, fixedID, "Prefer: "+f.prefer).OK()
	f.answers = append(f.answers, f.answer)
	cursor, _ := f.answer.At("next_cursor").(string)
	bookmark, _ := f.answer.At("next_changes_since").(string)
	link, _ := f.answer.At("links.next").(string)
	if f.answer.At("has_more") == true {
		if !strings.HasPrefix(cursor, "cc1.") || bookmark != "" || !strings.Contains(link, "cursor="+cursor) || strings.Contains(link, "changes_since") {
			f.t.Fatalf("invalid page before the last: %s", f.answer.Body)
		}
		return
	}
	if cursor != "" || !strings.HasPrefix(bookmark, "cs1.") || f.answer.At("links.next") != nil {
		f.t.Fatalf("invalid last page: %s", f.answer.Body)
	}
}

// changesIn returns the items of a page as id@connection, removals with their reason.
func changesIn(a resttest.Answer) []string {
	a.T.Helper()
	var out []string
	for _, item := range a.At("data").([]any) {
		m := item.(map[string]any)
		text := fmt.Sprintf("%v@%v", m["id"], m["connection_id"])
		if m["deleted"] == true {
			text = fmt.Sprintf("%v %s", m["removed_reason"], text)
		}
		out = append(out, text)
	}
	return out
}

// expect reads all pages since a bookmark, compares the items and returns the next bookmark.
func (f *feed) expect(bookmark string, want ...string) (next string) {
	f.t.Helper()
	items, next := f.since(bookmark)
	if diff := cmp.Diff(want, items, cmpopts.EquateEmpty()); diff != "" {
		f.t.Errorf("changes since %.8s… differ (-want +got):\n%s", bookmark, diff)
	}
	return next
}

const entry = `{"key":%q,"data":{"id":%q,"memo":%q,"amount_minor":%d,"posted_at":"2026-04-%02dT09:00:00Z"}}`

// putEntry stores an entry on cin_a1; amount is hidden under ledgerGrant.
func putEntry(w *resttest.World, id, memo string, amount, day int) {
	w.Ingest("cin_a1", "entries", fmt.Sprintf(entry, id, id, memo, amount, day))
}

func dropEntry(w *resttest.World, id string) {
	w.Ingest("cin_a1", "entries", fmt.Sprintf(`{"key":%q,"op":"delete","emitted_at":"2026-05-02T10:00:00Z"}`, id))
}

// TestChanges: the feed begins with all records and continues with the changes (REC-31,
// REC-32, REC-34, REC-35, I-8).
func TestChanges(t *testing.T) {
	w := ledger(t)
	tok := first(w.Grant(ledgerGrant))
	for _, limit := range []int{1, 2, 100} {
		f := newFeed(w, tok, fmt.Sprintf("%s?limit=%d", entriesPath, limit))
		mark := f.expect("beginning", "ent_29@cin_b2", "ent_30@cin_a1", "ent_31@cin_a1")
		if n := len(f.answers); limit == 1 && n != 3 {
			t.Errorf("%d pages with limit 1, want 3", n)
		}
		mark = f.expect(mark)
		putEntry(w, "ent_32", "Tea", 1, 1)
		putEntry(w, "ent_30", "March rent", 1, 2)
		putEntry(w, "ent_30", "March rent", 1, 2) // no change (I-8)
		next := f.expect(mark, "ent_32@cin_a1", "ent_30@cin_a1")
		if f.answer.At("data.0.data.memo") == "Tea" {
			sameJSON(t, f.answer.At("data.0"), `{"object":"record","id":"ent_32","stream":"entries","data":{"id":"ent_32","memo":"Tea","posted_at":"2026-04-01T09:00:00Z"},
				"emitted_at":"2026-05-01T08:00:00.000Z","connection_id":"cin_a1","connector_key":"ledgerly","display_name":"Joint account"}`)
		}
		if again := f.expect(mark, "ent_32@cin_a1", "ent_30@cin_a1"); again == next {
			t.Error("two bookmarks are the same text, so their positions are not hidden")
		}
		mark = next
		putEntry(w, "ent_30", "March rent", 2, 2) // changes only a hidden field
		next = f.expect(mark)
		if next == mark {
			t.Error("the bookmark did not advance")
		}
		dropEntry(w, "ent_32")
		putEntry(w, "ent_33", "created and deleted", 2, 2)
		dropEntry(w, "ent_33")
		f.expect(mark, "deleted ent_32@cin_a1")
		f.expect(next, "deleted ent_32@cin_a1")
		w.Ingest("cin_a1", "entries", `{"key":"ent_30","data":{"id":"ent_30","memo":"March rent","amount_minor":125000,"posted_at":"2026-03-30T09:00:00Z","secret":1}}`)
	}
}

func TestTombstones(t *testing.T) { // REC-35
	w := ledger(t)
	tok := first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["id"],"time_range":{"since":"2026-03-01","until":"2026-05-01"}}]}`))
	f := newFeed(w, tok, entriesPath+"?limit=9")
	mark := f.expect("beginning", "ent_29@cin_b2", "ent_30@cin_a1", "ent_31@cin_a1")
	w.Advance(26*time.Hour + time.Second)
	dropEntry(w, "ent_31")
	w.Ingest("cin_b2", "entries", `{"key":"ent_29","data":{"id":"ent_29","posted_at":"2025-04-01T09:00:00Z"}}`)
	w.Ingest("cin_b2", "entries", `{"key":"ent_29","op":"delete"}`) // outside the grant: not reported
	f.expect(mark, "deleted ent_31@cin_a1", "out_of_scope ent_29@cin_b2")
	sameJSON(t, f.answer.At("data"), `[{"object":"record","id":"ent_31","stream":"entries","deleted":true,"deleted_at":"2026-05-02T10:00:00.000Z","removed_reason":"deleted",
		"emitted_at":"2026-05-02T10:00:01.000Z","connection_id":"cin_a1","connector_key":"ledgerly","display_name":"Joint account"},
		{"object":"record","id":"ent_29","stream":"entries","deleted":true,"removed_reason":"out_of_scope",
		"emitted_at":"2026-05-02T10:00:01.000Z","connection_id":"cin_b2","connector_key":"ledgerly"}]`)
}

func TestChangesOfDeletedStream(t *testing.T) { // I-9
	w := ledger(t)
	owner := w.OwnerToken()
	f := newFeed(w, first(w.Grant(ledgerGrant)), entriesPath+"?limit=1")
	_, mark := f.since("beginning")
	deleteRecords(w, owner, entriesPath+"?connection_id=cin_a1")
	f.expect(mark, "deleted ent_30@cin_a1", "deleted ent_31@cin_a1")
}

// TestChangesDuringSession: changes between two pages are in the next session.
func TestChangesDuringSession(t *testing.T) { // REC-32
	w := ledger(t)
	tok := first(w.Grant(ledgerGrant))
	f := newFeed(w, tok, entriesPath+"?limit=1")
	write := func(id string) func() {
		return func() {
			putEntry(w, id, "Tea", 1, 1)
			f.between = nil
		}
	}
	f.between = write("ent_30a")
	mark := f.expect("beginning", "ent_29@cin_b2", "ent_30@cin_a1", "ent_31@cin_a1")
	putEntry(w, "ent_40", "Tea", 1, 1)
	f.between = write("ent_41")
	mark = f.expect(mark, "ent_30a@cin_a1", "ent_40@cin_a1")
	f.expect(mark, "ent_41@cin_a1")
}

func TestChangesRefusals(t *testing.T) { // REC-31, REC-33, C-8, C-20, C-39
	w, tok := longLedger(t)
	page := w.Get(tok, entriesPath+"?limit=2&changes_since=beginning").OK().At("next_cursor").(string)
	list := nextCursor(t, w.Get(tok, entriesPath+"?limit=2"))
	_, mark := newFeed(w, tok, entriesPath+"?limit=100").since("beginning")
	since := func(param, code string) refusal { return refusal{status: 400, code: code, param: param} }
	for _, c := range []struct {
		query string
		want  refusal
	}{
		{"changes_since=beginning&filter[memo]=Tea", since("filter", "invalid_request")},
		{"changes_since=beginning&sort=posted_at", since("sort", "invalid_request")},
		{"changes_since=beginning&order=asc", since("order", "invalid_request")},
		{"changes_since=beginning&count=exact", since("count", "invalid_request")},
		{"changes_since=beginning&count=none", since("count", "invalid_request")},
		{"changes_since=beginning&expand=receipts", since("expand", "invalid_expand")},
		{"changes_since=beginning&expand_limit[receipts]=1", since("expand_limit", "invalid_expand")},
		{"cursor=" + page + "&order=asc", since("order", "invalid_request")},
		{"cursor=" + page + "&expand=receipts", since("expand", "invalid_expand")},
		{"changes_since=", since("changes_since", "invalid_request")},
		{"changes_since=beginning&changes_since=beginning", since("changes_since", "invalid_request")},
		{"changes_since[x]=beginning", since("changes_since", "invalid_request")},
		{"changes_since=beginning&limit=0", since("limit", "invalid_request")},
		{"changes_since=Beginning", since("changes_since", "invalid_cursor")},
		{"changes_since=2026-05-01T00:00:00Z", since("changes_since", "invalid_cursor")},
		{"changes_since=7", since("changes_since", "invalid_cursor")},
		{"changes_since=" + page, since("changes_since", "invalid_cursor")},
		{"changes_since=" + list, since("changes_since", "invalid_cursor")},
		{"changes_since=" + mark[:len(mark)-1] + flip(mark[len(mark)-1]), since("changes_since", "invalid_cursor")},
		{"changes_since=" + mark + "&cursor=" + list, since("cursor", "invalid_cursor")},
		{"cursor=" + mark, since("cursor", "invalid_cursor")},
		{"changes_since=beginning&cursor=x", since("cursor", "invalid_cursor")},
		{"changes_since=beginning&fields=nope", refusal{400, "unknown_field", "fields", "nope", ""}},
		{"changes_since=beginning&fields=note", refusal{403, "field_not_granted", "fields", "note", ""}},
		{"changes_since=beginning&view=nope", since("view", "invalid_request")},
		{"changes_since=x&connection_id=cin_none", refusal{status: 404, code: "connection_not_found", param: "connection_id"}},
		{"changes_since=x&fields=note", refusal{403, "field_not_granted", "fields", "note", ""}}, // the cursor is checked last
		{"since=beginning", since("since", "invalid_request")},
	} {
		t.Run(c.query, func(t *testing.T) {
			a := w.Get(tok, entriesPath+"?"+c.query)
			refused(t, a, c.want)
			message, _ := a.At("error.message").(string)
			if c.want.code == "invalid_cursor" && c.want.param == "changes_since" && !(strings.Contains(message, "beginning") && strings.Contains(message, "next_changes_since")) {
				t.Errorf("the message does not name both valid forms: %s", message)
			}
		})
	}
	refused(t, w.Get(tok, "/v1/streams/none/records?changes_since=beginning"), refusal{403, "grant_stream_not_allowed", "", "", "none"})
	refused(t, w.Get(tok, entriesPath+"/ent_31?changes_since=beginning"), since("changes_since", "invalid_request"))
}

// flip returns another character of base64url.
func flip(c byte) string {
	if c == 'A' {
		return "E"
	}
	return "A"
}

func TestBookmarkIsBoundToGrantAndStream(t *testing.T) { // REC-33
	w, tok := longLedger(t)
	owner := w.OwnerToken()
	neighbour := neighbourOf(w)
	_, mark := newFeed(w, tok, entriesPath+"?limit=100&fields=id").since("beginning")
	_, owners := newFeed(w, owner, entriesPath+"?limit=100").since("beginning")
	putEntry(w, "ent_50", "Tea", 1, 1)
	for _, query := range []string{"", "fields=memo", "view=brief", "connection_id=cin_a1", "connector_id=ledgerly&limit=1"} {
		newFeed(w, tok, entriesPath+"?"+query).expect(mark, "ent_50@cin_a1")
	}
	newFeed(w, tok, "/v1/streams/%65ntries/records?").expect(mark, "ent_50@cin_a1")
	newFeed(w, tok, entriesPath+"?connection_id=cin_b2").expect(mark)
	for name, a := range map[string]resttest.Answer{
		"another grant":         w.Get(first(w.Grant(ledgerGrant)), entriesPath+"?changes_since="+mark),
		"owner":                 w.Get(owner, entriesPath+"?changes_since="+mark),
		"bookmark of the owner": w.Get(tok, entriesPath+"?changes_since="+owners),
		"another owner":         neighbour.Get(neighbour.OwnerToken(), entriesPath+"?changes_since="+owners),
		"another stream":        w.Get(tok, "/v1/streams/receipts/records?changes_since="+mark),
		"another key":           secondServer(w, withNewKey).Get(tok, entriesPath+"?changes_since="+mark),
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, a, refusal{status: 400, code: "invalid_cursor", param: "changes_since"})
		})
	}
}

func TestChangesPageCursor(t *testing.T) { // C-38, C-39, REC-36
	w, tok := longLedger(t)
	first := w.Get(tok, entriesPath+"?limit=2&fields=id&changes_since=beginning").OK()
	cursor := first.At("next_cursor").(string)
	if len(cursor) > 2048 {
		t.Errorf("the cursor has %d bytes, want at most 2048", len(cursor))
	}
	if want := entriesPath + "?limit=2&fields=id&cursor=" + cursor; first.At("links.next") != want {
		t.Errorf("links.next = %v, want %s", first.At("links.next"), want)
	}
	want := w.Get(tok, entriesPath+"?limit=3&fields=id&cursor="+cursor).IDs()
	if len(want) != 3 || want[0] != "ent_31" {
		t.Errorf("second page: %v, want three records from ent_31", want)
	}
	// The cursor takes precedence over changes_since.
	for _, since := range []string{"beginning", "nonsense", "cs1.AAAA"} {
		if got := w.Get(tok, entriesPath+"?limit=3&fields=id&changes_since="+since+"&cursor="+cursor).IDs(); !cmp.Equal(got, want) {
			t.Errorf("with changes_since=%s: %v, want %v", since, got, want)
		}
	}
	for _, query := range []string{"limit=2", "fields=memo", "fields=id,memo", "view=brief", "fields=id&connection_id=cin_a1", "fields=id&connector_id=ledgerly"} {
		refused(t, w.Get(tok, entriesPath+"?"+query+"&cursor="+cursor), refusal{status: 400, code: "invalid_cursor", param: "cursor"})
	}
	refused(t, w.Get(tok, "/v1/streams/receipts/records?fields=id&cursor="+cursor), refusal{status: 400, code: "invalid_cursor", param: "cursor"})
	refused(t, w.Get(w.OwnerToken(), entriesPath+"?fields=id&cursor="+cursor), refusal{status: 400, code: "invalid_cursor", param: "cursor"})
	w.Advance(24 * time.Hour)
	w.Get(tok, entriesPath+"?fields=id&cursor="+cursor).OK()
	w.Advance(time.Millisecond)
	refused(t, w.Get(tok, entriesPath+"?fields=id&cursor="+cursor), refusal{status: 410, code: "cursor_expired", param: "cursor"})
}

const bookmarkAge = 180 * 24 * time.Hour

func TestBookmarkExpires(t *testing.T) { // REC-37
	w := ledger(t)
	f := newFeed(w, w.OwnerToken(), entriesPath+"?limit=1")
	began := w.Now()
	f.between = func() { w.Advance(20 * time.Hour) } // the bookmark has the age of the first page
	_, mark := f.since("beginning")
	f.between = nil
	w.Advance(began.Add(bookmarkAge).Sub(w.Now()))
	f.token = w.OwnerToken()
	f.expect(mark)
	w.Advance(time.Millisecond)
	a := w.Get(f.token, entriesPath+"?changes_since="+mark)
	refused(t, a, refusal{status: 410, code: "cursor_expired", param: "changes_since"})
	if message := a.At("error.message").(string); !strings.Contains(message, "Restart from beginning") {
		t.Errorf("message %q, want: Restart from beginning", message)
	}
	f.expect("beginning", "ent_29@cin_b2", "ent_30@cin_a1", "ent_31@cin_a1")
}

// TestChangesArePruned: the server removes changes that no valid bookmark needs. Older
// bookmarks and cursors have expired.
func TestChangesArePruned(t *testing.T) { // REC-37
	w := ledger(t)
	owner := w.OwnerToken()
	f := newFeed(w, owner, entriesPath+"?limit=1")
	_, mark := f.since("beginning")
	putEntry(w, "ent_32", "Tea", 1, 1)
	putEntry(w, "ent_33", "Tea", 1, 1)
	w.Advance(time.Hour)
	_, younger := f.since("beginning")
	putEntry(w, "ent_34", "Tea", 1, 1)
	page := w.Get(owner, entriesPath+"?limit=1&changes_since="+mark).OK().At("next_cursor").(string)
	// The clock of this server is at the end of the bookmark's life.
	late := w.Now().Add(bookmarkAge)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- secondServer(w, func(c *server.Config) { c.Clock = func() time.Time { return late } }).Server.Run(ctx)
	}()
	for end := time.Now().Add(maxWait); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if w.Get(owner, entriesPath+"?changes_since="+mark).Status != 200 {
			break
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	refused(t, w.Get(owner, entriesPath+"?changes_since="+mark), refusal{status: 410, code: "cursor_expired", param: "changes_since"})
	refused(t, w.Get(owner, entriesPath+"?limit=1&cursor="+page), refusal{status: 410, code: "cursor_expired", param: "cursor"})
	f.expect(younger, "ent_34@cin_a1")
}

func TestChangesPreferences(t *testing.T) { // REC-38, REC-40, REC-41
	w := resttest.Cabinet(t)
	tok := first(w.Grant(cabinetGrant))
	f := newFeed(w, tok, "/v1/streams/items/records?limit=50")
	_, mark := f.since("beginning")
	for i := range 6 {
		w.Ingest("cin_c1", "items", item(fmt.Sprint("i", i), `"body":`+quoted(longText(3000))))
	}
	w.Ingest("cin_c2", "items", item("gone", ""))
	w.Ingest("cin_c2", "items", `{"key":"gone","op":"delete"}`)
	for _, since := range []string{"beginning", mark} {
		f.prefer = "pdpp-field-preview=100, pdpp-page-bytes=4096"
		items, _ := f.since(since)
		if len(items) != 6 || len(f.answers) != 1 || len(f.answer.At("data.0.data.body").(string)) != 100 || f.answer.At("data.0.truncated_fields.body") == nil {
			t.Errorf("with previews: %v in %d pages, want 6 in one, truncated: %s", items, len(f.answers), f.answer.Body)
		}
		sameHeader(t, f.answer, "Preference-Applied", f.prefer)
		f.prefer = "pdpp-page-bytes=8192"
		items, _ = f.since(since)
		if len(items) != 6 || len(f.answers) != 3 {
			t.Errorf("in pages of 8 KiB: %v in %d pages, want 6 in 3", items, len(f.answers))
		}
		sameJSON(t, f.answers[0].At("meta.warnings.0.detail"), `{"page_bytes":8192,"returned":2,"limit":50}`)
		f.prefer = "pdpp-field-preview=3000, pdpp-page-bytes=4096"
		w.Ingest("cin_c1", "items", item("big", `"body":`+quoted(longText(9000))+`,"title":`+quoted(longText(9000))))
		f.since(since)
		halved := false
		for _, a := range f.answers {
			body, _ := a.At("data.0.data.body").(string)
			halved = halved || a.At("data.0.id") == "big" && len(body) == 1500
		}
		if !halved {
			t.Error("no page halves the preview of the large record")
		}
		f.w.Ingest("cin_c1", "items", `{"key":"big","op":"delete"}`)
	}
}

func TestChangesOfSeveralConnectors(t *testing.T) { // C-25, R4
	w := twoSources(t)
	owner := w.OwnerToken()
	all := newFeed(w, owner, "/v1/streams/events/records?limit=1")
	room := newFeed(w, owner, "/v1/streams/events/records?fields=room")
	mark := all.expect("beginning", "ev_1@cin_b1", "ev_1@cin_z9", "ev_2@cin_z9", "ev_3@cin_b1")
	room.expect("beginning", "ev_1@cin_z9", "ev_2@cin_z9")
	sameJSON(t, room.answer.At("meta.warnings.0.detail"), `{"connector_key":"beta","connection_id":"cin_b1"}`)
	w.Ingest("cin_b1", "events", `{"key":"ev_3","data":{"id":"ev_3","title":"Swim far"}}`)
	w.Ingest("cin_z9", "events", `{"key":"ev_2","data":{"id":"ev_2","room":"Green"}}`)
	w.Ingest("cin_b1", "events", `{"key":"ev_1","op":"delete"}`)
	all.expect(mark, "ev_3@cin_b1", "ev_2@cin_z9", "deleted ev_1@cin_b1")
	room.expect(mark, "ev_2@cin_z9")
	newFeed(w, owner, "/v1/streams/events/records?connector_id=beta").expect(mark, "ev_3@cin_b1", "deleted ev_1@cin_b1")
	// beta now declares the field. Its values of that field were never reported.
	w.Manifest(strings.Replace(testManifest(t, "testdata/beta.json"), `"title":`, `"room":{"type":["string","null"]},"title":`, 1))
	refused(t, w.Get(owner, "/v1/streams/events/records?changes_since="+mark), refusal{status: 410, code: "cursor_expired", param: "changes_since"})
}

func TestChangesEnvelope(t *testing.T) { // C-1, C-29, REC-36
	w := ledger(t)
	tok := first(w.Grant(ledgerGrant))
	a := w.Do("HEAD", tok, entriesPath+"?changes_since=beginning", "")
	if a.Status != 200 || len(a.Body) != 0 || a.Header.Get("Content-Length") == "" {
		t.Errorf("HEAD: status %d, %d bytes, Content-Length %q", a.Status, len(a.Body), a.Header.Get("Content-Length"))
	}
	if list := w.Get(tok, entriesPath).OK(); list.At("next_changes_since") != nil {
		t.Errorf("a list without changes_since has a bookmark: %s", list.Body)
	}
	f := newFeed(w, tok, entriesPath+"?")
	f.since("beginning")
	sameJSON(t, f.answer.At("meta.count"), `{"kind":"none"}`)
	if f.answer.At("meta.presentation.ledgerly/entries") == nil || f.answer.At("links.self") != entriesPath+"?&changes_since=beginning" {
		t.Errorf("want presentation and links.self: %s", f.answer.Body)
	}
	hint := w.Get("", "/.well-known/oauth-protected-resource").OK().At("pdpp_discovery_hints.changes_since_bootstrap")
	if hint != "beginning" { // H-130
		t.Errorf("changes_since_bootstrap = %v, want beginning", hint)
	}
}

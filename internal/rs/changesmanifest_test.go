package rs_test

import (
	"strings"
	"testing"

	"pdpp/internal/rs/resttest"
)

// TestChangesAfterNewManifest: bookmarks remain valid under a new manifest unless it changes
// what the client sees or what the log can report. Then the client starts from the beginning
// (REC-37, M-11).
func TestChangesAfterNewManifest(t *testing.T) {
	raw := testManifest(t, "../manifest/testdata/ledgerly.json")
	edit := func(old, new string) string {
		out := strings.ReplaceAll(raw, old, new)
		if out == raw {
			t.Fatalf("the manifest has no %s", old)
		}
		return out
	}
	const spec = `{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["id","memo","posted_at","scan"]`
	grants := map[string]func(*resttest.World) string{
		"owner":  func(w *resttest.World) string { return w.OwnerToken() },
		"client": func(w *resttest.World) string { return first(w.Grant(spec + `}]}`)) },
		"timed": func(w *resttest.World) string {
			return first(w.Grant(spec + `,"time_range":{"since":"2026-01-01"}}]}`))
		},
	}
	for _, c := range []struct {
		name     string
		manifest string
		expires  string // the tokens whose bookmarks expire
	}{
		{"a field is added", edit(`"amount_minor": {"type"`, `"extra": {"type": "string"}, "amount_minor": {"type"`), ""},
		{"another label", edit(`"Your ledger"`, `"My ledger"`), ""},
		{"no cursor field", edit(`"cursor_field": "posted_at", `, ""), ""},
		{"a hidden field is dropped", strings.NewReplacer(`"note": {"type": ["string", "null"], "x_pdpp_role": "primary-text"},`, "", `["memo", "note"], "semantic_fields": ["note"]`, `["memo"]`).Replace(raw), ""},
		{"a granted field is dropped", strings.NewReplacer(`"memo": {"type": ["string", "null"], "x_pdpp_role": "primary-title"},`, "", `["id", "memo"]`, `["id"]`,
			`["memo", "note"]`, `["note"]`, `"group_by": ["memo"], `, "", `, "count_distinct": ["memo"]`, "").Replace(raw), "owner client timed"},
		{"a view has other fields", edit(`"fields": ["id", "memo"]`, `"fields": ["id", "posted_at"]`), "owner client timed"},
		{"a view has one more hidden field", edit(`"fields": ["id", "memo"]`, `"fields": ["id", "memo", "amount_minor"]`), "owner"},
		{"a field is no longer a blob reference", edit(`"required": ["blob_id"], `, ""), "owner client timed"},
		{"no consent time field", edit(`"consent_time_field": "posted_at",`, ""), "timed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := ledger(t)
			marks, tokens := map[string]string{}, map[string]string{}
			for holder, grant := range grants {
				tokens[holder] = grant(w)
				_, marks[holder] = newFeed(w, tokens[holder], entriesPath+"?limit=50").since("beginning")
			}
			page := w.Get(tokens["client"], entriesPath+"?limit=1&changes_since=beginning").OK().At("next_cursor").(string)
			w.Manifest(c.manifest)
			putEntry(w, "ent_40", "Tea", 1, 1)
			for holder, tok := range tokens {
				f := newFeed(w, tok, entriesPath+"?limit=50")
				if !strings.Contains(c.expires, holder) {
					f.expect(marks[holder], "ent_40@cin_a1")
					continue
				}
				refused(t, w.Get(tok, entriesPath+"?changes_since="+marks[holder]), refusal{status: 410, code: "cursor_expired", param: "changes_since"})
				f.expect("beginning", "ent_29@cin_b2", "ent_30@cin_a1", "ent_31@cin_a1", "ent_40@cin_a1")
			}
			a := w.Get(tokens["client"], entriesPath+"?limit=1&cursor="+page)
			if strings.Contains(c.expires, "client") {
				refused(t, a, refusal{status: 400, code: "invalid_cursor", param: "cursor"})
			} else {
				a.OK()
			}
		})
	}
}

// TestChangesWithFormerConsentTimeField: if the grant is limited by a field that is no longer
// the consent time field, every session starts from the beginning.
func TestChangesWithFormerConsentTimeField(t *testing.T) {
	w := ledger(t)
	tok := first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","time_range":{"since":"2026-04-01"}}]}`))
	raw := testManifest(t, "../manifest/testdata/ledgerly.json")
	w.Manifest(strings.Replace(raw, `"consent_time_field": "posted_at",`, "", 1))
	f := newFeed(w, tok, entriesPath+"?limit=1")
	for range 2 {
		f.between = func() { putEntry(w, "ent_10", "old", 1, 1); f.between = nil }
		_, mark := f.since("beginning")
		refused(t, w.Get(tok, entriesPath+"?changes_since="+mark), refusal{status: 410, code: "cursor_expired", param: "changes_since"})
	}
	f.expect("beginning", "ent_10@cin_a1", "ent_29@cin_b2", "ent_31@cin_a1")
	w.Manifest(raw)
	mark := f.expect("beginning", "ent_10@cin_a1", "ent_29@cin_b2", "ent_31@cin_a1")
	dropEntry(w, "ent_10")
	f.expect(mark, "deleted ent_10@cin_a1")
}

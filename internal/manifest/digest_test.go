package manifest

import (
	"testing"
)

// digests gives the digests of the two streams of an edited example.
func digests(t *testing.T, old, new string) (entries, receipts string) {
	t.Helper()
	m := mustParse(t, edit(t, old, new))
	return IndexDigest(m, m.Stream("entries")), IndexDigest(m, m.Stream("receipts"))
}

func TestIndexDigest(t *testing.T) {
	const id = `"id": {"type": "string"}, "memo"`
	entries, receipts := digests(t, id, id)
	if len(entries) != 32 || entries == receipts {
		t.Fatalf("digests %q, %q", entries, receipts)
	}
	for _, c := range []struct {
		old, new          string
		entries, receipts bool // whether the digest changes
	}{
		{`"label": "Your ledger"`, `"label": "My ledger"`, false, false},
		{`"Ledger lines"`, `"Lines"`, false, false},
		{`"2026-02-01"`, `"2026-02-02"`, false, false},
		{`"fields": ["id", "memo"]`, `"fields": ["id"]`, false, false},
		{`"x_pdpp_type": "money"`, `"x_pdpp_type": "cents"`, false, false},
		{`"type": ["string", "null"], "x_pdpp_role": "primary-text"`, `"type": "string"`, false, false},
		{`"semantic_fields": ["note"]`, `"semantic_fields": ["memo"]`, false, false},
		{`"amount_minor": ["gte", "lte"]`, `"amount_minor": ["gt"]`, false, false},
		{`"sum": ["amount_minor"], `, ``, false, false}, // still a range filter
		{`"max_limit": 50`, `"max_limit": 60`, false, false},

		{`"primary_key": ["id"], "cursor`, `"primary_key": ["memo"], "cursor`, true, false},
		{`"cursor_field": "posted_at"`, `"cursor_field": "amount_minor"`, true, false},
		{`"consent_time_field": "posted_at",`, ``, true, false},
		{`"type": "integer", "x_pdpp_type"`, `"type": "number", "x_pdpp_type"`, true, false},
		{`["memo", "note"]`, `["memo"]`, true, false},
		{`"group_by": ["memo"]`, `"group_by": ["id"]`, false, false}, // memo is counted, id is a foreign key
		{`"group_by": ["memo"]`, `"group_by": ["note"]`, true, false},
		{`"tags": {"type": "array"}`, `"labels": {"type": "array"}`, false, true},
		{`"foreign_key": "entry_id"`, `"foreign_key": "id"`, false, true},
		{`"foreign_key": "id"`, `"foreign_key": "note"`, true, false},
	} {
		e, r := digests(t, c.old, c.new)
		if (e != entries) != c.entries || (r != receipts) != c.receipts {
			t.Errorf("%s -> %s: entries changed %t, receipts changed %t", c.old, c.new, e != entries, r != receipts)
		}
	}
}

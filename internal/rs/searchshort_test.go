package rs_test

import (
	"strings"
	"testing"

	"pdpp/internal/rs/resttest"
)

// TestShortHit: short hits have every fact only once.
func TestShortHit(t *testing.T) {
	w, tok := rentWorld(t, `{"key":"ent_9","data":{"id":"ent_9","note":"`+strings.Repeat("word ", 100)+`rent`+strings.Repeat(" word", 100)+`"}}`)
	short := func(target string) resttest.Answer { return w.Get(tok, target, "Prefer: pdpp-hit-preview=64").OK() }

	t.Run("REC-42 a complete text", func(t *testing.T) {
		a := short("/v1/search?q=rent&connection_id=cin_a1")
		const want = `{"object":"search_result","stream":"entries","record_key":"ent_31","connection_id":"cin_a1","connector_key":"ledgerly","display_name":"Joint account",` +
			`"authored_at":"2026-04-30T09:00:00Z","title":"April rent for the flat","fields":{"amount_minor":125000},` +
			`"snippet":{"field":"memo","text":"April <mark>rent</mark> for the flat","truncated":false}}`
		sameRaw(t, a, want, "data", "0")
		sameHeader(t, a, "Preference-Applied", "pdpp-hit-preview=64")
	})
	t.Run("REC-42 a truncated text of a record without title and time", func(t *testing.T) {
		want := `{"object":"search_result","stream":"entries","record_key":"ent_9","connection_id":"cin_b2","connector_key":"ledgerly","emitted_at":"2026-05-01T08:00:00.000Z",` +
			`"snippet":{"field":"note","text":"…` + strings.Repeat("word ", 6) + `<mark>rent</mark>` + strings.Repeat(" word", 6) + `…","start_chars":470,"total_chars":1004}}`
		sameRaw(t, short("/v1/search?q=rent&connection_id=cin_b2"), want, "data", "0")
	})
	t.Run("REC-42 rank, count and pages are the same", func(t *testing.T) {
		whole, a := w.Get(tok, "/v1/search?q=rent&limit=1").OK(), short("/v1/search?q=rent&limit=1")
		for _, path := range []string{"data.0.record_key", "meta.count.value", "has_more"} {
			if a.At(path) != whole.At(path) {
				t.Errorf("%s = %v, without the preference %v", path, a.At(path), whole.At(path))
			}
		}
		next := "/v1/search?q=rent&limit=1&cursor=" + a.At("next_cursor").(string)
		if got := w.Get(tok, next).OK().At("data.0.record_key"); got == a.At("data.0.record_key") {
			t.Errorf("the next page repeats %v", got)
		}
	})
	t.Run("REC-38 values out of range", func(t *testing.T) {
		for _, value := range []string{"63", "321", "some"} {
			a := w.Get(tok, "/v1/search?q=rent", "Prefer: pdpp-hit-preview="+value).OK()
			if a.Header.Get("Preference-Applied") != "" || a.At("data.0.evidence_card") == nil {
				t.Errorf("the value %s was applied", value)
			}
		}
	})
}

package rs_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestSearchOverConnections: a search over several connections returns one list (FANIN-1, on
// the side of the server).
func TestSearchOverConnections(t *testing.T) {
	w := ledger(t)
	for _, conn := range []string{"cin_a1", "cin_b2"} {
		for i := range 4 {
			w.Ingest(conn, "entries", fmt.Sprintf(`{"key":"%s_%d","data":{"id":"%s_%d","note":"insurance <mark> paid","posted_at":"2026-03-0%dT09:00:00Z"},"emitted_at":"2026-06-01T00:00:00Z"}`,
				conn, i, conn, i, i+1))
		}
	}
	w.Manifest(strings.Replace(testManifest(t, "../manifest/testdata/ledgerly.json"), `"lexical_fields": ["memo"]`, `"lexical_fields": ["memo", "note"]`, 1))
	tok := first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries"}]}`))
	a := w.Get(tok, "/v1/search?q=insurance&limit=5").OK()
	hits, _ := a.At("data").([]any)
	t.Run("FANIN-1 at most limit merged hits of all connections", func(t *testing.T) {
		seen := map[any]bool{}
		for _, h := range hits {
			seen[h.(map[string]any)["connection_id"]] = true
		}
		if len(hits) != 5 || len(seen) != 2 || fmt.Sprint(a.At("meta.count.value")) != "8" {
			t.Errorf("%d hits of %v, count %v, want 5 of 2 connections and 8", len(hits), seen, a.At("meta.count"))
		}
	})
	for i, raw := range hits {
		h := raw.(map[string]any)
		t.Run(fmt.Sprint("FANIN-1 identity, snippet and title of hit ", i), func(t *testing.T) {
			for _, key := range []string{"connection_id", "connector_key", "stream", "record_key"} {
				if s, _ := h[key].(string); s == "" {
					t.Errorf("%s is missing: %v", key, h)
				}
			}
			if name, labelled := h["display_name"]; labelled != (h["connection_id"] == "cin_a1") {
				t.Errorf("display_name of %v = %v, want one for cin_a1 only", h["connection_id"], name)
			}
			snippet := h["snippet"].(map[string]any)["text"].(string)
			if snippet != "<mark>insurance</mark>  paid" {
				t.Errorf("snippet %q, want one marked word", snippet)
			}
			title := h["evidence_card"].(map[string]any)["title"].(map[string]any)["text"].(string)
			if !strings.Contains(title, "/ entries / 2026-03-0") || strings.Contains(title, "insurance") || strings.Contains(title, "2026-06-01") {
				t.Errorf("title %q, want source, stream and posted_at", title)
			}
		})
	}
}

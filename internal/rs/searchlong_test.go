package rs_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"pdpp/internal/evidence"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
	"pdpp/internal/store"
)

// TestSearchReadsLongTextsInPart: the server reads a limited part of long fields for a hit,
// because anyone who can send the owner a message can make them long.
func TestSearchReadsLongTextsInPart(t *testing.T) {
	w := ledger(t)
	const far = 6 * evidence.MaxSearched
	prose := strings.Repeat("the letter goes on ", far/19+1)[:far] // few different words, so that all are indexed
	put := func(id, members string) {
		w.Ingest("cin_a1", "entries", fmt.Sprintf(`{"key":%q,"data":{"id":%q,%s}}`, id, id, members))
	}
	put("near", `"memo":"tale","note":`+quoted("once "+prose))
	put("far", `"memo":"saga","note":`+quoted(prose+" omega"))
	put("both", `"memo":"omega myth","note":`+quoted(prose+" omega"))
	put("cut", `"memo":"edge ome","note":`+quoted(prose[:evidence.MaxSearched-4]+" omegaverse "+prose))
	put("code", `"memo":"code","note":`+quoted(base64Bytes(far)))
	put("wide", `"memo":"wide","scan":{"mime_type":"image/png","size_bytes":9,"k":[`+strings.Repeat(`"ü",`, far/4)+`1]}`)
	owner := w.OwnerToken()
	counted, pieces := counting(w)
	search := func(t *testing.T, q string) resttest.Answer {
		t.Helper()
		pieces.Store(0)
		a := counted.Get(owner, "/v1/search?q="+q).OK()
		const most = 2 * evidence.MaxSearched / store.PieceChars // detection of binary text, beginning, excerpt
		if n := pieces.Load(); n > most {
			t.Errorf("%q: %d pieces read for a hit, want at most %d", q, n, most)
		}
		return a
	}
	t.Run("EX-6 a match near the beginning", func(t *testing.T) {
		a := search(t, "tale+once")
		expectHits(t, a, "entries/near@cin_a1")
		sameJSON(t, a.At("data.0.matched_fields"), `["memo","note"]`)
		text := a.At("data.0.evidence_excerpts.1.preview_text").(string)
		if !strings.HasPrefix(text, "<mark>once</mark> the letter") || a.At("data.0.evidence_excerpts.1.match_after_chars") != nil {
			t.Errorf("want an excerpt with the match at its start: %s", a.Body)
		}
		sameJSON(t, a.At("data.0.evidence_excerpts.1.total_chars"), fmt.Sprint(far+len("once ")))
	})
	t.Run("EX-6 a match beyond the part that is read", func(t *testing.T) {
		a := search(t, "omega+saga")
		expectHits(t, a, "entries/far@cin_a1")
		sameJSON(t, a.At("data.0.matched_fields"), `["memo","note"]`)
		const excerpt = "data.0.evidence_excerpts.1."
		sameJSON(t, a.At(excerpt+"highlighted"), `false`)
		sameJSON(t, a.At(excerpt+"provenance"), `"lexical_match"`)
		sameJSON(t, a.At(excerpt+"start_chars"), `0`)
		sameJSON(t, a.At(excerpt+"total_chars"), fmt.Sprint(far+len(" omega")))
		sameJSON(t, a.At(excerpt+"truncated"), `true`)
		sameJSON(t, a.At(excerpt+"match_after_chars"), fmt.Sprint(evidence.MaxSearched))
		window := w.Get(owner, a.At(excerpt+"read.href").(string)).OK()
		sameJSON(t, window.At("window.start_chars"), fmt.Sprint(evidence.MaxSearched))
	})
	t.Run("Q-7 the snippet is of a field whose match is shown", func(t *testing.T) {
		a := search(t, "omega+myth")
		sameJSON(t, a.At("data.0.matched_fields"), `["memo","note"]`)
		sameJSON(t, a.At("data.0.snippet"), `{"field":"memo","text":"<mark>omega</mark> <mark>myth</mark>"}`)
	})
	t.Run("Q-7 a truncated word does not match", func(t *testing.T) {
		sameJSON(t, search(t, "ome").At("data.0.matched_fields"), `["memo"]`)
	})
	t.Run("EX-8 long base64 text is detected by its beginning", func(t *testing.T) {
		a := search(t, "code")
		sameJSON(t, a.At("data.0.evidence_card.binary.0.kind"), `"base64_text"`)
		if size := a.At("data.0.evidence_card.binary.0.size_bytes"); size != nil {
			t.Errorf("size_bytes = %v, want none for a text that was read in part", size)
		}
	})
	t.Run("EX-8 a long object is not read", func(t *testing.T) {
		expectHits(t, search(t, "wide"), "entries/wide@cin_a1")
	})
}

// TestSearchPageReadsLongTextsInPart: the limit applies to a page with many long hits.
func TestSearchPageReadsLongTextsInPart(t *testing.T) {
	const hits = 40
	w := ledger(t)
	prose := strings.Repeat("the letter goes on ", 2*evidence.MaxSearched/19)
	for i := range hits {
		w.Ingest("cin_a1", "entries", fmt.Sprintf(`{"key":"l%d","data":{"id":"l%d","memo":"saga","note":%s}}`, i, i, quoted(prose+" omega")))
	}
	counted, pieces := counting(w)
	a := counted.Get(w.OwnerToken(), "/v1/search?limit=100&q=saga+omega").OK()
	if n := len(a.At("data").([]any)); n != hits {
		t.Errorf("%d hits, want %d", n, hits)
	}
	const most = (8*evidence.MaxSearched+hits*evidence.MaxDetected)/store.PieceChars + 3*hits // excerpts, detection of binary text, beginnings
	if n := pieces.Load(); n > most {
		t.Errorf("%d pieces read for a page, want at most %d", n, most)
	}
	for i := range hits {
		excerpt := fmt.Sprintf("data.%d.evidence_excerpts.1.", i)
		from := a.At(excerpt + "match_after_chars")
		window := w.Get(w.OwnerToken(), a.At(excerpt+"read.href").(string)).OK()
		if from == nil || fmt.Sprint(window.At("window.start_chars")) != fmt.Sprint(from) {
			t.Errorf("hit %d: match_after_chars = %v, but the window starts at %v", i, from, window.At("window.start_chars"))
		}
	}
}

// counting serves a world and counts the pieces of long values that are read.
func counting(w *resttest.World) (*resttest.World, *atomic.Int64) {
	c := &countedStore{Store: w.Store}
	return secondServer(w, func(cfg *server.Config) { cfg.Store = c }), &c.pieces
}

type countedStore struct {
	store.Store
	pieces atomic.Int64
}

func (c *countedStore) View(ctx context.Context, fn func(store.View) error) error {
	return c.Store.View(ctx, func(v store.View) error { return fn(countedView{v, &c.pieces}) })
}

type countedView struct {
	store.View
	pieces *atomic.Int64
}

func (v countedView) Long(ref store.Ref, stub store.Stub, from int, piece func([]byte) bool) error {
	return v.View.Long(ref, stub, from, func(p []byte) bool {
		v.pieces.Add(1)
		return piece(p)
	})
}

// TestSearchHitOfLongRecord: the hit is complete although the record is long.
func TestSearchHitOfLongRecord(t *testing.T) {
	w := ledger(t)
	filler := strings.Repeat("x", 9000)
	w.Ingest("cin_a1", "entries",
		`{"key":"big","data":{"id":"big","memo":"elephant rent","posted_at":"2026-04-30T09:00:00Z","hidden":"`+filler+`"}}`)
	tok := first(w.Grant(ledgerGrant))
	a := w.Get(tok, "/v1/search?q=elephant").OK()
	if a.At("data.0.record_key") != "big" || a.At("data.0.snippet.text") != "<mark>elephant</mark> rent" || a.At("data.0.evidence_card.title.text") != "elephant rent" {
		t.Errorf("hit %v, want key, snippet and title", a.At("data.0"))
	}
}

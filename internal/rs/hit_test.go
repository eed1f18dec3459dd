package rs_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"pdpp/internal/rs/resttest"
)

// searchHits returns the hits of a page as the server sent them, and the next cursor.
func searchHits(t *testing.T, a resttest.Answer) (hits []string, cursor string) {
	t.Helper()
	var page struct {
		Data []json.RawMessage `json:"data"`
		Next string            `json:"next_cursor"`
	}
	if err := json.Unmarshal([]byte(a.OK().Body), &page); err != nil {
		t.Fatal(err)
	}
	for _, raw := range page.Data {
		hits = append(hits, string(raw))
	}
	return hits, page.Next
}

// TestHitsDoNotAffectEachOther: a hit has the same bytes on a page of its own and among others
// although hits of a page share buffers.
func TestHitsDoNotAffectEachOther(t *testing.T) {
	w := ledger(t)
	long := strings.Repeat("Zeile mit ä und \"Zitat\". ", 60)
	for i, members := range []string{
		`"memo":"Rent with a note","note":"` + strings.ReplaceAll(long, `"`, `\"`) + `rent","posted_at":"2026-02-01"`,
		`"memo":"Rent","note":"short"`,
		`"note":"rent\nin the \u006eote alone","amount_minor":7`,
		`"memo":"rent rent","scan":{"blob_id":"blob_1","mime_type":"image/png","size_bytes":3}`,
		`"memo":"` + strings.Repeat("rent ", 300) + `","note":"Miete"`,
		`"memo":"the last rent"`,
	} {
		for _, connection := range []string{"cin_a1", "cin_b2"} {
			id := fmt.Sprintf("%s-%d", connection, i)
			w.Ingest(connection, "entries", fmt.Sprintf(`{"key":%q,"data":{"id":%q,%s}}`, id, id, members))
		}
	}
	for name, token := range map[string]string{
		"owner":              w.OwnerToken(),
		"grant without note": first(w.Grant(ledgerGrant)),
		"grant without memo": first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["id","note","scan"]}]}`)),
	} {
		t.Run(name, func(t *testing.T) {
			together, _ := searchHits(t, w.Get(token, "/v1/search?q=rent&limit=50"))
			var alone []string
			for cursor, more := "", true; more; more = cursor != "" {
				target := "/v1/search?q=rent&limit=1"
				if cursor != "" {
					target += "&cursor=" + url.QueryEscape(cursor)
				}
				var hits []string
				hits, cursor = searchHits(t, w.Get(token, target))
				alone = append(alone, hits...)
			}
			if len(together) < 4 || len(together) != len(alone) {
				t.Fatalf("Q-6 %d hits on one page, %d on single pages", len(together), len(alone))
			}
			for i := range alone {
				if alone[i] != together[i] {
					t.Errorf("Q-6 hit %d among others:\n%s\non its own page:\n%s", i, together[i], alone[i])
				}
			}
		})
	}
}

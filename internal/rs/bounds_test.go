package rs_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestBlobRequestEdgeCases has requests for which net/http alone would not follow B-7.
func TestBlobRequestEdgeCases(t *testing.T) {
	w, _ := album(t)
	tok := first(w.Grant(cabinetGrant))
	for _, header := range []string{`If-Match: "x"`, "If-Unmodified-Since: Mon, 02 Jan 2006 15:04:05 GMT"} {
		if a := w.Get(tok, pictureURL, header); a.Status != 200 || string(a.Body) != picture {
			t.Errorf("%s: status %d, body %q, want the picture", header, a.Status, a.Body)
		}
	}
	for _, suffix := range []string{"bytes=-0", "bytes= -0", "bytes=-00"} {
		refused(t, w.Get(tok, pictureURL, "Range: "+suffix), refusal{status: 416, code: "range_not_satisfiable"})
	}
	many := "Range: bytes=" + strings.TrimSuffix(strings.Repeat("0-0,", 500), ",")
	if a := w.Get(tok, pictureURL, many); a.Status != 200 || string(a.Body) != picture {
		t.Errorf("500 ranges: %d with %d bytes", a.Status, len(a.Body))
	}
	if a := w.Get(tok, pictureURL, "Range: bytes=0-0,2-3"); a.Status != http.StatusPartialContent {
		t.Errorf("two ranges: %d", a.Status)
	}
}

// TestWindowOfBlobReference: field window and record show a reference alike (REC-4).
func TestWindowOfBlobReference(t *testing.T) {
	w, _ := album(t)
	w.Ingest("cin_c1", "items", item("shot", `"scan":{"fetch_url":"https://elsewhere.test/x",`+blobRef(picture, "image/png")[1:]))
	tok := first(w.Grant(cabinetGrant))
	a := w.Get(tok, "/v1/streams/items/records/shot/field-window?field=scan&as=json").OK()
	text, _ := a.At("window.text").(string)
	if strings.Contains(text, "elsewhere") || !strings.Contains(text, `"fetch_url":"/v1/blobs/`) {
		t.Errorf("the window contains %s, want the fetch_url of the server", text)
	}
	cut := w.Get(tok, "/v1/streams/items/records/shot", "Prefer: pdpp-field-preview=64").OK()
	if got, want := cut.At("truncated_fields.scan.total_chars"), a.At("window.total_chars"); got != want {
		t.Errorf("the preview counts %v characters, the window %v", got, want)
	}
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
		t.Errorf("hit %v", a.At("data.0"))
	}
}

// TestCardOfManyBlobReferences: the card of a long list of references links to a field window
// instead of each blob.
func TestCardOfManyBlobReferences(t *testing.T) {
	w, _ := album(t)
	var refs []string
	for i := range 400 {
		refs = append(refs, fmt.Sprintf(`{"blob_id":"blob_%d","mime_type":"image/png"}`, i))
	}
	raw := testManifest(t, "testdata/cabinet.json")
	w.Manifest(strings.Replace(raw, `"query": {"range_filters": {"at"`, `"query": {"search": {"lexical_fields": ["title"]}, "range_filters": {"at"`, 1))
	w.Ingest("cin_c1", "items", item("many", `"title":"giraffe","pages":[`+strings.Join(refs, ",")+`]`))
	a := w.Get(first(w.Grant(cabinetGrant)), "/v1/search?q=giraffe").OK()
	if a.At("data.0.evidence_card.binary.0.kind") != "blob_reference" || a.At("data.0.evidence_card.binary.0.read.object") != "field_window_read" {
		t.Errorf("card %v", a.At("data.0.evidence_card"))
	}
}

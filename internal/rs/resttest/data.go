package resttest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pdpp"
	"pdpp/internal/ingest"
	"pdpp/internal/store"
)

// Worlds with data. Their manifests are files of other packages: they are for tests of
// packages directly below internal.

// Ledger returns a small household: two connections of one connector, of which only
// cin_a1 has a label, three entries and a receipt. The record ent_30 has a
// property that the manifest does not declare.
func Ledger(t testing.TB) *World {
	t.Helper()
	w := New(t)
	w.ManifestFile("../manifest/testdata/ledgerly.json")
	w.Connect("ledgerly", "cin_a1", "Joint account")
	w.Connect("ledgerly", "cin_b2", "")
	w.Ingest("cin_a1", "entries",
		`{"key":"ent_31","data":{"id":"ent_31","memo":"April rent","amount_minor":125000,"posted_at":"2026-04-30T09:00:00Z"}}`,
		`{"key":"ent_30","data":{"id":"ent_30","memo":"March rent","amount_minor":125000,"posted_at":"2026-03-30T09:00:00Z","secret":1}}`)
	w.Ingest("cin_b2", "entries",
		`{"key":"ent_29","data":{"id":"ent_29","memo":null,"posted_at":"2026-04-01T09:00:00Z"}}`)
	w.Ingest("cin_a1", "receipts", `{"key":"rc_9","data":{"id":"rc_9","entry_id":"ent_31"}}`)
	return w
}

// Cabinet returns a world with a connector that has every kind of field, key and relation, on the
// connections cin_c1 ("Left drawer") and cin_c2 (no label), without records.
func Cabinet(t testing.TB) *World {
	t.Helper()
	w := New(t)
	w.ManifestFile("../rs/testdata/cabinet.json")
	w.Connect("cabinet", "cin_c1", "Left drawer")
	w.Connect("cabinet", "cin_c2", "")
	return w
}

// Outside is a word in data of a house that grants do not cover.
const Outside = "Zebrafink"

// House returns a world for packages of grants: two accounts, cin_a1 ("Joint account") and
// cin_b2 (no label), and a mailbox, cin_m3 ("Work mail"), with 7, 7 and 3 records about the
// rent. Another account, cin_x9, the notes of cin_a1 and the bcc of mails contain Outside.
func House(t testing.TB) *World {
	t.Helper()
	w := New(t)
	w.ManifestFile("../manifest/testdata/ledgerly.json")
	w.ManifestFile("../session/testdata/post.json")
	w.Connect("ledgerly", "cin_a1", "Joint account")
	w.Connect("ledgerly", "cin_b2", "")
	w.Connect("ledgerly", "cin_x9", "Account of "+Outside)
	w.Connect("post", "cin_m3", "Work mail")
	for _, c := range []struct{ connection, memo, note string }{{"cin_a1", "", Outside}, {"cin_b2", "", "a note"}, {"cin_x9", Outside, Outside}} {
		for i := range 7 { // the longer the memo, the lower its rank
			w.Ingest(c.connection, "entries", fmt.Sprintf(`{"key":"%s_%d","data":{"id":"%[1]s_%[2]d","memo":"rent of month %[2]d%s %s","note":"%s","amount_minor":%[2]d,"posted_at":"2026-04-0%[6]dT09:00:00Z"}}`,
				c.connection, i, strings.Repeat(" and more", i), c.memo, c.note, i+1))
		}
	}
	w.Ingest("cin_a1", "receipts", `{"key":"rc_1","data":{"id":"rc_1","entry_id":"cin_a1_1"}}`)
	for i := range 3 {
		w.Ingest("cin_m3", "messages", fmt.Sprintf(`{"key":"m%d","data":{"id":"m%[1]d","subject":"The rent %[1]d","body":"is due","bcc":%q,"sent_at":"2026-04-0%dT09:00:00Z"}}`, i, Outside, i+1))
	}
	return w
}

// PutBlob stores a file of a connection.
func (w *World) PutBlob(connection, mediaType string, content []byte) store.Blob {
	w.T.Helper()
	b, err := ingest.PutBlob(w.T.Context(), w.Store, w.Blobs, ingest.Upload{
		Subject: w.Subject, Connection: pdpp.ConnectionID(connection), MediaType: mediaType, Content: bytes.NewReader(content),
	}, w.Now())
	if err != nil {
		w.T.Fatal(err)
	}
	return b
}

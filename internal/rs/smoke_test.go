package rs_test

import (
	"os"
	"testing"

	"pdpp/internal/rs/resttest"
)

func ledger(t testing.TB) *resttest.World {
	t.Helper()
	raw, err := os.ReadFile("../manifest/testdata/ledgerly.json")
	if err != nil {
		t.Fatal(err)
	}
	w := resttest.New(t)
	w.Manifest(string(raw))
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

func TestSmoke(t *testing.T) {
	w := ledger(t)
	tok, _ := w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["id","memo","posted_at"]},{"name":"receipts"}]}`)
	for _, target := range []string{"/", "/.well-known/oauth-protected-resource", "/healthz", "/readyz", "/v1/streams", "/v1/streams/entries", "/v1/schema?view=compact", "/v1/schema?view=compact&stream=entries",
		"/v1/streams/entries/records", "/v1/streams/entries/records?limit=1", "/v1/streams/entries/records?filter[memo]=April+rent&expand=receipts&count=exact", "/v1/streams/entries/records/ent_31?expand=receipts", "/v1/streams/entries/records?fields=amount_minor"} {
		a := w.Get(tok, target)
		t.Logf("%s\n%d %s", target, a.Status, a.Body)
	}
	t.Log(w.Log.String())
}

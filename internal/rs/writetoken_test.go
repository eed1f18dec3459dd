package rs_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/store"
)

// onFirstRead is a body that calls do before its first byte is read.
type onFirstRead struct {
	do   func()
	text io.Reader
}

func (r *onFirstRead) Read(p []byte) (int, error) {
	if r.do != nil {
		r.do()
		r.do = nil
	}
	return r.text.Read(p)
}

// expectContinue returns a client that sends a body only after the server has admitted the
// request and asked for it. The request needs the header "Expect: 100-continue".
func expectContinue(t testing.TB) *http.Client {
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Hour}}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// TestTokenEndsDuringWrite: a write has no effect if its token is revoked or expires after
// the request was admitted.
func TestTokenEndsDuringWrite(t *testing.T) {
	const line = `{"key":"new","data":{"id":"new"}}`
	for _, c := range []struct{ name, method, target, contentType, body string }{
		{"ingest", "POST", ingestPath, "application/x-ndjson", line},
		{"ingest of a delete", "POST", ingestPath, "application/x-ndjson", `{"key":"ent_31","op":"delete"}`},
		{"state", "PUT", statePath, "application/json", `{"state":{"entries":1}}`},
		{"blob", "POST", "/v1/blobs?connection_id=cin_a1", "text/plain", "words"},
	} {
		for end, do := range map[string]func(*resttest.World, pdpp.TokenID){
			"revoked": revokeToken,
			"expired": func(w *resttest.World, _ pdpp.TokenID) { w.Advance(2 * time.Hour) },
		} {
			t.Run("I-11 "+c.name+" "+end, func(t *testing.T) {
				w := ledger(t)
				other := w.OwnerToken()
				token, id := mint(w, store.Token{Kind: pdpp.TokenOwner})
				body := &onFirstRead{func() { do(w, id) }, strings.NewReader(c.body)}
				req := w.Request(c.method, token, c.target, body, "Content-Type: "+c.contentType, "Expect: 100-continue")
				a := w.Send(expectContinue(t), req)
				expectError(t, a, 401, pdpp.CodeInvalidToken)
				expectUnchanged(t, w, other)
				sameValue(t, w.Get(other, statePath).OK(), "updated_at", nil)
				if hasBlob(w, hashOf("words")) {
					t.Error("the blob was stored")
				}
			})
		}
	}
}

// hasBlob reports whether the store has the content for the owner of the world.
func hasBlob(w *resttest.World, sha256 string) (stored bool) {
	w.T.Helper()
	err := w.Store.View(w.T.Context(), func(v store.View) error {
		owner, err := v.OwnerNumber(w.Subject)
		if err != nil {
			return err
		}
		stored, err = v.HasBlob(owner, sha256)
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return stored
}

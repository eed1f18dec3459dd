package rs_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

// ownerTokenID gives a token of the owner and the id to revoke it by.
func ownerTokenID(w *resttest.World) (token string, id pdpp.TokenID) {
	w.T.Helper()
	token, id = secret.Token("pdpp_ot_"), pdpp.TokenID(secret.ID("tok_"))
	w.Update(func(tx store.Tx) error {
		return tx.CreateToken(store.Token{
			ID: id, Kind: pdpp.TokenOwner, Subject: w.Subject,
			IssuedAt: w.Now(), ExpiresAt: w.Now().Add(time.Hour),
		}, store.HashToken(token))
	})
	return token, id
}

// onFirstRead is a body that calls a function before its first byte.
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

// doUnderWay sends a request and calls do when the server begins to read the body, so
// after it let the request in.
func doUnderWay(w *resttest.World, method, token, target, body, contentType string, do func()) resttest.Answer {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), method, w.URL+target, &onFirstRead{do, strings.NewReader(body)})
	if err != nil {
		w.T.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {contentType}, "Expect": {"100-continue"}}
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Hour}}
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		w.T.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.T.Fatal(err)
	}
	return resttest.Answer{T: w.T, Status: res.StatusCode, Header: res.Header, Body: b}
}

func TestWritesOfEndedOwnerToken(t *testing.T) {
	const line = `{"key":"new","data":{"id":"new"}}`
	for _, c := range []struct{ name, method, target, contentType, body string }{
		{"ingest", "POST", ingestPath, "application/x-ndjson", line},
		{"ingest of a delete", "POST", ingestPath, "application/x-ndjson", `{"key":"ent_31","op":"delete"}`},
		{"state", "PUT", statePath, "application/json", `{"state":{"entries":1}}`},
		{"blob", "POST", "/v1/blobs?connection_id=cin_a1", "text/plain", "words"},
	} {
		for end, do := range map[string]func(*resttest.World, pdpp.TokenID){
			"revoked": func(w *resttest.World, id pdpp.TokenID) {
				w.Update(func(tx store.Tx) error {
					_, _, err := tx.RevokeToken(w.Subject, id, w.Now())
					return err
				})
			},
			"expired": func(w *resttest.World, _ pdpp.TokenID) { w.Advance(2 * time.Hour) },
		} {
			t.Run("I-11 "+c.name+" "+end, func(t *testing.T) {
				w := ledger(t)
				other := w.OwnerToken()
				token, id := ownerTokenID(w)
				a := doUnderWay(w, c.method, token, c.target, c.body, c.contentType, func() { do(w, id) })
				expect(t, a, 401, pdpp.CodeInvalidToken)
				unchanged(t, w, other)
				if got := w.Get(other, statePath).OK().At("updated_at"); got != nil {
					t.Errorf("state was written at %v", got)
				}
				if hasBlob(w, hashOf("words")) {
					t.Error("the blob is known")
				}
			})
		}
	}
}

// hasBlob tells whether the store knows the content for the world's owner.
func hasBlob(w *resttest.World, sha256 string) (known bool) {
	w.T.Helper()
	err := w.Store.View(w.T.Context(), func(v store.View) error {
		owner, err := v.OwnerNumber(w.Subject)
		if err != nil {
			return err
		}
		known, err = v.HasBlob(owner, sha256)
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return known
}

package rs_test

import (
	"fmt"
	"strings"
	"testing"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

// TestCursorIsInvalidAfterNewOrder: a new manifest with another cursor field changes the order
// of records. An older cursor would skip or repeat some (C-38).
func TestCursorIsInvalidAfterNewOrder(t *testing.T) {
	w, _ := longLedger(t)
	tok := w.OwnerToken()
	cursor := nextCursor(t, w.Get(tok, entriesPath+"?limit=2"))
	w.Get(tok, entriesPath+"?limit=2&cursor="+cursor).OK()
	raw := testManifest(t, "../manifest/testdata/ledgerly.json")
	w.Manifest(strings.Replace(raw, `"cursor_field": "posted_at", `, "", 1))
	expectError(t, w.Get(tok, entriesPath+"?limit=2&cursor="+cursor), 400, pdpp.CodeInvalidCursor)
}

// TestGrantOfAnotherSubject: a grant whose document names another owner than its token is
// invalid (C-15, C-21).
func TestGrantOfAnotherSubject(t *testing.T) {
	w := ledger(t)
	_, id := w.Grant(ledgerGrant)
	other := w.As(w.Owner("other"))
	token := secret.Token("pdpp_at_")
	other.Update(func(tx store.Tx) error {
		foreign, err := tx.Grant(w.Subject, id)
		if err != nil {
			return err
		}
		client := store.Client{ID: "cli_other", Name: "other", RegistrationMode: "operator", CreatedAt: w.Now()}
		if err := tx.CreateClient(other.Subject, client); err != nil {
			return err
		}
		g, err := grant.ParseDocument(foreign.Document, foreign.ConnectorKey)
		if err != nil {
			return err
		}
		g.ID = "grt_other"
		err = tx.CreateGrant(store.Grant{
			ID: g.ID, Subject: other.Subject, Client: client, ConnectorKey: g.ConnectorKey,
			Document: grant.Document(g), IssuedAt: w.Now(),
		})
		if err != nil {
			return err
		}
		return tx.CreateToken(store.Token{
			ID: "tok_other", Kind: pdpp.TokenClient, Subject: other.Subject, Client: client.ID, Grant: g.ID,
			Audience: []string{"rest"}, IssuedAt: w.Now(), ExpiresAt: w.Now().AddDate(0, 0, 1),
		}, store.HashToken(token))
	})
	expectError(t, w.Get(token, entriesPath), 403, pdpp.CodeGrantInvalid)
}

// TestPageSizeBoundsChildren: the page size also limits expanded children (REC-26).
func TestPageSizeBoundsChildren(t *testing.T) {
	w := ledger(t)
	for i := range 20 {
		w.Ingest("cin_a1", "receipts", fmt.Sprintf(`{"key":"big%d","data":{"id":"big%d","entry_id":"ent_31","tags":[%q]}}`, i, i, strings.Repeat("x", 2000)))
	}
	tok := first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries"},{"name":"receipts"}]}`))
	a := w.Get(tok, entriesPath+"?filter[id]=ent_31&expand=receipts&expand_limit[receipts]=20", "Prefer: pdpp-page-bytes=4096").OK()
	children, _ := a.At("data.0.expanded.receipts.data").([]any)
	if len(children) == 0 || len(children) > 4 || a.At("data.0.expanded.receipts.has_more") != true {
		t.Errorf("%d children, has_more %v", len(children), a.At("data.0.expanded.receipts.has_more"))
	}
	whole := w.Get(tok, entriesPath+"?filter[id]=ent_31&expand=receipts&expand_limit[receipts]=50").OK()
	if children, _ := whole.At("data.0.expanded.receipts.data").([]any); len(children) != 21 {
		t.Errorf("%d children without page size, want 21", len(children))
	}
}

// TestContentLengthLimit: a request is refused by its Content-Length, before its body is read
// (I-3).
func TestContentLengthLimit(t *testing.T) {
	w := ledger(t)
	req := localRequest(t.Context(), "POST", w.OwnerToken(), ingestPath, unreadableBody{})
	req.ContentLength = 50<<20 + 1
	req.Header.Set("Content-Type", "application/x-ndjson")
	refused(t, handle(w, req), refusal{status: 413, code: "resource_limit"})
}

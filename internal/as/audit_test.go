package as_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/consent"
	"pdpp/internal/store"
)

// audits returns the audit rows of the owner since the last call, the oldest first, as
// "action by actor". Each must have a client and an access.
func (w *world) audits(seen *int) (out []string) {
	w.T.Helper()
	var rows []store.Audit
	err := w.Store.View(w.T.Context(), func(v store.View) (err error) {
		rows, err = v.Audits(w.Subject, 1000)
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
	for i := len(rows) - 1 - *seen; i >= 0; i-- {
		a := rows[i]
		out = append(out, fmt.Sprintf("%s by %s", a.Action, a.Actor))
		if hasAccess := a.Grant != "" || a.Package != ""; a.Client == "" || hasAccess == (a.Action == store.RequestDenied) {
			w.T.Errorf("the row %+v lacks its client or its grant", a)
		}
		if a.Actor == store.ByClient && (!strings.HasPrefix(a.RequestID, "req_") || a.Address != "127.0.0.1") {
			w.T.Errorf("the row %+v lacks its request or address", a)
		}
	}
	*seen = len(rows)
	return out
}

// H-197, S21: every change of rights has an audit row; renewals have none.
func TestH197ChangesHaveAuditRows(t *testing.T) {
	w := newWorld(t)
	client, seen := w.client(), 0
	expect := func(what string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, w.audits(&seen)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		w.Advance(time.Minute)
	}
	first := w.connect(client, consent.DurationForever, "cin_work/messages")
	expect("an approval", "grant_created by owner")
	second := w.connect(client, consent.DurationForever, "cin_work/messages", "cin_home/messages")
	expect("an approval of two sources", "grant_created by owner", "grant_created by owner", "package_created by owner")
	id := w.authorize(w.authorization(client))
	w.choose(id, consent.DurationForever, "cin_work/messages")
	for range 2 {
		if _, err := w.as.Deny(t.Context(), w.URL, id, w.Subject); err != nil {
			t.Fatal(err)
		}
	}
	expect("a denial, repeated", "request_denied by owner")

	renewed := w.token(refreshing(client, text(first, "refresh_token"))).OK()
	w.token(refreshing(client, text(renewed, "refresh_token"))).OK()
	expect("renewals")
	wantError(t, w.token(refreshing(client, text(first, "refresh_token"))), 400, "invalid_grant")
	expect("a superseded refresh token", "refresh_replayed by client")
	w.post("/oauth/revoke", params("token", text(second, "refresh_token"))).OK()
	expect("a client gives its access back", "tokens_revoked by client", "package_revoked by client")

	code := w.code(client, consent.DurationForever, "cin_work/contacts")
	w.token(redemption(client, code)).OK()
	wantError(t, w.token(redemption(client, code)), 400, "invalid_grant")
	expect("a code that is used twice", "grant_created by owner", "code_replayed by client", "grant_revoked by client")

	third := w.connect(client, consent.DurationForever, "cin_work/contacts")
	w.post("/oauth/revoke", params("token", text(third, "access_token"))).OK()
	expect("one access token", "grant_created by owner", "token_revoked by client")
	w.do("POST", "/grants/"+string(grantID(third, 0))+"/revoke", "", "", "Authorization: Bearer "+w.OwnerToken()).OK()
	expect("the owner by the API", "grant_revoked by owner", "tokens_revoked by owner")
	if err := w.as.RevokeClient(t.Context(), w.Subject, pdpp.ClientID(client)); err != nil {
		t.Fatal(err)
	}
	expect("the whole client: what is left", "grant_revoked by owner")
}

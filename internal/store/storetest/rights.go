package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pdpp"
	"pdpp/internal/store"
)

var rightTests = []test{
	{"clients", testClients},
	{"grants", testGrants},
	{"tokens", testTokens},
	{"principal", testPrincipal},
	{"revocation", testRevocation},
	{"touch", testTouch},
	{"rights of others", testRightsOfOthers},
}

var tally = store.Client{ID: "cli_tally", Name: "Tally", RegistrationMode: "operator", CreatedAt: at(1)}

func grantNo(w *world, id pdpp.GrantID, issued int) store.Grant {
	return store.Grant{
		ID: id, Subject: w.subject, Client: tally, ConnectorKey: "ledger",
		Document: []byte(`{"version":"0.1.0","n":1.50}`), IssuedAt: at(issued),
	}
}

func tokenNo(w *world, id pdpp.TokenID, g pdpp.GrantID) store.Token {
	t := store.Token{
		ID: id, Kind: pdpp.TokenOwner, Subject: w.subject, Audience: []string{"rest", "mcp"}, Label: "laptop",
		IssuedAt: at(3), ExpiresAt: at(1000),
	}
	if g != "" {
		t.Kind, t.Grant, t.Client = pdpp.TokenClient, g, tally.ID
	}
	return t
}

// rightsWorld returns a world with a client, two grants, and a token each of the first
// grant and of the owner.
func rightsWorld(t *testing.T, open Opener) *world {
	w := newWorld(t, open)
	w.update(func(tx store.Tx) error {
		if err := tx.CreateClient(w.subject, tally); err != nil {
			return err
		}
		second := grantNo(w, "grt_2", 20)
		second.ExpiresAt, second.Consumed = at(500), true
		for _, g := range []store.Grant{grantNo(w, "grt_1", 10), second} {
			if err := tx.CreateGrant(g); err != nil {
				return err
			}
		}
		if err := tx.CreateToken(tokenNo(w, "tok_1", "grt_1"), store.HashToken("one")); err != nil {
			return err
		}
		return tx.CreateToken(tokenNo(w, "tok_own", ""), store.HashToken("own"))
	})
	return w
}

func testClients(t *testing.T, open Opener) {
	w := rightsWorld(t, open)
	dynamic := store.Client{ID: "cli_dyn", Name: "Dyn", RegistrationMode: "dynamic", CreatedAt: at(2)}
	w.update(func(tx store.Tx) error { return tx.CreateClient(w.subject, dynamic) })
	w.view(func(v store.View) error {
		for _, key := range []string{"cli_tally", "Tally"} {
			got, err := v.Client(w.subject, key)
			if diff := cmp.Diff(tally, got); err != nil || diff != "" {
				t.Errorf("Client(%s) = %v (-want +got):\n%s", key, err, diff)
			}
		}
		if _, err := v.Client(w.subject, "cli_dyn"); err != nil {
			t.Errorf("Client by id = %v", err)
		}
		for _, key := range []string{"Dyn", "nobody", ""} {
			if _, err := v.Client(w.subject, key); pdpp.CodeOf(err) != pdpp.CodeNotFound {
				t.Errorf("Client(%q) = %v, want not_found", key, err)
			}
		}
		return nil
	})
}

func testGrants(t *testing.T, open Opener) {
	w := rightsWorld(t, open)
	first, second := grantNo(w, "grt_1", 10), grantNo(w, "grt_2", 20)
	second.ExpiresAt, second.Consumed = at(500), true
	w.view(func(v store.View) error {
		got, err := v.Grants(w.subject, store.GrantFilter{})
		if diff := cmp.Diff([]store.Grant{second, first}, got); err != nil || diff != "" {
			t.Errorf("Grants = %v (-want +got):\n%s", err, diff)
		}
		if got, _ := v.Grants(w.subject, store.GrantFilter{Client: "cli_other"}); len(got) != 0 {
			t.Errorf("Grants of another client = %v", got)
		}
		if got, _ := v.Grants(w.subject, store.GrantFilter{Client: tally.ID}); len(got) != 2 {
			t.Errorf("Grants of the client = %v", got)
		}
		one, err := v.Grant(w.subject, "grt_1")
		if diff := cmp.Diff(first, one); err != nil || diff != "" {
			t.Errorf("Grant = %v (-want +got):\n%s", err, diff)
		}
		if _, err := v.Grant(w.subject, "grt_9"); pdpp.CodeOf(err) != pdpp.CodeNotFound {
			t.Errorf("Grant of an unknown id = %v, want not_found", err)
		}
		return nil
	})
}

func testTokens(t *testing.T, open Opener) {
	w := rightsWorld(t, open)
	w.view(func(v store.View) error {
		for id, want := range map[pdpp.GrantID][]store.Token{
			"grt_1": {tokenNo(w, "tok_1", "grt_1")}, "grt_2": nil, "": {tokenNo(w, "tok_own", "")},
		} {
			got, err := v.Tokens(w.subject, id)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("Tokens(%q) = %v (-want +got):\n%s", id, err, diff)
			}
		}
		return nil
	})
}

func testPrincipal(t *testing.T, open Opener) {
	w := rightsWorld(t, open)
	generation := w.catalog().Generation
	g := grantNo(w, "grt_1", 10)
	w.view(func(v store.View) error {
		got, err := v.Token(store.HashToken("one"))
		want := principalOf(tokenNo(w, "tok_1", "grt_1"), generation)
		want.Grant = &store.GrantState{ID: g.ID, ConnectorKey: g.ConnectorKey, Client: g.Client.ID, Consumed: g.Consumed, ExpiresAt: g.ExpiresAt}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("Token = %v (-want +got):\n%s", err, diff)
		}
		got, err = v.Token(store.HashToken("own"))
		want = principalOf(tokenNo(w, "tok_own", ""), generation)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("owner's Token = %v (-want +got):\n%s", err, diff)
		}
		if _, err := v.Token(store.HashToken("none")); pdpp.CodeOf(err) != pdpp.CodeNotFound {
			t.Errorf("Token of an unknown hash = %v, want not_found", err)
		}
		return nil
	})
}

// principalOf returns the principal of a token that is not revoked.
func principalOf(k store.Token, generation int64) store.Principal {
	return store.Principal{
		ID: k.ID, Kind: k.Kind, Subject: k.Subject, Audience: k.Audience, ExpiresAt: k.ExpiresAt, Generation: generation,
	}
}

func testRevocation(t *testing.T, open Opener) {
	w := rightsWorld(t, open)
	for i, wantAlready := range []bool{false, true} {
		w.update(func(tx store.Tx) error {
			g, already, err := tx.RevokeGrant(w.subject, "grt_1", at(50+i))
			if err == nil && (already != wantAlready || !g.Revoked || !g.RevokedAt.Equal(at(50)) || g.ID != "grt_1") {
				t.Errorf("RevokeGrant no. %d = %+v, already %v", i+1, g, already)
			}
			return err
		})
		w.update(func(tx store.Tx) error {
			k, already, err := tx.RevokeToken(w.subject, "tok_own", at(60+i))
			if err == nil && (already != wantAlready || !k.RevokedAt.Equal(at(60)) || k.ID != "tok_own") {
				t.Errorf("RevokeToken no. %d = %+v, already %v", i+1, k, already)
			}
			return err
		})
	}
	w.view(func(v store.View) error {
		// The store does not check validity: it returns a revoked token with its state.
		p, err := v.Token(store.HashToken("one"))
		if err != nil || p.Grant == nil || !p.Grant.Revoked || p.Revoked {
			t.Errorf("Token of a revoked grant = %+v, %v", p, err)
		}
		p, err = v.Token(store.HashToken("own"))
		if err != nil || p.Live(at(61)) {
			t.Errorf("revoked Token = %+v, %v", p, err)
		}
		return nil
	})
	err := w.store.Update(t.Context(), func(tx store.Tx) error {
		_, _, err := tx.RevokeGrant(w.subject, "grt_9", at(0))
		return err
	})
	if pdpp.CodeOf(err) != pdpp.CodeNotFound {
		t.Errorf("RevokeGrant of an unknown id = %v, want not_found", err)
	}
	err = w.store.Update(t.Context(), func(tx store.Tx) error {
		_, _, err := tx.RevokeToken(w.subject, "tok_9", at(0))
		return err
	})
	if pdpp.CodeOf(err) != pdpp.CodeNotFound {
		t.Errorf("RevokeToken of an unknown id = %v, want not_found", err)
	}
}

func testTouch(t *testing.T, open Opener) {
	w := rightsWorld(t, open)
	used := map[store.Use]time.Time{{Token: "tok_1", Grant: "grt_1"}: at(70), {Token: "tok_own"}: at(71), {Token: "tok_gone", Grant: "grt_gone"}: at(72)}
	w.update(func(tx store.Tx) error { return tx.TouchTokens(used) })
	// A late report of an earlier use does not turn the clock back.
	w.update(func(tx store.Tx) error {
		return tx.TouchTokens(map[store.Use]time.Time{{Token: "tok_1", Grant: "grt_1"}: at(40)})
	})
	w.view(func(v store.View) error {
		g, err := v.Grant(w.subject, "grt_1")
		if err != nil || !g.LastUsedAt.Equal(at(70)) {
			t.Errorf("grant of a touched token = %+v, %v", g, err)
		}
		for id, want := range map[pdpp.GrantID]time.Time{"grt_1": at(70), "": at(71)} {
			tokens, err := v.Tokens(w.subject, id)
			if err != nil || len(tokens) == 0 || !tokens[0].LastUsedAt.Equal(want) {
				t.Errorf("touched tokens of %q = %+v, %v", id, tokens, err)
			}
		}
		other, err := v.Grant(w.subject, "grt_2")
		if err != nil || !other.LastUsedAt.IsZero() {
			t.Errorf("grant without a used token = %+v, %v", other, err)
		}
		return nil
	})
}

// testRightsOfOthers: an id does not give access to another subject's rights (C-21).
func testRightsOfOthers(t *testing.T, open Opener) {
	w := rightsWorld(t, open)
	bea := subjectIn(t, w.store, "bea")
	hidden := map[string]func(store.Tx) error{
		"Grant":       func(tx store.Tx) error { _, err := tx.Grant(bea.subject, "grt_1"); return err },
		"Client":      func(tx store.Tx) error { _, err := tx.Client(bea.subject, "cli_tally"); return err },
		"RevokeGrant": func(tx store.Tx) error { _, _, err := tx.RevokeGrant(bea.subject, "grt_1", at(1)); return err },
		"RevokeToken": func(tx store.Tx) error { _, _, err := tx.RevokeToken(bea.subject, "tok_1", at(1)); return err },
	}
	for name, call := range hidden {
		if err := w.store.Update(t.Context(), call); pdpp.CodeOf(err) != pdpp.CodeNotFound {
			t.Errorf("%s of another subject = %v, want not_found", name, err)
		}
	}
	w.view(func(v store.View) error {
		grants, err := v.Grants(bea.subject, store.GrantFilter{})
		if len(grants) != 0 {
			t.Errorf("another subject has the grants %v", grants)
		}
		tokens, _ := v.Tokens(bea.subject, "grt_1")
		if len(tokens) != 0 {
			t.Errorf("another subject has the tokens %v", tokens)
		}
		return err
	})
}

package as_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/as"
	"pdpp/internal/consent"
	"pdpp/internal/store"
)

func TestH184DoubleSubmit(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	approval := w.choose(w.authorize(w.authorization(client)), consent.Duration30d, "cin_work/messages")
	first := w.approve(approval).Get("code")
	second := w.approve(approval).Get("code")
	if n := len(w.grants()); n != 1 {
		t.Fatalf("two clicks created %d grants", n)
	}
	// The browser shows the answer to the last click.
	w.token(redemption(client, second)).OK()
	wantError(t, w.token(redemption(client, first)), 400, "invalid_grant")
	if _, err := w.as.Approve(t.Context(), approval); !errors.Is(err, as.ErrDecided) {
		t.Errorf("Approve after the code was used = %v, want ErrDecided", err)
	}
	if _, err := w.as.Deny(t.Context(), w.URL, approval.Request, w.Subject); !errors.Is(err, as.ErrDecided) {
		t.Errorf("Deny after approval = %v, want ErrDecided", err)
	}
}

func TestH184SecondApprovalAfterTheCodeExpired(t *testing.T) {
	w := newWorld(t)
	approval := w.choose(w.authorize(w.authorization(w.client())), consent.Duration30d, "cin_work/messages")
	w.approve(approval)
	w.Advance(time.Minute)
	if next, err := w.as.Approve(t.Context(), approval); !errors.Is(err, as.ErrDecided) {
		t.Errorf("Approve = %s, %v; want ErrDecided", next, err)
	}
}

func TestH144DenyIsFinal(t *testing.T) {
	w := newWorld(t)
	approval := w.choose(w.authorize(w.authorization(w.client())), consent.Duration30d, "cin_work/messages")
	first, err := w.as.Deny(t.Context(), w.URL, approval.Request, w.Subject)
	if err != nil || !strings.HasPrefix(first, callback+"?error=access_denied&") {
		t.Fatalf("Deny = %s, %v", first, err)
	}
	if again, err := w.as.Deny(t.Context(), w.URL, approval.Request, w.Subject); err != nil || again != first {
		t.Errorf("Deny again = %s, %v; want %s", again, err, first)
	}
	if _, err := w.as.Approve(t.Context(), approval); !errors.Is(err, as.ErrDecided) {
		t.Errorf("Approve after denial = %v, want ErrDecided", err)
	}
	if n := len(w.grants()); n != 0 {
		t.Errorf("a denied request created %d grants", n)
	}
}

func TestH184ChangedOfferNeedsAnotherReview(t *testing.T) {
	w := newWorld(t)
	approval := w.choose(w.authorize(w.authorization(w.client())), consent.Duration30d, "cin_work/messages")
	forged := approval
	forged.Digest = strings.Repeat("0", 64)
	if _, err := w.as.Approve(t.Context(), forged); !errors.Is(err, as.ErrChanged) {
		t.Errorf("Approve with another digest = %v, want ErrChanged", err)
	}
	// The manifest changes between review and approval.
	w.Manifest(strings.Replace(mailManifest, `"subject": {"type": "string"}, `, ``, 1))
	if _, err := w.as.Approve(t.Context(), approval); !errors.Is(err, as.ErrChanged) {
		t.Errorf("Approve after a change of the manifest = %v, want ErrChanged", err)
	}
	if n := len(w.grants()); n != 0 {
		t.Fatalf("%d grants were created without a review", n)
	}
	w.approve(w.choose(approval.Request, consent.Duration30d, "cin_work/contacts"))
	if n := len(w.grants()); n != 1 {
		t.Errorf("%d grants after another review, want 1", n)
	}
}

func TestH184ApprovalNeedsAChoice(t *testing.T) {
	w := newWorld(t)
	id := w.open(w.authorize(w.authorization(w.client())))
	if _, err := w.as.Approve(t.Context(), as.Approval{Request: id, Subject: w.Subject, Base: w.URL}); !errors.Is(err, as.ErrChanged) {
		t.Errorf("Approve without a review = %v, want ErrChanged", err)
	}
}

func TestH182ReplacedGrantsEnd(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	old := w.connect(client, consent.Duration30d, "cin_work/messages")
	oldPackage := w.connect(client, consent.Duration30d, "cin_work/messages", "cin_home/messages")
	id := w.authorize(w.authorization(client))
	approval := w.choose(id, consent.Duration30d, "cin_work/contacts")
	req, err := w.as.Request(t.Context(), id, w.Subject)
	if err != nil {
		t.Fatal(err)
	}
	ch := *req.Choice
	ch.Replace = []string{text(old, "grant_id"), text(oldPackage, "grant_package_id")}
	if _, err := w.as.Approve(t.Context(), approval); err != nil {
		t.Fatal(err)
	}
	if !w.isLive(text(old, "access_token")) {
		t.Fatal("a grant ended that was not to be replaced")
	}
	next := w.authorize(w.authorization(client))
	w.open(next)
	w.approve(w.review(next, ch))
	if w.isLive(text(old, "access_token")) {
		t.Error("the replaced grant is still usable")
	}
	for _, refresh := range []string{text(old, "refresh_token"), text(oldPackage, "refresh_token")} {
		wantError(t, w.token(refreshing(client, refresh)), 400, "invalid_grant")
	}
}

func TestH182OnlyTheClientsOwnGrantsAreReplaced(t *testing.T) {
	w := newWorld(t)
	theirs := w.connect(w.client(), consent.Duration30d, "cin_work/messages")
	id := w.authorize(w.authorization(w.client()))
	w.choose(id, consent.Duration30d, "cin_work/contacts")
	req, err := w.as.Request(t.Context(), id, w.Subject)
	if err != nil {
		t.Fatal(err)
	}
	for _, grant := range []string{text(theirs, "grant_id"), "grt_unknown", "gpkg_unknown"} {
		ch := *req.Choice
		ch.Replace = []string{grant}
		if _, err := w.as.Approve(t.Context(), w.review(id, ch)); !errors.Is(err, as.ErrChanged) {
			t.Errorf("replacing %s = %v, want ErrChanged", grant, err)
		}
	}
	if !w.isLive(text(theirs, "access_token")) {
		t.Error("the grant of another client was revoked")
	}
}

func TestH149SingleUse(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	for _, streams := range [][]string{{"cin_work/messages"}, {"cin_work/messages", "cin_home/messages"}} {
		a := w.connect(client, consent.DurationOnce, streams...)
		if text(a, "refresh_token") != "" || text(a, "authorization_details.0.access_mode") != "single_use" {
			t.Errorf("a single-use grant: %s", a.Body)
		}
		if seconds := fmt.Sprint(a.At("expires_in")); seconds != "86400" {
			t.Errorf("expires_in = %s, want a day", seconds)
		}
	}
	for _, g := range w.grants() {
		if g.Status(w.Now()) != pdpp.GrantConsumed {
			t.Errorf("grant %s is %s, want consumed", g.ID, g.Status(w.Now()))
		}
	}
}

func TestH148GrantIsFrozen(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	v := with(w.authorization(client), "authorization_details",
		`[{"type":"https://pdpp.dev/data-access","source":{"connector_key":"mail"},"streams":[{"name":"messages","fields":["subject"],"instance_ids":["cin_work"]}]}]`)
	a := w.token(redemption(client, w.approve(w.choose(w.authorize(v), consent.Duration7d, "cin_work/messages")).Get("code"))).OK()
	w.Manifest(strings.Replace(mailManifest, `"subject": {"type": "string"}, `, `"subject": {"type": "string"}, "secret": {"type": "string"}, `, 1))
	w.Ingest("cin_work", "messages", `{"key":"m2","data":{"id":"m2","subject":"Later","secret":"hush","sent_at":"2026-04-02T10:00:00Z"},"emitted_at":"2026-04-02T10:00:00Z"}`)
	renewed := w.token(refreshing(client, text(a, "refresh_token"))).OK()
	body := string(w.Get(text(renewed, "access_token"), "/v1/streams/messages/records").OK().Body)
	if !strings.Contains(body, "Later") || strings.Contains(body, "hush") || strings.Contains(body, "sent_at\":") {
		t.Errorf("the grant covers more than was approved: %s", body)
	}
}

func TestH153ApprovedClientsAreKept(t *testing.T) {
	w := newWorld(t)
	client, unused := w.client(), w.client()
	w.connect(client, consent.DurationForever, "cin_work/messages")
	w.Advance(91 * 24 * time.Hour)
	w.Update(func(tx store.Tx) error {
		_, err := tx.PruneEntries(w.Now(), 1000)
		return err
	})
	if a := w.do("GET", "/oauth/authorize?"+w.authorization(unused).Encode(), "", ""); a.Status != 400 {
		t.Errorf("a client without a grant is known after 91 days: %d", a.Status)
	}
	w.authorize(w.authorization(client))
}

// Several owners may use one client: what it has of one says nothing about another.
func TestH144TwoOwnersOfOneClient(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	w.connect(client, consent.Duration7d, "cin_work/messages")
	bea := &world{World: w.As(w.Owner("bea")), as: w.as, URL: w.URL}
	bea.Manifest(mailManifest)
	bea.Connect("mail", "cin_bea", "Bea's mail")
	a := bea.connect(client, consent.Duration7d, "cin_bea/messages")
	if got := text(a, "authorization_details.0.streams.0.instance_ids.0"); got != "cin_bea" {
		t.Errorf("the second owner granted %q", got)
	}
}

package pages_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

func TestH185GrantsPage(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	b.get("/owner/grants").wants(200, "Nobody can read anything at the moment.")
	_, token := b.connect("Tally", "stream", "3", "field.3", "subject", "until.3", "2026-04-30", "duration", "30d")
	b.get("/owner/grants").wants(200, "Tally", "registered itself", "Work mail", "messages", "Until 30 April 2026", "31 May 2026", "never", "active")
	id := string(w.grants()[0].ID)
	b.get("/owner/grants/"+id).wants(200, "Work mail, for “Tally”", id, "Fields id, subject", "Personal AI assistant", "rest", "active").lacks(token)
	b.get("/owner/grants/grt_none").wants(http.StatusNotFound)
	b.get("/owner").wants(200, "1 program can read some of it")
}

func TestH185RevokeAGrant(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	_, token := b.connect("Tally", "stream", "3", "duration", "30d")
	path := "/owner/grants/" + string(w.grants()[0].ID) + "/revoke"
	b.get(path).wants(200, "Revoke this access?", "“Tally” will no longer be able to read: mail: messages", "Keep it")
	if !w.isLive(token) {
		t.Fatal("opening the confirmation revoked the grant")
	}
	b.submit(path).leadsTo("/owner/grants")
	if a := w.Get(token, "/v1/streams"); a.Status != http.StatusForbidden && a.Status != http.StatusUnauthorized {
		t.Errorf("the next call: %d %s", a.Status, a.Body)
	}
	b.get("/owner/grants").wants(200, "Revoked. The next request with it is refused.", "revoked").lacks("Revoke all of it")
	b.get("/owner/grants").lacks("Revoked. The next")
	w.Advance(6 * 24 * time.Hour)
	b = w.signedIn(w.Subject)
	b.get("/owner/grants").wants(200, "Tally")
	w.Advance(85 * 24 * time.Hour) // ended grants stay listed for 90 days
	w.signedIn(w.Subject).get("/owner/grants").wants(200).lacks("Tally")
}

// TestH164MisuseIsShown: an owner sees that the code of a client was used twice.
func TestH164MisuseIsShown(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	client := w.register("Tally", callback)
	path := w.ask(client, callback)
	b.choose(path, "stream", "3", "duration", "30d")
	code := b.approve(path).location().Query().Get("code")
	w.redeem(client, code)
	b.get("/owner/grants").wants(200, "Tally").lacks("used twice")
	w.browser().send(http.MethodPost, "/oauth/token", url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "client_id": {client}, "redirect_uri": {callback}, "code_verifier": {strings.Repeat("x", 43)},
	}.Encode(), "Content-Type: application/x-www-form-urlencoded")
	b.get("/owner/grants").wants(200, "a token of this program was used twice", "revoked")
}

func TestH185RevokeAPackage(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	client := w.register("Tally", callback)
	path := w.ask(client, callback, "resource", w.URL+"/mcp")
	b.choose(path, "stream", "1", "stream", "3", "duration", "30d")
	w.redeem(client, b.approve(path).location().Query().Get("code"))
	grants := w.grants()
	if len(grants) != 2 || grants[0].Package == "" {
		t.Fatalf("grants: %+v", grants)
	}
	b.get("/owner/grants/"+string(grants[0].ID)).wants(200, "one approval for 2 sources", "Revoke the whole approval")
	revoke := "/owner/packages/" + string(grants[0].Package) + "/revoke"
	b.get(revoke).wants(200, "mail: messages")
	b.submit(revoke).leadsTo("/owner/grants")
	for _, g := range w.grants() {
		if g.Status(w.Now()) != pdpp.GrantRevoked {
			t.Errorf("grant %+v", g)
		}
	}
	b.get(revoke).wants(http.StatusNotFound)
}

// The id of a client may be a URL.
func TestH185RevokeAClient(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	const id = "https://app.example/client?a=b&c=ä"
	_, token := b.connect("Tally", "stream", "3", "duration", "30d")
	w.Update(func(tx store.Tx) error {
		return tx.CreateClient(w.Subject, store.Client{ID: id, Name: "Document", RegistrationMode: store.ModeDocument, CreatedAt: w.Now()})
	})
	w.Update(func(tx store.Tx) error {
		g, err := tx.Grant(w.Subject, w.grants()[0].ID)
		if err != nil {
			return err
		}
		g.ID, g.Client = "grt_document", store.Client{ID: id, Name: "Document", RegistrationMode: store.ModeDocument}
		return tx.CreateGrant(g)
	})
	page := b.get("/owner/grants").wants(200, "Document", "Identified by app.example")
	var href string
	for _, m := range regexp.MustCompile(`href="(/owner/clients/revoke\?id=[^"]+)"`).FindAllStringSubmatch(string(page.Body), -1) {
		if strings.Contains(m[1], "https") {
			href = m[1]
		}
	}
	b.get(href).wants(200, "“Document” will no longer be able to read:")
	if got := b.last.value("id"); got != id {
		t.Fatalf("the form is about %q, want %q", got, id)
	}
	b.submit("/owner/clients/revoke", "id", id).leadsTo("/owner/grants")
	if g := grantOf(w, "grt_document"); g.Status(w.Now()) != pdpp.GrantRevoked {
		t.Errorf("grant %+v", g)
	}
	if !w.isLive(token) {
		t.Error("the grant of another client was revoked")
	}
	b.submit("/owner/clients/revoke", "id", "cli_none").wants(http.StatusNotFound)
}

func grantOf(w *world, id pdpp.GrantID) (out store.Grant) {
	for _, g := range w.grants() {
		if g.ID == id {
			out = g
		}
	}
	return out
}

// Nothing of an owner can be seen or changed by another one.
func TestS20PagesOfAnotherOwner(t *testing.T) {
	w := newWorld(t)
	b, other := w.signedIn(w.Subject), w.signedIn(w.Owner("grace"))
	client, _ := b.connect("Tally", "stream", "3", "stream", "1", "duration", "30d")
	g := w.grants()[0]
	other.get("/owner/grants").wants(200).lacks("Tally")
	for _, path := range []string{
		"/owner/grants/" + string(g.ID), "/owner/grants/" + string(g.ID) + "/revoke", "/owner/packages/" + string(g.Package) + "/revoke",
		"/owner/clients/revoke?" + url.Values{"id": {client}}.Encode(),
	} {
		other.get(path).wants(http.StatusNotFound).lacks("Tally", "Work mail")
	}
	other.get("/owner")
	for _, path := range []string{
		"/owner/grants/" + string(g.ID) + "/revoke", "/owner/packages/" + string(g.Package) + "/revoke", "/owner/clients/revoke",
		"/owner/connections/cin_work/rename", "/owner/connections/cin_work/hide", "/owner/connections/cin_work/show", "/owner/connections/cin_work/delete",
	} {
		other.submit(path, "id", client, "label", "Mine").wants(http.StatusNotFound)
	}
	for _, g := range w.grants() {
		if g.Package == "" || g.Status(w.Now()) != pdpp.GrantActive {
			t.Errorf("another owner ended the access: %+v", g)
		}
	}
	b.get("/owner/connections").wants(200, "Work mail").lacks("Mine", "not offered")
}

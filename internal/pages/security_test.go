package pages_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"pdpp/internal/store"
)

func (w *world) byPassword() *browser {
	w.T.Helper()
	b := w.browser()
	b.get("/owner/login")
	b.submit("/owner/login", "password", password).leadsTo("/owner")
	return b
}

func TestH179ChangePassword(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.Subject)
	b, other := w.byPassword(), w.signedIn(w.Subject)
	const next = "an even better one"
	b.get("/owner/security").wants(200, "Current password", "End")
	b.submit("/owner/security/password", "current", "a wrong one", "password", next).wants(400, "The current password is wrong")
	b.submit("/owner/security/password", "current", password, "password", "short").wants(400, "too short")
	other.get("/owner").wants(200)
	b.submit("/owner/security/password", "current", password, "password", next).leadsTo("/owner/security")
	b.get("/owner/security").wants(200, "The password was changed. All other sessions have ended.")
	other.get("/owner").leadsTo("/owner/login?return_to=%2Fowner")
}

func TestH179FirstPasswordOfAnOwnerWithALink(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	b.get("/owner/security").wants(200, "Set a password").lacks("Current password", "Your password")
	b.submit("/owner/security/password", "password", password).leadsTo("/owner/security")
	w.byPassword()
	b.get("/owner/security").wants(200, "Current password")
}

func TestH179Sessions(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	signed := w.signedIn(w.Subject)
	page := b.get("/owner/security").wants(200, "this one")
	ids := regexp.MustCompile(`/owner/security/sessions/([^/"]+)/end`).FindAllStringSubmatch(string(page.Body), -1)
	if len(ids) != 1 || strings.Contains(string(page.Body), signed.cookie("pdpp_session")) {
		t.Fatalf("sessions %v", ids)
	}
	b.submit("/owner/security/sessions/" + ids[0][1] + "/end").leadsTo("/owner/security")
	signed.get("/owner").leadsTo("/owner/login?return_to=%2Fowner")
	b.get("/owner/security").wants(200, "The session has ended.")
	b.submit("/owner/security/sessions/ses_none/end").wants(http.StatusNotFound)
}

func TestH179OwnerToken(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.Subject)
	b := w.byPassword()
	b.get("/owner/security")
	b.submit("/owner/security/tokens", "label", "Backup", "password", "a wrong one").wants(400, "The current password is wrong").lacks("pdpp_ot_")
	page := b.submit("/owner/security/tokens", "label", "Backup", "password", password).wants(200, "Copy it now", "Backup")
	token := regexp.MustCompile(`pdpp_ot_[A-Za-z0-9_-]+`).FindString(string(page.Body))
	if !w.isLive(token) {
		t.Fatalf("the token %q does not work", token)
	}
	page = b.get("/owner/security").wants(200, "Backup", "active").lacks(token)
	id := regexp.MustCompile(`/owner/security/tokens/(tok_[^/"]+)/revoke`).FindStringSubmatch(string(page.Body))
	b.submit("/owner/security/tokens/" + id[1] + "/revoke").leadsTo("/owner/security")
	if w.isLive(token) {
		t.Error("the revoked token works")
	}
	b.get("/owner/security").wants(200, "The token was revoked.", "revoked")
	var actions []string
	err := w.Store.View(t.Context(), func(v store.View) error {
		audits, err := v.Audits(w.Subject, 10)
		for _, a := range audits {
			if a.Actor == store.ByOwner && string(a.Token) == id[1] && a.Address != "" && a.RequestID != "" {
				actions = append(actions, string(a.Action))
			}
		}
		return err
	})
	if got := strings.Join(actions, " "); err != nil || got != "token_revoked token_created" {
		t.Errorf("audit rows %q, %v", got, err)
	}
	b.submit("/owner/security/tokens/tok_none/revoke").wants(http.StatusNotFound)
}

// Passkeys are offered where browsers allow them, and the page asks for the password when
// the server would. Registration itself needs a browser (TestBrowserPasskey).
func TestH187PasskeysAreOfferedWhereTheyWork(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.Subject)
	b := w.byPassword()
	b.get("/owner/security").wants(200, "http://localhost:").lacks("Add a passkey")
	b.get("/owner").wants(200).lacks("add a passkey")
	b.submit("/owner/passkey/add/begin").wants(400, "http://localhost")

	w.URL = strings.Replace(w.URL, "127.0.0.1", "localhost", 1)
	b = w.byPassword()
	b.get("/owner").wants(200, "add a passkey")
	b.get("/owner/security").wants(200, "Add a passkey").lacks("passkey-password")
	b.submit("/owner/passkey/add/begin").wants(200)
	w.Advance(10 * time.Minute)
	if page := b.get("/owner/security"); !strings.Contains(string(page.Body), `id="passkey-password"`) {
		t.Error("no field for the password")
	}
	b.submit("/owner/passkey/add/begin").wants(http.StatusUnauthorized)
	b.submit("/owner/passkey/add/begin", "password", password).wants(200)
	b.submit("/owner/passkey/add/finish", "name", "Key", "response", "{}").wants(http.StatusUnauthorized, "not accepted")
	b.submit("/owner/security/passkeys/none/remove").wants(http.StatusNotFound)
}

// No secret reaches the log, and none a page except the one that shows it.
func TestS7NoSecretInLogsOrPages(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.Subject)
	b := w.byPassword()
	client, token := b.connect("Tally", "stream", "3", "duration", "30d")
	_, device, user := w.device()
	b.get("/device")
	b.submit("/device", "user_code", user)
	b.get("/owner/security")
	page := b.submit("/owner/security/tokens", "label", "Backup", "password", password)
	owner := regexp.MustCompile(`pdpp_ot_[A-Za-z0-9_-]+`).FindString(string(page.Body))
	path := w.ask(client, callback)
	b.choose(path, "stream", "3", "duration", "30d")
	code := b.approve(path).location().Query().Get("code")
	b.get("/owner/nothing?code=" + code)
	b.send("GET", "/owner/first-run?code=a-guessed-code", "")
	b.get("/owner/security")
	secrets := map[string]string{
		"the password": password, "the session": b.cookie("pdpp_session"), "the form token": b.last.csrf(), "an access token": token,
		"an owner token": owner, "a device code": device, "a user code": user, "a code": code, "a first-run code": "a-guessed-code",
	}
	log := w.Log.String()
	if !strings.Contains(log, "/owner/security") {
		t.Fatalf("the log has no requests: %s", log)
	}
	for name, value := range secrets {
		if value == "" || strings.Contains(log, value) {
			t.Errorf("%s %q is in the log", name, value)
		}
	}
	delete(secrets, "the form token")
	all := append(w.pagesOf(b), "/owner/nothing?code="+code)
	for _, path := range all {
		for name, value := range secrets {
			if strings.Contains(string(b.get(path).Body), value) {
				t.Errorf("%s is on %s", name, path)
			}
		}
	}
}

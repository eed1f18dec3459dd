package pages_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pdpp/internal/httpx"
	"pdpp/internal/signin"
)

func TestH175SignIn(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.Subject)
	b := w.browser()
	b.get("/owner/grants?x=1").leadsTo("/owner/login?return_to=%2Fowner%2Fgrants%3Fx%3D1")
	b.get("/owner/login?return_to=%2Fowner%2Fgrants%3Fx%3D1").wants(200, "Sign in", "Password").lacks("Name")
	b.submit("/owner/login", "username", "owner", "password", "wrong password", "return_to", "/owner/grants?x=1").
		wants(http.StatusUnauthorized, "The name or the password is wrong")
	b.submit("/owner/login", "password", "wrong password", "return_to", "/owner/grants?x=1").wants(http.StatusUnauthorized, "The password is wrong. Try again.").lacks("The name")
	if b.cookie("pdpp_session") != "" {
		t.Error("a wrong password started a session")
	}
	a := b.submit("/owner/login", "username", "owner", "password", password, "return_to", b.last.value("return_to"))
	a.leadsTo("/owner/grants?x=1")
	for _, cookie := range a.Header["Set-Cookie"] {
		if strings.HasPrefix(cookie, "pdpp_session=") && (!strings.Contains(cookie, "; HttpOnly") || !strings.Contains(cookie, "; SameSite=Lax") || !strings.Contains(cookie, "; Path=/")) {
			t.Errorf("cookie %q", cookie)
		}
	}
	b.get("/owner/grants").wants(200, "2 failed attempts to sign in since your last visit.")
	b.get("/owner/grants").wants(200).lacks("failed attempt")
	b.get("/owner/login?return_to=/owner/security").leadsTo("/owner/security")
}

// The page does not tell strangers the name of the owner.
func TestH175NoNameBeforeSignIn(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.Subject)
	w.browser().get("/owner/login").wants(http.StatusOK, "Password").lacks("username")
}

func TestH175CookieUnderTLS(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.Subject)
	origin, err := httpx.ParsePublicURL("https://data.example")
	if err != nil {
		t.Fatal(err)
	}
	w.Server.Edge.PublicURL = origin
	b := w.browser()
	a := b.get("/owner/login")
	if got := a.Header.Get("Set-Cookie"); !strings.HasPrefix(got, "__Host-pdpp_form=") || !strings.Contains(got, "; Secure") {
		t.Errorf("cookie %q", got)
	}
	if got := a.Header.Get("Strict-Transport-Security"); got == "" {
		t.Error("no Strict-Transport-Security")
	}
}

func TestH175SessionFixation(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.Subject)
	b := w.browser()
	const planted = "a-cookie-that-an-attacker-has-set-in-a-browser"
	b.headers = []string{"Cookie: pdpp_session=" + planted}
	b.get("/owner").leadsTo("/owner/login?return_to=%2Fowner")
	b.get("/owner/login")
	b.submit("/owner/login", "password", password).leadsTo("/owner")
	first := b.cookie("pdpp_session")
	if first == "" || first == planted {
		t.Fatalf("the session cookie after sign-in is %q", first)
	}
	b.headers = nil
	b.get("/owner").wants(200)

	// Signing in again in the same browser ends the former session.
	b.get("/owner/security")
	b.submit("/owner/login", "password", password).leadsTo("/owner")
	old := w.browser()
	old.headers = []string{"Cookie: pdpp_session=" + first}
	old.get("/owner").leadsTo("/owner/login?return_to=%2Fowner")
	b.get("/owner/security").wants(200, "this one").lacks("End the session")
}

func TestH175SeveralOwners(t *testing.T) {
	w := newWorld(t)
	grace := w.Owner("grace")
	w.setPassword(w.Subject)
	w.setPassword(grace)
	b := w.browser()
	b.get("/owner/login").wants(200, "Name")
	b.submit("/owner/login", "username", "grace", "password", password).leadsTo("/owner")
	b.get("/owner").wants(200, "Your data, grace", "0 records")
	b.get("/owner/connections").wants(200).lacks("Work mail")
}

func TestH176OpenRedirect(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.Subject)
	b := w.signedIn(w.Subject)
	for target, want := range map[string]string{
		"/owner/grants?a=b": "/owner/grants?a=b", "/consent/areq_1": "/consent/areq_1", "/device?user_code=X": "/device?user_code=X",
		"": "/owner", "https://evil.example": "/owner", "//evil.example": "/owner", "/\\evil.example": "/owner", "\\\\evil.example": "/owner",
		"/%2fevil.example": "/owner", "/owner/../..//evil.example": "/owner", "/owner\n//evil.example": "/owner", "/owner\t": "/owner", " /owner/grants": "/owner",
		"javascript:alert(1)": "/owner", "/owner@evil.example": "/owner", "owner": "/owner", "/ownership": "/owner", "/v1/streams": "/owner",
		"/oauth/authorize": "/owner", "/owner/login": "/owner", "/owner/logout": "/owner", "/owner/link?code=x": "/owner", "/owner/first-run": "/owner",
		"///evil.example": "/owner", "/.//evil.example": "/owner", "http:/owner": "/owner", "/owner/%0d%0aSet-Cookie:x": "/owner/%0d%0aSet-Cookie:x",
	} {
		a := b.send("GET", "/owner/login?"+encode("return_to", target), "")
		if got := a.location().String(); got != want {
			t.Errorf("return_to %q leads to %q, want %q", target, got, want)
		}
	}
	// The form says the same.
	s := w.browser()
	if got := s.get("/owner/login?return_to=//evil.example").value("return_to"); got != "/owner" {
		t.Errorf("the form returns to %q", got)
	}
	s.submit("/owner/login", "password", password, "return_to", "//evil.example").leadsTo("/owner")
}

func TestH177Throttle(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.Subject)
	b := w.browser()
	b.get("/owner/login")
	for range 5 {
		b.submit("/owner/login", "password", "a wrong guess").wants(http.StatusUnauthorized)
	}
	a := b.submit("/owner/login", "password", password).wants(http.StatusTooManyRequests, "too many failed attempts", "30 seconds")
	if a.Header.Get("Retry-After") != "30" || b.cookie("pdpp_session") != "" {
		t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
	}
	w.Advance(30 * time.Second)
	b.submit("/owner/login", "password", password).leadsTo("/owner")
	b.get("/owner").wants(200, "5 failed attempts to sign in since your last visit.")
}

func TestH179SignOut(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	former := b.cookie("pdpp_session")
	b.get("/owner").wants(200, "Sign out")
	b.submit("/owner/logout").leadsTo("/")
	b.get("/").wants(200, "This is my data").lacks("Sign out")
	again := w.browser()
	again.headers = []string{"Cookie: pdpp_session=" + former}
	again.get("/owner").leadsTo("/owner/login?return_to=%2Fowner")
}

func TestH179ProgramsAreNotRedirected(t *testing.T) {
	w := newWorld(t)
	a := w.Get("", "/owner/grants", "Accept: application/json")
	if a.Status != http.StatusUnauthorized || a.Code() != "authentication_error" {
		t.Errorf("GET /owner/grants = %d %s", a.Status, a.Body)
	}
	if a := w.Get(w.OwnerToken(), "/owner/grants", "Accept: text/html"); a.Status != http.StatusOK || !strings.Contains(string(a.Body), "This server has no password yet") {
		t.Errorf("an owner token opened a page: %d %s", a.Status, a.Body)
	}
}

func TestH13FirstRun(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	b.get("/owner").leadsTo("/owner/login?return_to=%2Fowner")
	b.get("/owner/login").wants(200, "This server has no password yet", "/owner/first-run?code=").lacks(`name="password"`)
	b.get("/owner/first-run?code=wrong").wants(200, "This server has no password yet").lacks(`name="password"`)
	code, err := w.Server.SignIn.NewLink(t.Context(), w.Subject, signin.LinkFirstRun, signin.FirstRunLife)
	if err != nil {
		t.Fatal(err)
	}
	b.get("/owner/first-run?code="+code).wants(200, "Choose your password")
	b.submit("/owner/first-run", "code", code, "password", password, "again", "another one").wants(400, "The two passwords differ")
	b.submit("/owner/first-run", "code", code, "password", "short", "again", "short").wants(400, "The password is too short")
	b.submit("/owner/first-run", "code", "wrong", "password", password, "again", password).wants(404, "used or has expired")
	b.submit("/owner/first-run", "code", code, "password", password, "again", password).leadsTo("/owner")
	b.get("/owner").wants(200, "Your data").lacks("Your data, ")
	other := w.browser()
	other.get("/owner/first-run?code="+code).wants(200, "Sign in").lacks("Choose your password")
	other.submit("/owner/first-run", "code", code, "password", password, "again", password).wants(404)
	other.submit("/owner/login", "password", password).leadsTo("/owner")
}

// A link is used by a press of its button, not by opening it, and once.
func TestH13LinkSignsInOnce(t *testing.T) {
	w := newWorld(t)
	code, err := w.Server.SignIn.NewLink(t.Context(), w.Subject, signin.LinkSignIn, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	b := w.browser()
	for range 3 {
		b.get("/owner/link?code="+code).wants(200, "Continue")
	}
	b.get("/owner").leadsTo("/owner/login?return_to=%2Fowner")
	other := w.browser()
	other.get("/owner/link?code=" + code)
	b.get("/owner/link?code=" + code)
	b.submit("/owner/link", "code", code).leadsTo("/owner")
	b.get("/owner").wants(200)
	other.submit("/owner/link", "code", code).wants(404, "used or has expired")
	other.get("/owner/link?code="+code).wants(404, "used or has expired")
	if other.cookie("pdpp_session") != "" {
		t.Error("a used link signed in")
	}
}

package signin

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"pdpp"
	"pdpp/internal/store"
)

const (
	site     = "https://data.example"
	siteHost = "data.example"
)

// register adds a passkey to the owner of a session, and returns its authenticator.
func (w *world) register(cookie, name string) (*authenticator, *Passkey) {
	w.Helper()
	a := newAuthenticator(w.T, site, siteHost)
	options, err := w.BeginRegistration(w.Context(), site, cookie, "", home)
	w.check(err)
	p, err := w.FinishRegistration(w.Context(), site, cookie, name, a.create(options))
	w.check(err)
	return a, p
}

// passkeySignIn signs in with a passkey; the browser has a cookie from before.
func (w *world) passkeySignIn(a *authenticator, before string) (cookie string, failures int, err error) {
	w.Helper()
	options, err := w.BeginLogin(w.Context(), site, before, home)
	w.check(err)
	return w.FinishLogin(w.Context(), site, before, a.get(options), home)
}

func newPasskeyWorld(t *testing.T) (w *world, cookie string) {
	w = newWorld(t)
	w.setPassword(w.owner, right)
	return w, w.signIn()
}

func TestH187Passkey(t *testing.T) {
	w, cookie := newPasskeyWorld(t)
	ctx := w.Context()
	a, added := w.register(cookie, "Phone\u202e "+strings.Repeat("x", 100))
	if added.Host != siteHost || !added.Synced || !strings.HasPrefix(added.Name, "Phone x") || utf8.RuneCountInString(added.Name) != maxPasskeyName {
		t.Errorf("passkey %+v", added)
	}
	w.guesses(2, from("198.51.100.7"))
	w.wait(time.Hour)
	got, failures, err := w.passkeySignIn(a, "before")
	w.check(err)
	if s := w.session(got); s.Method != ByPasskey || s.Subject != w.owner.ID || failures != 2 {
		t.Errorf("session %+v, %d failures", s, failures)
	}
	list, err := w.Passkeys(ctx, w.owner.ID)
	w.check(err)
	if len(list) != 1 || list[0].ID != added.ID || !list[0].UsedAt.Equal(w.Clock()) {
		t.Errorf("passkeys %+v", list)
	}
	w.check(w.RemovePasskey(ctx, w.owner.ID, added.ID))
	_, _, err = w.passkeySignIn(a, "before")
	w.wantCode("a removed passkey", err, pdpp.CodeAuthentication)
}

func TestH187Options(t *testing.T) {
	w, cookie := newPasskeyWorld(t)
	w.register(cookie, "")
	raw, err := w.BeginRegistration(w.Context(), site, cookie, "", home)
	w.check(err)
	create := parseOptions(t, raw).PublicKey
	if create.RP.ID != siteHost || create.RP.Name != "Test data" || create.User.Name != "ada" || len(create.Exclude) != 1 ||
		create.Selection.ResidentKey != "required" || create.Selection.Verification != "required" {
		t.Errorf("options of a registration: %s", raw)
	}
	if strings.Contains(string(raw), string(w.owner.ID)) {
		t.Errorf("the user handle tells the owner: %s", raw)
	}
	raw, err = w.BeginLogin(w.Context(), site, "before", home)
	w.check(err)
	get := parseOptions(t, raw).PublicKey
	if get.RPID != siteHost || len(get.Allow) != 0 || get.Verify != "required" || len(get.Challenge) < 43 {
		t.Errorf("options of a sign-in: %s", raw)
	}
}

func TestH187Refusals(t *testing.T) {
	w, cookie := newPasskeyWorld(t)
	other := w.addOwner("grace")
	w.setPassword(other, "the password of grace")
	theirs, _, err := w.Password(w.Context(), "grace", "the password of grace", home)
	w.check(err)
	_, _ = w.register(theirs, "")
	a, _ := w.register(cookie, "")
	for what, spoil := range map[string]func(*authenticator){
		"a page of another origin": func(a *authenticator) { a.origin = "https://evil.example" },
		"another port":             func(a *authenticator) { a.origin = site + ":8443" },
		"another host":             func(a *authenticator) { a.rpID = "evil.example" },
		"no user verification":     func(a *authenticator) { a.flags &^= userVerified },
		"no user presence":         func(a *authenticator) { a.flags &^= userPresent },
		"not the key":              func(a *authenticator) { a.key = newAuthenticator(t, site, siteHost).key },
		"an unknown credential":    func(a *authenticator) { a.id = []byte("unknown credential") },
		"the handle of another":    func(a *authenticator) { a.handle = b64(mac(w.handleKey, string(other.ID))) },
		"no handle":                func(a *authenticator) { a.handle = "" },
		"other backup properties":  func(a *authenticator) { a.flags &^= canBackUp | backedUp },
	} {
		spoilt := *a
		spoil(&spoilt)
		session, _, err := w.passkeySignIn(&spoilt, "before")
		w.wantCode(what, err, pdpp.CodeAuthentication)
		if session != "" {
			t.Errorf("%s: a session", what)
		}
	}
	_, _, err = w.passkeySignIn(a, "before")
	w.check(err)
	for _, response := range []string{"", "{}", "[]", `{"id":"eA","rawId":"eA","type":"public-key","response":{}}`} {
		_, err := w.BeginLogin(w.Context(), site, "before", home)
		w.check(err)
		_, _, err = w.FinishLogin(w.Context(), site, "before", []byte(response), home)
		w.wantCode(fmt.Sprintf("response %q", response), err, pdpp.CodeAuthentication)
	}
}

func TestH187CeremonyIsUsedOnceByOneBrowser(t *testing.T) {
	w, cookie := newPasskeyWorld(t)
	ctx := w.Context()
	a, _ := w.register(cookie, "")
	options, err := w.BeginLogin(ctx, site, "before", home)
	w.check(err)
	response := a.get(options)
	_, _, err = w.FinishLogin(ctx, site, "another browser", response, home)
	w.wantCode("another browser", err, pdpp.CodeAuthentication)
	var wg sync.WaitGroup
	sessions := make([]string, 6)
	for i := range sessions {
		wg.Go(func() { sessions[i], _, _ = w.FinishLogin(ctx, site, "before", response, home) })
	}
	wg.Wait()
	if n := countNonEmpty(sessions); n != 1 {
		t.Errorf("%d sign-ins with one response", n)
	}
	options, err = w.BeginLogin(ctx, site, "before", home)
	w.check(err)
	wrong := *a
	wrong.flags = 0
	_, _, err = w.FinishLogin(ctx, site, "before", wrong.get(options), home)
	w.wantCode("a refused response", err, pdpp.CodeAuthentication)
	_, _, err = w.FinishLogin(ctx, site, "before", a.get(options), home)
	w.wantCode("the same ceremony after a refusal", err, pdpp.CodeAuthentication)
	options, err = w.BeginLogin(ctx, site, "before", home)
	w.check(err)
	w.wait(ceremonyLife)
	_, _, err = w.FinishLogin(ctx, site, "before", a.get(options), home)
	w.wantCode("five minutes later", err, pdpp.CodeAuthentication)
	_, err = w.BeginLogin(ctx, site, "", home)
	w.wantCode("a browser without a cookie", err, pdpp.CodeAuthentication)
}

func countNonEmpty(list []string) (n int) {
	for _, s := range list {
		if s != "" {
			n++
		}
	}
	return n
}

func TestH187CopiedPasskeyIsRefused(t *testing.T) {
	w, cookie := newPasskeyWorld(t)
	a := newAuthenticator(t, site, siteHost)
	a.count = 5
	options, err := w.BeginRegistration(w.Context(), site, cookie, "", home)
	w.check(err)
	_, err = w.FinishRegistration(w.Context(), site, cookie, "Key", a.create(options))
	w.check(err)
	duplicate := *a
	for range 2 {
		_, _, err = w.passkeySignIn(a, "before")
		w.check(err)
	}
	_, _, err = w.passkeySignIn(&duplicate, "before")
	w.wantCode("a copy with an older counter", err, pdpp.CodeAuthentication)
}

func TestH187Registration(t *testing.T) {
	w, cookie := newPasskeyWorld(t)
	ctx := w.Context()
	_, err := w.BeginRegistration(ctx, site, "no session", "", home)
	w.wantCode("without a session", err, pdpp.CodeAuthentication)
	a := newAuthenticator(t, site, siteHost)
	options, err := w.BeginRegistration(ctx, site, cookie, "", home)
	w.check(err)
	second := w.signIn()
	_, err = w.FinishRegistration(ctx, site, second, "", a.create(options))
	w.wantCode("finished in another session", err, pdpp.CodeAuthentication)
	response := a.create(options)
	w.check(w.SignOut(ctx, cookie))
	_, err = w.FinishRegistration(ctx, site, cookie, "", response)
	w.wantCode("finished after sign-out", err, pdpp.CodeAuthentication)

	a, added := w.register(second, "")
	if added.Name != "Passkey" {
		t.Errorf("default name %q", added.Name)
	}
	options, err = w.BeginRegistration(ctx, site, second, "", home)
	w.check(err)
	_, err = w.FinishRegistration(ctx, site, second, "", a.create(options))
	w.wantCode("the same credential again", err, pdpp.CodeAuthentication)
	for range maxPasskeys - 1 {
		w.register(second, "")
	}
	_, err = w.BeginRegistration(ctx, site, second, "", home)
	w.wantCode("one too many", err, pdpp.CodeInvalidInput)

	w.check(w.RemovePasskey(ctx, w.owner.ID, added.ID))
	w.wait(recentSignIn)
	_, err = w.BeginRegistration(ctx, site, second, "a wrong password", home)
	w.wantCode("a wrong password after ten minutes", err, pdpp.CodeAuthentication)
	_, err = w.BeginRegistration(ctx, site, second, right, home)
	w.check(err)
}

func TestH187Remove(t *testing.T) {
	w := newWorld(t)
	ctx := w.Context()
	cookie, _, err := w.UseLink(ctx, w.link(LinkSignIn, time.Minute), home)
	w.check(err)
	_, first := w.register(cookie, "first")
	if can, err := w.CanSignIn(ctx, w.owner.ID); !can || err != nil {
		t.Errorf("CanSignIn = %v, %v with a passkey", can, err)
	}
	w.wantCode("the only way to sign in", w.RemovePasskey(ctx, w.owner.ID, first.ID), pdpp.CodeInvalidInput)
	_, err = w.CheckLink(ctx, w.link(LinkFirstRun, time.Minute), LinkFirstRun)
	w.wantCode("a first-run code beside a passkey (H-13)", err, pdpp.CodeNotFound)
	_, second := w.register(cookie, "second")
	w.wantCode("another owner's", w.RemovePasskey(ctx, w.addOwner("grace").ID, first.ID), pdpp.CodeNotFound)
	w.check(w.RemovePasskey(ctx, w.owner.ID, first.ID))
	w.wantCode("the other one", w.RemovePasskey(ctx, w.owner.ID, second.ID), pdpp.CodeInvalidInput)
	w.check(w.ChangePassword(ctx, w.session(cookie), "", right, home)) // a first password
	w.check(w.RemovePasskey(ctx, w.owner.ID, second.ID))
}

func TestH187Addresses(t *testing.T) {
	for base, want := range map[string]bool{
		"https://data.example": true, "https://data.example:8443": true, "http://localhost:7663": true,
		"http://data.example": false, "http://127.0.0.1:7663": false, "https://192.0.2.1": false, "http://[::1]:7663": false, "https://[2001:db8::1]": false, "": false,
	} {
		if got := CanUsePasskeys(base); got != want {
			t.Errorf("CanUsePasskeys(%q) = %v", base, got)
		}
	}
	w, cookie := newPasskeyWorld(t)
	_, err := w.BeginRegistration(w.Context(), "http://127.0.0.1:7663", cookie, "", home)
	w.wantCode("an address", err, pdpp.CodeInvalidRequest)
}

func TestH187BeginningsAreLimited(t *testing.T) {
	w := newWorld(t)
	var err error
	for i := range beginnings.Max + 1 {
		w.check(err)
		_, err = w.BeginLogin(w.Context(), site, fmt.Sprint("browser ", i), home)
	}
	w.wantCode("one too many", err, pdpp.CodeRateLimited)
	w.update(func(tx store.Tx) error {
		n, err := tx.CountEntries(store.EntryCeremony)
		if n != int64(beginnings.Max) {
			t.Errorf("%d ceremonies are stored", n)
		}
		return err
	})
}

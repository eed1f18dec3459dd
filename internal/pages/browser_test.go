package pages_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"pdpp/internal/signin"
)

// link returns the code of a one-time link.
func (w *world) link() string {
	w.T.Helper()
	code, err := w.Server.SignIn.NewLink(w.T.Context(), w.Subject, signin.LinkSignIn, time.Hour)
	if err != nil {
		w.T.Fatal(err)
	}
	return code
}

// state is a page in a state that is worth looking at.
type state struct {
	name, path string
	owner      bool       // somebody is signed in
	act        func(*tab) // what is done on the page
}

// everyPage returns all pages of a world with a client that has a grant and one that asks.
func (w *world) everyPage() []state {
	w.T.Helper()
	b := w.signedIn(w.Subject)
	_, token := b.connect("Tally", "stream", "3", "field.3", "subject", "duration", "30d")
	for range 5 {
		w.Get(token, "/v1/streams/messages/records").OK()
	}
	b.connect("Calendar helper with a long name", "stream", "1", "stream", "3", "duration", "forever")
	w.Reads()
	grant := string(w.grants()[0].ID)
	client := w.register("Assistant", callback)
	fresh, asked := w.ask(client, callback), w.ask(client, callback, "authorization_details", details(`"purpose_code":"https://pdpp.dev/purpose/ai_training","purpose_description":"Better answers"`))
	chosen, decided := w.ask(client, callback), w.ask(client, callback)
	b.choose(chosen, "stream", "3", "stream", "4", "field.3", "subject", "field.3", "body", "duration", "90d")
	b.get(decided)
	b.submit(decided + "/deny")
	_, _, code := w.device()
	click := func(selector string) func(*tab) { return func(b *tab) { b.do(chromedp.Click(chromedp.CSS(selector))) } }
	return []state{
		{name: "landing", path: "/"},
		{name: "login", path: "/owner/login"},
		{name: "login-wrong", path: "/owner/login", act: func(b *tab) {
			b.do(chromedp.SendKeys(chromedp.CSS("#password"), "wrong"+kb.Enter))
			b.wantText("needs your attention")
		}},
		{name: "not-found", path: "/owner/nothing"},
		{name: "setup", path: "/setup"},
		{name: "setup-client", path: "/setup/claude-code", owner: true},
		{name: "home", path: "/owner", owner: true},
		{name: "consent", path: fresh, owner: true},
		{name: "consent-open", path: fresh, owner: true, act: click("details summary")},
		{name: "consent-training", path: asked, owner: true},
		{name: "consent-errors", path: fresh, owner: true, act: func(b *tab) {
			b.do(chromedp.Click(chromedp.CSS("form#choose button")))
			b.wantText("need your attention")
		}},
		{name: "review", path: chosen + "/review", owner: true},
		{name: "decided", path: decided, owner: true},
		{name: "device", path: "/device", owner: true},
		{name: "device-found", path: "/device?user_code=" + code, owner: true, act: func(b *tab) {
			b.do(chromedp.Click(chromedp.CSS("main button")))
			b.wantText("Is this yours?")
		}},
		{name: "grants", path: "/owner/grants", owner: true},
		{name: "grant", path: "/owner/grants/" + grant, owner: true},
		{name: "revoke", path: "/owner/grants/" + grant + "/revoke", owner: true},
		{name: "connections", path: "/owner/connections", owner: true, act: click("details summary")},
		{name: "delete", path: "/owner/connections/cin_work/delete", owner: true},
		{name: "security", path: "/owner/security", owner: true},
	}
}

// Every page fits a phone and a screen, light and dark, and axe-core finds nothing.
func TestH173BrowserPages(t *testing.T) {
	ctx := chromium(t)
	source := ""
	if !testing.Short() {
		source = axe(t)
	}
	w := newWorld(t)
	w.setPassword(w.Subject)
	states := w.everyPage()
	widths, schemes := []int64{320, 1280}, []string{"light", "dark"}
	if testing.Short() {
		widths, schemes = widths[:1], schemes[:1]
		states = slices.DeleteFunc(states, func(s state) bool {
			return !slices.Contains([]string{"login", "consent-open", "grant", "security"}, s.name)
		})
	}
	in, out := w.open(t, ctx), w.open(t, ctx)
	in.signIn(w.link())
	for _, s := range states {
		for _, width := range widths {
			for _, scheme := range schemes {
				name := fmt.Sprintf("%s-%d-%s", s.name, width, scheme)
				t.Run(name, func(t *testing.T) {
					b := out
					if s.owner {
						b = in
					}
					b.TB = t
					b.look(width, scheme)
					b.visit(s.path)
					if s.act != nil {
						s.act(b)
					}
					if got := eval[int64](b, `document.documentElement.scrollWidth`); got > width {
						t.Errorf("the page is %d px wide", got)
					}
					b.picture(*screenshots, name)
					if source != "" {
						b.accessible(source)
					}
				})
			}
		}
	}
	for _, b := range []*tab{in, out} {
		b.TB = t
		b.noProblems()
	}
}

// Everything that a mouse can reach on a page, the tab key reaches too, visibly.
func TestH173BrowserKeyboard(t *testing.T) {
	if testing.Short() {
		t.Skip("make check runs it")
	}
	w := newWorld(t)
	w.setPassword(w.Subject)
	ctx := chromium(t)
	states := w.everyPage()
	in, out := w.open(t, ctx), w.open(t, ctx)
	in.signIn(w.link())
	for _, s := range states {
		t.Run(s.name, func(t *testing.T) {
			b := out
			if s.owner {
				b = in
			}
			b.TB = t
			b.look(1280, "light")
			b.visit(s.path)
			if s.act != nil {
				s.act(b)
			}
			eval[bool](b, `document.activeElement.blur(), window.scrollTo(0, 0), true`)
			want := eval[[]string](b, `[...document.querySelectorAll("a[href], button, summary, input:not([type=hidden]):not([disabled])")].filter(e =>
				e.tabIndex >= 0 && e.checkVisibility() && !(e.type === "radio" && e !== document.querySelector("input[type=radio]"))).map((e, i) => (e.dataset.stop = "" + i))`)
			seen := map[string]bool{}
			for range 2*len(want) + 40 {
				b.press(kb.Tab)
				at := eval[[]string](b, `(e => e === document.body ? [] : [e.dataset.stop || "", getComputedStyle(e).outlineStyle, e.outerHTML.slice(0, 120)])(document.activeElement)`)
				if len(at) == 0 {
					continue // between the end of the page and its start
				}
				if at[1] == "none" {
					t.Errorf("the focus on %s is not visible", at[2])
				}
				seen[at[0]] = true
			}
			for _, stop := range want {
				if !seen[stop] {
					t.Errorf("the tab key does not reach %s", eval[string](b, `document.querySelector('[data-stop="`+stop+`"]').outerHTML.slice(0, 200)`))
				}
			}
		})
	}
}

// listen starts a program that waits for an authorization code on this computer.
func (w *world) listen(t testing.TB) (redirect string, codes chan url.Values) {
	codes = make(chan url.Values, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/cb" {
			codes <- r.URL.Query()
		}
		fmt.Fprint(rw, "<!doctype html><title>Done</title><p>Back in the program.")
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/cb", codes
}

// The whole consent works without scripts and without a mouse: sign-in, choice, review,
// approval; the code arrives at the program, although the policy of the page limits where
// forms lead to.
func TestH173BrowserConsent(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.Subject)
	redirect, codes := w.listen(t)
	b := w.open(t, chromium(t))
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.look(320, "dark")
	w.URL = b.base
	path := w.ask(w.register("Tally", redirect), redirect)

	b.visit(path)
	b.wantText("A program wants to read your data")
	b.tabTo("#password")
	b.press(password + kb.Enter)
	b.wantPath(path)
	b.tabTo("#stream-3")
	b.press(" ")
	b.press(kb.Tab) // to the summary
	b.press(kb.Enter)
	b.tabTo("input[name='field.3'][value=subject]")
	b.press(" ")
	b.tabTo("input[type=radio]")
	b.press(kb.ArrowDown + kb.ArrowDown)
	b.tabTo("form#choose .buttons button:first-child")
	b.press(kb.Enter)
	b.wantPath(path + "/review")
	b.wantText("2 fields")
	b.tabTo("form[action$=approve] button:first-child")
	b.press(kb.Enter)
	select {
	case got := <-codes:
		if got.Get("code") == "" || got.Get("state") != "s1" || got.Get("iss") != b.base {
			t.Errorf("the program got %v", got)
		}
	case <-b.ctx.Done():
		t.Fatalf("no code arrived; the tab shows %s", b.text())
	}
	b.wantText("Back in the program.")
	if g := w.grants(); len(g) != 1 {
		t.Errorf("%d grants", len(g))
	}
	b.noProblems()

	// Revoking, also by keyboard.
	b.visit("/owner/grants")
	b.tabTo("main a.danger")
	b.press(kb.Enter)
	b.wantText("Revoke all of this access?")
	b.tabTo("main button.danger")
	b.press(kb.Enter)
	b.wantText("Revoked. The next request with it is refused.")
}

// Errors are announced: the list of them has the focus, and its links lead to the controls.
func TestH173BrowserErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("make check runs it")
	}
	w := newWorld(t)
	b := w.open(t, chromium(t))
	b.signIn(w.link())
	b.visit(w.ask(w.register("Tally", callback), callback))
	b.tabTo("form#choose .buttons button:first-child")
	b.press(kb.Enter)
	b.wantText("2 things need your attention")
	b.until("the errors have the focus", func() bool { return eval[string](b, `document.activeElement.id`) == "faults" })
	b.tabTo("#faults li:last-child a")
	b.press(kb.Enter)
	b.press(kb.Tab)
	if got := eval[string](b, `document.activeElement.name`); got != "duration" {
		t.Errorf("after the link the tab key leads to %q", got)
	}
}

// A passkey is added with the authenticator of the browser, signs in without a name or a
// password, and is removed.
func TestH187BrowserPasskey(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.Subject)
	b := w.open(t, chromium(t))
	call(b, webauthn.Enable, webauthn.EnableParams{})
	call(b, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: "ctap2", Transport: "internal", HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}})
	b.signIn(w.link())
	b.wantText("add a passkey")
	w.Advance(11 * time.Minute) // the password is asked again
	b.visit("/owner/security")
	b.do(chromedp.SendKeys(chromedp.CSS("#passkey-password"), password))
	b.do(chromedp.Click(chromedp.CSS("#passkey-add")))
	b.wantText("The passkey was added.")
	b.wantText("My device")
	b.do(chromedp.Click(chromedp.CSS("nav button")))
	b.wantPath("/")
	b.visit("/owner/login?return_to=/owner/security")
	b.do(chromedp.Click(chromedp.CSS("#passkey-login")))
	b.wantPath("/owner/security")
	b.do(chromedp.Click(chromedp.CSS("form[action*='/passkeys/'] button")))
	b.wantText("The passkey was removed.")
	b.noProblems()
}

package pages_test

import (
	"encoding/json"
	"html"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/signin"
	"pdpp/internal/store"
)

const mailManifest = `{"declaration_version": "3", "connector_key": "mail", "display": {"name": "Mail"},
 "source": {"kind": "connector", "id": "https://registry.example/connectors/mail"},
 "streams": [
  {"name": "messages", "semantics": "append_only",
   "schema": {"type": "object", "properties": {"id": {"type": "string"}, "subject": {"type": "string"}, "body": {"type": "string"}, "sent_at": {"type": "string", "format": "date-time"}}},
   "primary_key": ["id"], "cursor_field": "sent_at", "consent_time_field": "sent_at", "selection": {"fields": true, "resources": true}},
  {"name": "contacts", "semantics": "mutable_state",
   "schema": {"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}}},
   "primary_key": ["id"], "selection": {"fields": true, "resources": true}}]}`

const password = "correct horse battery"

// The verifier and challenge of RFC 7636, appendix B.
const (
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

const callback = "https://app.example/cb"

// world is a server with an owner who has two mail accounts. In an offer of everything the
// streams are: 1 and 2 messages and contacts of "Home mail", 3 and 4 those of "Work mail".
type world struct{ *resttest.World }

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{resttest.New(t)}
	w.Manifest(mailManifest)
	w.Connect("mail", "cin_home", "Home mail")
	w.Connect("mail", "cin_work", "Work mail")
	w.Ingest("cin_work", "messages",
		`{"key":"m1","data":{"id":"m1","subject":"Budget","body":"Secret plans","sent_at":"2026-04-01T10:00:00Z"},"emitted_at":"2026-04-01T10:00:00Z"}`,
		`{"key":"m2","data":{"id":"m2","subject":"Lunch","body":"At noon","sent_at":"2026-04-20T10:00:00Z"},"emitted_at":"2026-04-20T10:00:00Z"}`)
	return w
}

// browser is a browser without scripts. It keeps cookies, and does not follow redirects.
type browser struct {
	*world
	client  http.Client
	last    answer   // the page that it shows
	headers []string // of every request, "Name: value"
}

// answer is what a browser got.
type answer struct{ resttest.Answer }

func (w *world) browser() *browser {
	w.T.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.T.Fatal(err)
	}
	return &browser{world: w, client: http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// signedIn returns a browser in which an owner is signed in.
func (w *world) signedIn(subject pdpp.SubjectID) *browser {
	w.T.Helper()
	code, err := w.Server.SignIn.NewLink(w.T.Context(), subject, signin.LinkSignIn, time.Minute)
	if err != nil {
		w.T.Fatal(err)
	}
	b := w.browser()
	b.get("/owner/link?code=" + code)
	b.submit("/owner/link", "code", code).leadsTo("/owner")
	return b
}

func (w *world) setPassword(subject pdpp.SubjectID) {
	w.T.Helper()
	if set, err := w.Server.SignIn.SetFirstPassword(w.T.Context(), subject, password); err != nil || !set {
		w.T.Fatalf("SetFirstPassword = %v, %v", set, err)
	}
}

func (b *browser) send(method, target, body string, headers ...string) answer {
	b.T.Helper()
	all := append([]string{"Accept: text/html,application/xhtml+xml"}, b.headers...)
	return answer{b.Send(&b.client, b.Request(method, "", target, strings.NewReader(body), append(all, headers...)...))}
}

// get opens a page.
func (b *browser) get(target string) answer {
	b.T.Helper()
	b.last = b.send("GET", target, "")
	return b.last
}

// submit sends a form of the page that it shows, and returns the answer.
func (b *browser) submit(target string, pairs ...string) answer {
	b.T.Helper()
	return b.post(target, append(pairs, "_csrf", b.last.csrf()), "Origin: "+b.URL)
}

// post sends a form with the given fields and headers only.
func (b *browser) post(target string, pairs []string, headers ...string) answer {
	b.T.Helper()
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	a := b.send("POST", target, v.Encode(), append([]string{"Content-Type: application/x-www-form-urlencoded"}, headers...)...)
	if strings.Contains(string(a.Body), `name="_csrf"`) {
		b.last = a
	}
	return a
}

// cookie returns the value of a cookie, or "".
func (b *browser) cookie(name string) string {
	b.T.Helper()
	u, err := url.Parse(b.URL)
	if err != nil {
		b.T.Fatal(err)
	}
	for _, c := range b.client.Jar.Cookies(u) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

var (
	csrfField = regexp.MustCompile(`name="_csrf" value="([^"]+)"`)
	tags      = regexp.MustCompile(`(?s)<[^>]*>`)
	spaces    = regexp.MustCompile(`\s+`)
)

// csrf returns the form token of a page, or "".
func (a answer) csrf() string {
	if m := csrfField.FindSubmatch(a.Body); m != nil {
		return html.UnescapeString(string(m[1]))
	}
	return ""
}

// text returns what a page says.
func (a answer) text() string {
	return strings.TrimSpace(spaces.ReplaceAllString(html.UnescapeString(tags.ReplaceAllString(string(a.Body), " ")), " "))
}

// value returns the value of a hidden field.
func (a answer) value(name string) string {
	a.T.Helper()
	m := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindSubmatch(a.Body)
	if m == nil {
		a.T.Fatalf("%s: no field %s in %s", a.Request, name, a.Body)
	}
	return html.UnescapeString(string(m[1]))
}

// wants checks the status of an answer and that its text has some parts.
func (a answer) wants(status int, parts ...string) answer {
	a.T.Helper()
	if a.Status != status {
		a.T.Fatalf("%s: status %d, want %d: %s", a.Request, a.Status, status, a.text())
	}
	for _, part := range parts {
		if !strings.Contains(a.text(), part) {
			a.T.Errorf("%s: no %q in: %s", a.Request, part, a.text())
		}
	}
	return a
}

// lacks checks that a page does not contain some text.
func (a answer) lacks(parts ...string) answer {
	a.T.Helper()
	for _, part := range parts {
		if strings.Contains(string(a.Body), part) || strings.Contains(a.text(), part) {
			a.T.Errorf("%s: it contains %q: %s", a.Request, part, a.text())
		}
	}
	return a
}

// leadsTo checks that an answer redirects to a place.
func (a answer) leadsTo(target string) {
	a.T.Helper()
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != target {
		a.T.Fatalf("%s: %d to %q, want 303 to %q: %s", a.Request, a.Status, a.Header.Get("Location"), target, a.text())
	}
}

// location returns where an answer redirects to.
func (a answer) location() *url.URL {
	a.T.Helper()
	u, err := url.Parse(a.Header.Get("Location"))
	if err != nil || a.Status != http.StatusSeeOther {
		a.T.Fatalf("%s: %d to %q, want a redirect: %s", a.Request, a.Status, a.Header.Get("Location"), a.text())
	}
	return u
}

// register registers a client and returns its id.
func (w *world) register(name string, redirects ...string) string {
	w.T.Helper()
	body, err := json.Marshal(map[string]any{"client_name": name, "redirect_uris": redirects})
	if err != nil {
		w.T.Fatal(err)
	}
	a := w.Do("POST", "", "/oauth/register", string(body), "Content-Type: application/json")
	id, _ := a.At("client_id").(string)
	if a.Status != http.StatusCreated || id == "" {
		w.T.Fatalf("registration: %d %s", a.Status, a.Body)
	}
	return id
}

// ask starts the code flow of a client and returns the path of the consent page. Further
// parameters of the request are pairs.
func (w *world) ask(client, redirect string, pairs ...string) string {
	w.T.Helper()
	v := url.Values{
		"client_id": {client}, "redirect_uri": {redirect}, "response_type": {"code"}, "code_challenge": {challenge},
		"code_challenge_method": {"S256"}, "state": {"s1"}, "resource": {w.URL},
	}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	a := w.browser().send("GET", "/oauth/authorize?"+v.Encode(), "")
	path := a.location().String()
	if !strings.HasPrefix(path, "/consent/") {
		w.T.Fatalf("authorize leads to %s", path)
	}
	return path
}

// choose opens a consent page, submits a choice, and returns the review page.
func (b *browser) choose(path string, pairs ...string) answer {
	b.T.Helper()
	b.get(path).wants(http.StatusOK)
	b.submit(path+"/review", pairs...).leadsTo(path + "/review")
	return b.get(path + "/review").wants(http.StatusOK)
}

// approve approves the review that it shows, and returns the answer.
func (b *browser) approve(path string) answer {
	b.T.Helper()
	return b.submit(path+"/approve", "digest", b.last.value("digest"))
}

// redeem exchanges a code for a token.
func (w *world) redeem(client, code string) string {
	w.T.Helper()
	v := url.Values{
		"grant_type": {"authorization_code"}, "client_id": {client}, "redirect_uri": {callback}, "code": {code}, "code_verifier": {verifier},
	}
	a := w.Do("POST", "", "/oauth/token", v.Encode(), "Content-Type: application/x-www-form-urlencoded")
	token, _ := a.OK().At("access_token").(string)
	return token
}

// connect takes a client through the whole flow and returns its id and token.
func (b *browser) connect(name string, pairs ...string) (client, token string) {
	b.T.Helper()
	client = b.register(name, callback)
	path := b.ask(client, callback)
	b.choose(path, pairs...)
	return client, b.redeem(client, b.approve(path).location().Query().Get("code"))
}

func (w *world) grants() (out []store.Grant) {
	w.T.Helper()
	err := w.Store.View(w.T.Context(), func(v store.View) (err error) {
		out, err = v.Grants(w.Subject, store.GrantFilter{})
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return out
}

// isLive reports whether the resource server accepts a token.
func (w *world) isLive(token string) bool {
	w.T.Helper()
	return w.Get(token, "/v1/streams").Status == http.StatusOK
}

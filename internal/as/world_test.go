package as_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pdpp"
	"pdpp/internal/as"
	"pdpp/internal/consent"
	"pdpp/internal/httpx"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite"
)

const mailManifest = `{"declaration_version": "3", "connector_key": "mail", "connector_display_name": "Mail",
 "source": {"kind": "connector", "id": "https://registry.example/connectors/mail"},
 "streams": [
  {"name": "messages", "semantics": "append_only",
   "schema": {"type": "object", "properties": {"id": {"type": "string"}, "subject": {"type": "string"}, "sent_at": {"type": "string", "format": "date-time"}}},
   "primary_key": ["id"], "cursor_field": "sent_at", "consent_time_field": "sent_at", "selection": {"fields": true, "resources": true}},
  {"name": "contacts", "semantics": "mutable_state",
   "schema": {"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}}},
   "primary_key": ["id"], "selection": {"fields": true, "resources": true}}]}`

// The verifier and challenge of RFC 7636, appendix B.
const (
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

const callback = "https://app.example/cb"

// world is an authorization server with an owner who has two mail accounts, and the resource
// server of the same store.
type world struct {
	*resttest.World
	as  *as.Server
	URL string // R of the authorization server
}

func newWorld(t testing.TB, change ...func(*as.Config)) *world {
	t.Helper()
	return newWorldIn(t, t.TempDir(), change...)
}

// newWorldIn returns a world whose store is in a folder.
func newWorldIn(t testing.TB, dir string, change ...func(*as.Config)) *world {
	t.Helper()
	rest := resttest.On(t, openStore(t, dir))
	rest.Manifest(mailManifest)
	rest.Connect("mail", "cin_work", "Work mail")
	rest.Connect("mail", "cin_home", "Home mail")
	rest.Ingest("cin_work", "messages", `{"key":"m1","data":{"id":"m1","subject":"Budget","sent_at":"2026-04-01T10:00:00Z"},"emitted_at":"2026-04-01T10:00:00Z"}`)
	return serve(rest, change...)
}

func openStore(t testing.TB, dir string) store.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// twoProcesses returns two authorization servers that share a store as two processes do: each
// has opened it.
func twoProcesses(t testing.TB) (one, other *world) {
	t.Helper()
	dir := t.TempDir()
	one = newWorldIn(t, dir)
	return one, serve(one.World, func(c *as.Config) { c.Store = openStore(t, dir) })
}

// serve starts a further authorization server for a world.
func serve(rest *resttest.World, change ...func(*as.Config)) *world {
	edge := &httpx.Edge{}
	cfg := as.Config{
		Store: rest.Store, Auth: rest.Server.Auth, Edge: edge, Clock: rest.Now, Registration: true,
		Log: slog.New(slog.NewTextHandler(rest.Log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, fn := range change {
		fn(&cfg)
	}
	w := &world{World: rest, as: as.New(cfg)}
	srv := httptest.NewServer(httpx.Chain(w.as.Handler(), httpx.WithRequestID, cfg.Edge.Gate))
	rest.T.Cleanup(srv.Close)
	w.URL = srv.URL
	return w
}

// params are parameters of a request: names and values in turn.
func params(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return v
}

// with returns the parameters with some set, or removed when the value is "".
func with(v url.Values, pairs ...string) url.Values {
	out := url.Values{}
	for name, list := range v {
		out[name] = slices.Clone(list)
	}
	for i := 0; i < len(pairs); i += 2 {
		out.Del(pairs[i])
		if pairs[i+1] != "" {
			out.Set(pairs[i], pairs[i+1])
		}
	}
	return out
}

// browser does not follow redirects.
var browser = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (w *world) do(method, target, contentType, body string, headers ...string) resttest.Answer {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), method, w.URL+target, strings.NewReader(body))
	if err != nil {
		w.T.Fatal(err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	return w.Send(browser, req)
}

// text returns a string in an answer, or "".
func text(a resttest.Answer, path string) string {
	a.T.Helper()
	s, _ := a.At(path).(string)
	return s
}

func (w *world) post(path string, v url.Values) resttest.Answer {
	w.T.Helper()
	return w.do("POST", path, "application/x-www-form-urlencoded", v.Encode())
}

func (w *world) token(v url.Values) resttest.Answer { w.T.Helper(); return w.post("/oauth/token", v) }

// register registers a client and returns its id.
func (w *world) register(body string) string {
	w.T.Helper()
	a := w.do("POST", "/oauth/register", "application/json", body)
	if a.Status != http.StatusCreated {
		w.T.Fatalf("registration: %d %s", a.Status, a.Body)
	}
	return text(a, "client_id")
}

// client registers a client with the usual metadata.
func (w *world) client() string {
	w.T.Helper()
	return w.register(`{"client_name":"Demo","redirect_uris":["` + callback + `"]}`)
}

// authorization returns the parameters of a valid authorization request.
func (w *world) authorization(client string) url.Values {
	return params("client_id", client, "redirect_uri", callback, "response_type", "code",
		"code_challenge", challenge, "code_challenge_method", "S256", "state", "s1", "resource", w.URL+"/mcp")
}

// authorize sends an authorization request and returns the id of the stored one.
func (w *world) authorize(v url.Values) string {
	w.T.Helper()
	a := w.do("GET", "/oauth/authorize?"+v.Encode(), "", "")
	id, ok := strings.CutPrefix(a.Header.Get("Location"), "/consent/")
	if a.Status != http.StatusSeeOther || !ok {
		w.T.Fatalf("authorize: %d %s %s", a.Status, a.Header.Get("Location"), a.Body)
	}
	return id
}

// choose opens a request as the owner and chooses streams, such as "cin_work/messages".
func (w *world) choose(id string, d consent.Duration, streams ...string) as.Approval {
	w.T.Helper()
	req, err := w.as.Request(w.T.Context(), id, w.Subject)
	if err != nil {
		w.T.Fatal(err)
	}
	ch := consent.Choice{Duration: d}
	for _, source := range req.Offer.Sources {
		for _, s := range source.Streams {
			if slices.Contains(streams, string(source.Connection)+"/"+s.Name) {
				ch.Streams = append(ch.Streams, consent.StreamChoice{N: s.N})
			}
		}
	}
	return w.review(id, ch)
}

// review saves a choice and returns the approval of what it means.
func (w *world) review(id string, ch consent.Choice) as.Approval {
	w.T.Helper()
	if err := w.as.Choose(w.T.Context(), id, w.Subject, ch); err != nil {
		w.T.Fatal(err)
	}
	decision, faults, err := w.as.Review(w.T.Context(), id, w.Subject, ch)
	if err != nil || len(faults) > 0 {
		w.T.Fatalf("Review = %v, %v", faults, err)
	}
	return as.Approval{Request: id, Subject: w.Subject, Base: w.URL, Digest: decision.Digest()}
}

// approve approves a request and returns the parameters of the redirect.
func (w *world) approve(a as.Approval) url.Values {
	w.T.Helper()
	next, err := w.as.Approve(w.T.Context(), a)
	if err != nil {
		w.T.Fatal(err)
	}
	u, err := url.Parse(next)
	if err != nil {
		w.T.Fatal(err)
	}
	return u.Query()
}

// code takes a client through the code flow up to the code.
func (w *world) code(client string, d consent.Duration, streams ...string) string {
	w.T.Helper()
	return w.approve(w.choose(w.authorize(w.authorization(client)), d, streams...)).Get("code")
}

// redemption returns the parameters of the token request for a code.
func redemption(client, code string) url.Values {
	return params("grant_type", "authorization_code", "client_id", client, "redirect_uri", callback, "code", code, "code_verifier", verifier)
}

// connect takes a client through the whole code flow and returns the token answer.
func (w *world) connect(client string, d consent.Duration, streams ...string) resttest.Answer {
	w.T.Helper()
	a := w.token(redemption(client, w.code(client, d, streams...)))
	if a.Status != http.StatusOK {
		w.T.Fatalf("token: %d %s", a.Status, a.Body)
	}
	return a
}

func refreshing(client, token string) url.Values {
	return params("grant_type", "refresh_token", "client_id", client, "refresh_token", token)
}

// wantError checks status and code of an OAuth error.
func wantError(t testing.TB, a resttest.Answer, status int, code string) {
	t.Helper()
	if a.Status != status || text(a, "error") != code {
		t.Errorf("%s: %d %s, want %d %s", a.Request, a.Status, a.Body, status, code)
	}
}

// isLive reports whether the resource server accepts an access token.
func (w *world) isLive(token string) bool {
	w.T.Helper()
	a := w.Get(token, "/v1/streams")
	if a.Status != http.StatusOK && a.Status != http.StatusUnauthorized && a.Status != http.StatusForbidden {
		w.T.Fatalf("GET /v1/streams = %d %s", a.Status, a.Body)
	}
	return a.Status == http.StatusOK
}

func (w *world) grants() []store.Grant {
	w.T.Helper()
	var out []store.Grant
	err := w.Store.View(w.T.Context(), func(v store.View) (err error) {
		out, err = v.Grants(w.Subject, store.GrantFilter{})
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return out
}

func isNotFound(err error) bool { return pdpp.CodeOf(err) == pdpp.CodeNotFound }

package as_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"pdpp/internal/as"
	"pdpp/internal/consent"
	"pdpp/internal/outbound"
	"pdpp/internal/store"
	"pdpp/internal/tlstest"
)

// site is a host of client documents: a TLS server on loopback, of a test authority.
type site struct {
	port  string
	roots *x509.CertPool

	mu      sync.Mutex
	answer  http.HandlerFunc
	hits    int
	asked   map[string]int // look-ups of names
	resolve map[string][]string
	running int // requests in the handler
	most    int // of them at the same time
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{asked: map[string]int{}, resolve: map[string][]string{"localhost": {"127.0.0.1"}}}
	srv, roots := tlstest.Serve(t, http.HandlerFunc(s.serve), "app.example")
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	s.port, s.roots = u.Port(), roots
	s.set(s.document(nil))
	return s
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.hits++
	s.running++
	s.most = max(s.most, s.running)
	answer := s.answer
	s.mu.Unlock()
	answer(w, r)
	s.mu.Lock()
	s.running--
	s.mu.Unlock()
}

// LookupNetIP implements outbound.Resolver.
func (s *site) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[host]++
	var out []netip.Addr
	for _, addr := range s.resolve[host] {
		out = append(out, netip.MustParseAddr(addr))
	}
	if len(out) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return out, nil
}

// client is the id of the client whose document this site serves.
func (s *site) client() string { return s.url("localhost") }

func (s *site) url(host string) string { return "https://" + host + ":" + s.port + "/client.json" }

// set changes what the site answers.
func (s *site) set(h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = h
}

func (s *site) rebind(host string, addrs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resolve[host] = addrs
}

func (s *site) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits
}

// document answers with the document of the requested URL and changed members; nil removes
// one.
func (s *site) document(changes map[string]any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		doc := map[string]any{"client_id": "https://" + r.Host + r.URL.RequestURI(), "client_name": "Document app", "redirect_uris": []string{callback}}
		for name, value := range changes {
			if doc[name] = value; value == nil {
				delete(doc, name)
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "max-age=600")
		_ = json.NewEncoder(w).Encode(doc)
	}
}

func (s *site) policy() outbound.Policy {
	return outbound.Policy{AllowLoopback: true, RootCAs: s.roots, Resolver: s}
}

// accepting serves clients with documents, fetched under a policy.
func accepting(p outbound.Policy) func(*as.Config) {
	return func(c *as.Config) { c.Documents = p.Client(time.Minute) }
}

func newDocumentWorld(t *testing.T) (*world, *site) {
	t.Helper()
	s := newSite(t)
	return newWorld(t, accepting(s.policy())), s
}

// refusedAt checks that an authorization request shows a page with a text.
func (w *world) refusedAt(client, text string) {
	w.T.Helper()
	a := w.do("GET", "/oauth/authorize?"+w.authorization(client).Encode(), "", "")
	if a.Status != http.StatusBadRequest || a.Header.Get("Location") != "" || !strings.Contains(string(a.Body), text) {
		w.T.Errorf("authorize: %d %s %s, want a page with %q", a.Status, a.Header.Get("Location"), a.Body, text)
	}
}

func TestH154DocumentClient(t *testing.T) {
	w, s := newDocumentWorld(t)
	id := w.authorize(w.authorization(s.client()))
	req, err := w.as.Request(t.Context(), id, w.Subject)
	if err != nil {
		t.Fatal(err)
	}
	if c := req.Client; c.Name != "Document app" || c.Host != "localhost" || c.Mode != store.ModeDocument || string(c.ID) != s.client() {
		t.Errorf("client = %+v", c)
	}
	a := w.connect(s.client(), consent.DurationForever, "cin_work/messages")
	if text(a, "refresh_token") == "" || !w.isLive(text(a, "access_token")) {
		t.Errorf("token answer %s", a.Body)
	}
	if s.count() != 1 {
		t.Errorf("%d fetches, want one: the document is cached", s.count())
	}
	w.post("/oauth/par", w.authorization(s.client()))
	if got := w.post("/oauth/device_authorization", params("client_id", s.client())); text(got, "error") != "unauthorized_client" {
		t.Errorf("a grant type that the document does not state: %d %s", got.Status, got.Body)
	}

	// Another process shares the cache.
	other := serve(w.World, accepting(s.policy()))
	other.authorize(other.authorization(s.client()))
	if s.count() != 1 {
		t.Errorf("%d fetches, want one for all processes", s.count())
	}
}

func TestH162DocumentStatesGrantTypes(t *testing.T) {
	w, s := newDocumentWorld(t)
	s.set(s.document(map[string]any{"grant_types": []string{"authorization_code"}}))
	if a := w.connect(s.client(), consent.DurationForever, "cin_work/messages"); text(a, "refresh_token") != "" {
		t.Errorf("a client without refresh_token got one: %s", a.Body)
	}
}

func TestH133DocumentsOff(t *testing.T) {
	w, s := newDocumentWorld(t)
	a := w.connect(s.client(), consent.DurationForever, "cin_work/messages")
	off := serve(w.World)
	off.refusedAt(s.client(), "not known here")
	wantError(t, off.token(refreshing(s.client(), text(a, "refresh_token"))), 401, "invalid_client")
	if s.count() != 1 {
		t.Errorf("%d fetches, want none while documents are off", s.count()-1)
	}
}

// Every variant of an address that is not public is refused, and nothing reaches the host. Only
// localhost and its addresses are allowed here, and only because the policy of the test says so.
func TestH190DocumentsOfInternalHosts(t *testing.T) {
	nine := strings.Fields("127.0.0.1 127.0.0.1 127.0.0.1 127.0.0.1 127.0.0.1 127.0.0.1 127.0.0.1 127.0.0.1 127.0.0.1")
	for name, addrs := range map[string][]string{
		"loopback":               {"127.0.0.1"},
		"loopback of IPv6":       {"::1"},
		"IPv4-mapped":            {"::ffff:127.0.0.1"},
		"NAT64":                  {"64:ff9b::127.0.0.1"},
		"6to4":                   {"2002:7f00:1::1"},
		"private":                {"10.0.0.7"},
		"unique local":           {"fd00::7"},
		"link-local with a zone": {"fe80::7%eth0"},
		"unspecified":            {"0.0.0.0"},
		"metadata service":       {"169.254.169.254"},
		"metadata, IPv6":         {"fd00:ec2::254"},
		"metadata, mapped":       {"::ffff:169.254.169.254"},
		"public and loopback":    {"8.8.8.8", "127.0.0.1"},
		"nine addresses":         nine,
	} {
		t.Run(name, func(t *testing.T) {
			w, s := newDocumentWorld(t)
			s.rebind("app.example", addrs...)
			w.refusedAt(s.url("app.example"), "app.example has")
			for _, literal := range addrs {
				if s.count() > 0 || strings.Contains(w.Log.String(), literal) {
					t.Errorf("the host was reached %d times; log %s", s.count(), w.Log)
				}
			}
		})
	}
}

func TestH190DocumentsOfLiteralAddresses(t *testing.T) {
	s := newSite(t)
	strict := newWorld(t, accepting(outbound.Policy{RootCAs: s.roots, Resolver: s})) // as in production
	w := newWorld(t, accepting(s.policy()))
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]"} {
		strict.refusedAt(s.url(host), "not public")
	}
	for _, host := range []string{"[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[fd00:ec2::254]", "169.254.169.254", "127.1.2.3", "10.0.0.1"} {
		w.refusedAt(s.url(host), "not public")
	}
	for _, host := range []string{"0x7f000001", "2130706433", "127.1", "017700000001"} {
		w.refusedAt(s.url(host), "could not be resolved (if this server has no access to the internet") // names, not addresses
	}
	if s.count() != 0 {
		t.Errorf("%d requests reached the host", s.count())
	}
	w.authorize(w.authorization(s.url("127.0.0.1"))) // the allowance of the test
}

// A name that was public when its document was fetched is checked again at the next fetch.
func TestH190DocumentsRebinding(t *testing.T) {
	w, s := newDocumentWorld(t)
	w.authorize(w.authorization(s.client()))
	for _, addr := range []string{"169.254.169.254", "10.0.0.7", "::ffff:10.0.0.7"} {
		w.Advance(10 * time.Minute)
		s.rebind("localhost", addr)
		w.refusedAt(s.client(), "not public")
	}
	if s.count() != 1 || s.asked["localhost"] != 4 {
		t.Errorf("%d requests after %d look-ups, want 1 after 4", s.count(), s.asked["localhost"])
	}
}

func TestH154RefusedDocuments(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Location", "/elsewhere.json")
			w.WriteHeader(code)
		}
	}
	s := newSite(t)
	typed := func(kind string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			rec := &retyped{w, kind}
			s.document(nil)(rec, r)
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		text   string
	}{
		"redirect 301":   {status(301), "answered 301"},
		"redirect 302":   {status(302), "answered 302"},
		"redirect 307":   {status(307), "answered 307"},
		"redirect 308":   {status(308), "answered 308"},
		"201":            {status(201), "answered 201"},
		"204":            {status(204), "answered 204"},
		"404":            {status(404), "answered 404"},
		"500":            {status(500), "answered 500"},
		"HTML":           {typed("text/html"), "Content-Type"},
		"no type":        {typed(""), "Content-Type"},
		"too large":      {s.document(map[string]any{"x": strings.Repeat("x", 64<<10)}), "larger than 65536"},
		"another client": {s.document(map[string]any{"client_id": "https://app.example/client.json"}), "client_id"},
		"a secret":       {s.document(map[string]any{"client_secret": "s"}), "client_secret"},
		"a long header": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 64<<10))
			s.document(nil)(w, r)
		}, "did not answer"},
		"half a body": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			s.document(nil)(w, r)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "complete answer"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, accepting(s.policy()))
			s.set(c.answer)
			w.refusedAt(s.client(), c.text)
		})
	}
	s.set(typed("application/cimd+json; charset=utf-8"))
	w := newWorld(t, accepting(s.policy()))
	w.authorize(w.authorization(s.client()))

	strange := newWorld(t, accepting(outbound.Policy{AllowLoopback: true, Resolver: s})) // without the test authority
	strange.refusedAt(s.client(), "no valid certificate")
}

// retyped is a response with another Content-Type.
type retyped struct {
	http.ResponseWriter
	kind string
}

func (r *retyped) Write(p []byte) (int, error) {
	r.Header()["Content-Type"] = []string{r.kind}
	return r.ResponseWriter.Write(p)
}

func TestH154FetchEndsInTime(t *testing.T) {
	s := newSite(t)
	s.set(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	w := newWorld(t, func(c *as.Config) { c.Documents = s.policy().Client(time.Millisecond) })
	w.refusedAt(s.client(), "did not answer in time")
}

func TestH154FailuresAreRemembered(t *testing.T) {
	w, s := newDocumentWorld(t)
	s.set(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	for range 3 {
		w.refusedAt(s.client(), "answered 503")
	}
	s.set(s.document(nil))
	w.Advance(59 * time.Second)
	w.refusedAt(s.client(), "answered 503")
	if s.count() != 1 {
		t.Errorf("%d fetches, want one in a minute", s.count())
	}
	w.Advance(time.Second)
	w.authorize(w.authorization(s.client()))
}

func TestH154FetchesAreLimited(t *testing.T) {
	s := newSite(t)
	w := newWorld(t, behindProxy, accepting(s.policy()))
	begin := func(n int, addr string) int {
		v := w.authorization(fmt.Sprintf("%s?n=%d", s.client(), n))
		return w.do("GET", "/oauth/authorize?"+v.Encode(), "", "", "X-Forwarded-For: "+addr).Status
	}
	for i := range 20 {
		if got := begin(i, "192.0.2.1"); got != http.StatusSeeOther {
			t.Fatalf("fetch %d: %d", i, got)
		}
	}
	if got := begin(20, "192.0.2.1"); got != http.StatusTooManyRequests {
		t.Errorf("fetch 21: %d, want 429", got)
	}
	if got := begin(3, "192.0.2.1"); got != http.StatusSeeOther {
		t.Errorf("a cached document: %d", got)
	}
	if got := begin(20, "192.0.2.2"); got != http.StatusSeeOther {
		t.Errorf("another address: %d", got)
	}
	w.Advance(time.Minute)
	if got := begin(21, "192.0.2.1"); got != http.StatusSeeOther {
		t.Errorf("a minute later: %d", got)
	}
}

// Requests that wait for a slow host do not occupy the server.
func TestH154WaitingIsLimited(t *testing.T) {
	w, s := newDocumentWorld(t)
	plain, release := s.document(nil), make(chan struct{})
	s.set(func(rw http.ResponseWriter, r *http.Request) {
		<-release
		plain(rw, r)
	})
	answers := make(chan int)
	for i := range 24 {
		go func() {
			answers <- w.do("GET", "/oauth/authorize?"+w.authorization(fmt.Sprintf("%s?n=%d", s.client(), i)).Encode(), "", "").Status
		}()
	}
	for range 4 {
		if got := <-answers; got != http.StatusTooManyRequests {
			t.Errorf("a request beyond the limit: %d, want 429", got)
		}
	}
	close(release)
	for range 20 {
		<-answers
	}
}

func TestH154FloodOfDocuments(t *testing.T) {
	w, s := newDocumentWorld(t)
	w.connect(s.client(), consent.DurationForever, "cin_work/messages") // is not unused
	w.Update(func(tx store.Tx) error {
		for i := range 5000 {
			e := store.Entry{Kind: store.EntryDocument, Key: fmt.Sprint("https://x.example/", i), Body: []byte("{}"), CreatedAt: w.Now(), DeleteAfter: w.Now().Add(time.Hour)}
			if err := tx.PutEntry(e); err != nil {
				return err
			}
		}
		return nil
	})
	wantError(t, w.post("/oauth/par", w.authorization(s.url("127.0.0.1"))), 429, "temporarily_unavailable")
	w.authorize(w.authorization(s.client())) // a client with access still works
	w.client()                               // as does registration
	w.Advance(time.Hour)
	w.Update(func(tx store.Tx) error { _, err := tx.PruneEntries(w.Now().Add(time.Second), 10000); return err })
	w.authorize(w.authorization(s.url("127.0.0.1")))
	w.authorize(w.authorization(s.client()))
}

func TestH154OneFetchAtATimePerHost(t *testing.T) {
	w, s := newDocumentWorld(t)
	plain := s.document(nil)
	s.set(func(rw http.ResponseWriter, r *http.Request) {
		time.Sleep(2 * time.Millisecond) // so that fetches would overlap
		plain(rw, r)
	})
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() { w.authorize(w.authorization(fmt.Sprintf("%s?n=%d", s.client(), i%6))) })
	}
	all.Wait()
	if s.most != 1 || s.count() != 6 {
		t.Errorf("%d fetches, %d at the same time; want 6, one at a time", s.count(), s.most)
	}
}

func TestH155FailedRefetch(t *testing.T) {
	w, s := newDocumentWorld(t)
	a := w.connect(s.client(), consent.DurationForever, "cin_work/messages")
	code := w.code(s.client(), consent.DurationForever, "cin_home/messages")
	w.Advance(10*time.Minute - time.Second)
	w.authorize(w.authorization(s.client()))
	if s.count() != 1 {
		t.Fatalf("%d fetches within max-age, want one", s.count())
	}
	s.set(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	w.Advance(time.Second)
	w.refusedAt(s.client(), "answered 404")
	wantError(t, w.token(redemption(s.client(), code)), 401, "invalid_client")
	a = w.token(refreshing(s.client(), text(a, "refresh_token"))).OK()
	w.Advance(7*24*time.Hour - 10*time.Minute - time.Second)
	a = w.token(refreshing(s.client(), text(a, "refresh_token"))).OK()
	w.Advance(time.Second)
	wantError(t, w.token(refreshing(s.client(), text(a, "refresh_token"))), 401, "invalid_client")

	s.set(s.document(nil)) // the document is back
	w.Advance(time.Minute)
	w.token(refreshing(s.client(), text(a, "refresh_token"))).OK()
	w.authorize(w.authorization(s.client()))
}

// While an address has used up its fetches, refreshing works from the stored document.
func TestH155RefreshNeedsNoFetch(t *testing.T) {
	w, s := newDocumentWorld(t)
	a := w.connect(s.client(), consent.DurationForever, "cin_work/messages")
	w.Advance(time.Hour)
	for i := range 20 {
		w.authorize(w.authorization(fmt.Sprintf("%s?n=%d", s.client(), i)))
	}
	w.token(refreshing(s.client(), text(a, "refresh_token"))).OK()
	wantError(t, w.post("/oauth/par", w.authorization(s.client())), 429, "temporarily_unavailable")
	wantError(t, w.token(refreshing(s.url("127.0.0.1"), "x")), 401, "invalid_client")
	if s.count() != 21 {
		t.Errorf("%d fetches, want none for a client without tokens", s.count())
	}
}

func TestH155DroppedRedirectURI(t *testing.T) {
	w, s := newDocumentWorld(t)
	s.set(func(rw http.ResponseWriter, r *http.Request) {
		s.document(map[string]any{"redirect_uris": []string{callback, "https://app.example/other"}})(rw, r)
	})
	a := w.connect(s.client(), consent.DurationForever, "cin_work/messages")
	w.Advance(10*time.Minute - 30*time.Second)
	code := w.code(s.client(), consent.DurationForever, "cin_work/messages")
	open := w.authorize(w.authorization(s.client()))
	reviewed := w.choose(open, consent.DurationForever, "cin_work/messages")
	pushed := text(w.post("/oauth/par", w.authorization(s.client())), "request_uri")
	other := w.authorize(with(w.authorization(s.client()), "redirect_uri", "https://app.example/other"))

	s.set(s.document(map[string]any{"redirect_uris": []string{"https://app.example/other"}}))
	w.Advance(30 * time.Second)
	w.refusedAt(s.client(), "redirect_uri is not one that the client registered")
	wantError(t, w.token(redemption(s.client(), code)), 400, "invalid_grant")
	if _, err := w.as.Request(t.Context(), open, w.Subject); !isNotFound(err) {
		t.Errorf("an open request: %v, want none", err)
	}
	if next, err := w.as.Approve(t.Context(), reviewed); !isNotFound(err) || next != "" {
		t.Errorf("Approve = %q, %v; want not_found", next, err)
	}
	if next, err := w.as.Deny(t.Context(), w.URL, open, w.Subject); !isNotFound(err) || next != "" {
		t.Errorf("Deny = %q, %v: something is sent to a dropped URI", next, err)
	}
	begun := w.authorize(params("client_id", s.client(), "request_uri", pushed))
	if _, err := w.as.Request(t.Context(), begun, w.Subject); !isNotFound(err) {
		t.Errorf("a pushed request: %v, want none", err)
	}
	if _, err := w.as.Request(t.Context(), other, w.Subject); err != nil {
		t.Errorf("a request with a URI that is still there: %v", err)
	}
	w.token(refreshing(s.client(), text(a, "refresh_token"))).OK() // tokens are not sent anywhere
}

func TestH155GivenUpClientID(t *testing.T) {
	for name, change := range map[string]map[string]any{
		"vanished": {"client_id": nil},
		"changed":  {"client_id": "https://app.example/other.json"},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := newDocumentWorld(t)
			one := w.connect(s.client(), consent.DurationForever, "cin_work/messages")
			both := w.token(with(redemption(s.client(), w.code(s.client(), consent.DurationForever, "cin_work/messages", "cin_home/messages")))).OK()
			bystander := w.client()
			its := w.connect(bystander, consent.DurationForever, "cin_work/messages")
			open := w.authorize(w.authorization(s.client()))

			s.set(s.document(change))
			w.Advance(10 * time.Minute)
			wantError(t, w.token(refreshing(s.client(), text(one, "refresh_token"))), 401, "invalid_client")
			if w.isLive(text(one, "access_token")) {
				t.Error("the access token still works")
			}
			w.checkDocumentAudit(2)
			if _, err := w.as.Request(t.Context(), open, w.Subject); !isNotFound(err) {
				t.Errorf("an open request: %v, want none", err)
			}
			if !w.isLive(text(its, "access_token")) {
				t.Error("the token of another client was revoked")
			}

			s.set(s.document(nil)) // whoever serves the URL now does not get the tokens back
			w.Advance(time.Minute)
			w.authorize(w.authorization(s.client()))
			for _, a := range []string{text(one, "refresh_token"), text(both, "refresh_token")} {
				wantError(t, w.token(refreshing(s.client(), a)), 400, "invalid_grant")
			}
		})
	}
}

// checkDocumentAudit checks that the owner's audit has a row for each access whose tokens a
// changed document ended (H-197).
func (w *world) checkDocumentAudit(want int) {
	w.T.Helper()
	err := w.Store.View(w.T.Context(), func(v store.View) error {
		rows, err := v.Audits(w.Subject, 100)
		n := 0
		for _, row := range rows {
			if row.Action == store.DocumentChanged && row.Actor == store.ByClient {
				n++
			}
		}
		if err == nil && n != want {
			w.T.Errorf("%d audit rows about the document, want %d: %+v", n, want, rows)
		}
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
}

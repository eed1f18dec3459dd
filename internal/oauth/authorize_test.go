package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
)

// browser answers an authorization request as a browser does.
type browser struct {
	t *testing.T
	q url.Values // of the request
}

func open(t *testing.T, address string) *browser {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, u.Query()}
}

// answer sends an answer to the callback in the background. The test waits for its end.
func (b *browser) answer(q url.Values) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.request("GET", callbackPath, "", q)
	}()
	b.t.Cleanup(func() { <-done })
}

// request sends a request to the port of the callback and returns its status.
func (b *browser) request(method, path, host string, q url.Values) int {
	b.t.Helper()
	target, err := url.Parse(b.q.Get("redirect_uri"))
	if err != nil {
		b.t.Fatal(err)
	}
	target.Path, target.RawQuery = path, q.Encode()
	req, err := http.NewRequestWithContext(context.WithoutCancel(b.t.Context()), method, target.String(), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	if host != "" {
		req.Host = host
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Error(err)
		return 0
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil || strings.Contains(string(page), "the-code") || resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("Referrer-Policy") != "no-referrer" {
		b.t.Errorf("the page may leak: %v %v\n%s", err, resp.Header, page)
	}
	return resp.StatusCode
}

// valid returns the parameters of a valid answer.
func (b *browser) valid(f *fake) url.Values {
	return url.Values{"code": {"the-code"}, "state": b.q["state"], "iss": {f.URL}}
}

var forClient = Request{ClientID: "cli_1"}

func TestH200BrowserFlow(t *testing.T) {
	f := newFake(t)
	var asked *browser
	token, err := new(Client).Authorize(t.Context(), f.discover(), Request{"cli_1", json.RawMessage(`[{"type":"t"}]`)}, func(address string) {
		asked = open(t, address)
		if !strings.HasPrefix(address, f.URL+"/authorize?") {
			t.Errorf("the page is %s", address)
		}
		asked.answer(asked.valid(f))
	})
	if err != nil || token.AccessToken != "at" || token.RefreshToken != "rt" || token.ExpiresIn != 3600 || !strings.Contains(string(token.Raw), "grt_1") {
		t.Fatalf("%+v, %v", token, err)
	}
	form := f.last("/token").form
	want := url.Values{
		"grant_type": {"authorization_code"}, "code": {"the-code"}, "client_id": {"cli_1"}, "redirect_uri": asked.q["redirect_uri"],
		"code_verifier": form["code_verifier"], "resource": {f.URL},
	}
	if diff := cmp.Diff(want, form); diff != "" {
		t.Errorf("the token request (-want +got)\n%s", diff)
	}
	if len(form.Get("code_verifier")) < 43 || asked.q.Get("code_challenge") != challengeOf(form.Get("code_verifier")) || asked.q.Get("code_challenge_method") != "S256" {
		t.Errorf("the challenge %v does not match %v", asked.q, form)
	}
	for name, want := range map[string]string{"response_type": "code", "resource": f.URL, "authorization_details": `[{"type":"t"}]`} {
		if got := asked.q.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if len(asked.q.Get("state")) < 43 || !strings.HasPrefix(asked.q.Get("redirect_uri"), "http://127.0.0.1:") {
		t.Errorf("asked with %v", asked.q)
	}
	if _, err := http.Get(asked.q.Get("redirect_uri")); err == nil { //nolint:bodyclose // there is no server
		t.Error("the port still answers")
	}
}

// The challenge is that of RFC 7636, appendix B.
func TestH200Challenge(t *testing.T) {
	if got := challengeOf("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"); got != "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" {
		t.Error(got)
	}
}

func TestH200PushedRequest(t *testing.T) {
	f := newFake(t)
	f.change(serverPath, "pushed_authorization_request_endpoint", f.URL+"/par")
	f.answers["/par"] = map[string]any{"request_uri": "urn:x", "expires_in": 300}
	s := f.discover()
	_, err := new(Client).Authorize(t.Context(), s, forClient, func(address string) {
		if want := f.URL + "/authorize?client_id=cli_1&request_uri=urn%3Ax"; address != want {
			t.Errorf("the page is %s, want %s", address, want)
		}
		b := &browser{t, f.last("/par").form}
		b.answer(b.valid(f))
	})
	if err != nil {
		t.Fatal(err)
	}
	f.answers["/par"] = map[string]any{"error": "invalid_client"}
	_, err = new(Client).Authorize(t.Context(), s, forClient, func(address string) { t.Errorf("%s is opened", address) })
	wantCode(t, err, pdpp.CodeTokenRequest)
	if !errors.Is(err, ErrUnknownClient) {
		t.Errorf("the error is %v", err)
	}
}

func TestH200AnswersThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(q url.Values)
		code   pdpp.Code
	}{
		{"another state", func(q url.Values) { q.Set("state", "x") }, pdpp.CodeStateMismatch},
		{"no state", func(q url.Values) { q.Del("state") }, pdpp.CodeStateMismatch},
		{"two states", func(q url.Values) { q.Add("state", "x") }, pdpp.CodeStateMismatch},
		{"two codes", func(q url.Values) { q.Add("code", "x") }, pdpp.CodeStateMismatch},
		{"an error with another state", func(q url.Values) { q.Set("state", "x"); q.Set("error", "access_denied") }, pdpp.CodeStateMismatch},
		{"mix-up: the issuer of another server", func(q url.Values) { q.Set("iss", "https://elsewhere.example") }, pdpp.CodeIssuerMismatch},
		{"mix-up: no issuer", func(q url.Values) { q.Del("iss") }, pdpp.CodeIssuerMismatch},
		{"mix-up: an error of another server", func(q url.Values) { q.Set("iss", "https://elsewhere.example"); q.Set("error", "x") }, pdpp.CodeIssuerMismatch},
		{"the owner declined", func(q url.Values) { q.Set("error", "access_denied") }, pdpp.CodeApprovalDenied},
		{"another error", func(q url.Values) { q.Set("error", "invalid_target"); q.Set("error_description", "a\x1b[31m\nb") }, pdpp.CodeTokenRequest},
		{"no code", func(q url.Values) { q.Del("code") }, pdpp.CodeTokenRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			status := make(chan int, 1)
			_, err := new(Client).Authorize(t.Context(), f.discover(), forClient, func(address string) {
				b := open(t, address)
				q := b.valid(f)
				c.change(q)
				go func() { status <- b.request("GET", callbackPath, "", q) }()
			})
			wantCode(t, err, c.code)
			if got := <-status; got != http.StatusBadRequest {
				t.Errorf("the page has status %d", got)
			}
			for _, r := range f.requests {
				if r.path == "/token" {
					t.Error("a code was redeemed")
				}
			}
		})
	}
}

// Other requests to the port do not count.
func TestH200OtherRequestsToThePort(t *testing.T) {
	f := newFake(t)
	_, err := new(Client).Authorize(t.Context(), f.discover(), forClient, func(address string) {
		b := open(t, address)
		go func() {
			for _, r := range []struct {
				method, path, host string
				want               int
			}{
				{"GET", "/", "", 404},
				{"GET", "/favicon.ico", "", 404},
				{"GET", "/callback/x", "", 404},
				{"GET", "/Callback", "", 404},
				{"GET", callbackPath, "evil.example", 404},
				{"POST", callbackPath, "", 405},
				{"HEAD", callbackPath, "", 405},
			} {
				if got := b.request(r.method, r.path, r.host, b.valid(f)); got != r.want {
					t.Errorf("%s %s at %q: %d, want %d", r.method, r.path, r.host, got, r.want)
				}
			}
			b.request("GET", callbackPath, "", b.valid(f))
		}()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The first answer counts, whether it is valid or not.
func TestH200SecondAnswer(t *testing.T) {
	cb := newCallback(&Server{Issuer: "https://as.example"}, "127.0.0.1:1")
	for i, want := range []int{http.StatusOK, http.StatusGone} {
		w := httptest.NewRecorder()
		q := url.Values{"code": {fmt.Sprint("code", i)}, "state": {cb.state}}
		cb.ServeHTTP(w, httptest.NewRequest("GET", cb.uri()+"?"+q.Encode(), nil))
		if w.Code != want {
			t.Errorf("answer %d: status %d, want %d", i, w.Code, want)
		}
	}
	if got := <-cb.result; got.code != "code0" || got.err != nil {
		t.Errorf("the result is %+v", got)
	}
}

// An issuer is required only from servers that announce it (RFC 9207 §2.4).
func TestH200IssuerThatIsNotAnnounced(t *testing.T) {
	cb := newCallback(&Server{Issuer: "https://as.example"}, "127.0.0.1:1")
	q := url.Values{"code": {"c"}, "state": {cb.state}}
	if _, err := cb.check(q); err != nil {
		t.Error(err)
	}
	q.Set("iss", "https://elsewhere.example")
	_, err := cb.check(q)
	wantCode(t, err, pdpp.CodeIssuerMismatch)
}

func TestH200NoApprovalInTime(t *testing.T) {
	f := newFake(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := new(Client).Authorize(ctx, &Server{Provider: f.URL, Authorization: f.URL + "/authorize"}, forClient, func(string) { <-ctx.Done() })
	wantCode(t, err, pdpp.CodeApprovalExpired)
	ctx, interrupt := context.WithCancel(t.Context())
	_, err = new(Client).Authorize(ctx, f.discover(), forClient, func(string) { interrupt() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestH200TokenEndpointThatMisbehaves(t *testing.T) {
	var stolen atomic.Int32
	thief := newFake(t)
	thief.answers["/token"] = func(http.ResponseWriter, url.Values) { stolen.Add(1) }
	for name, answer := range map[string]any{
		"redirect": func(w http.ResponseWriter, _ url.Values) {
			w.Header().Set("Location", thief.URL+"/token")
			w.WriteHeader(307)
		},
		"no token":      map[string]any{"token_type": "Bearer"},
		"another type":  map[string]any{"access_token": "a", "token_type": "DPoP"},
		"refused":       map[string]any{"error": "invalid_grant", "error_description": "used\nbefore"},
		"without end":   strings.Repeat("x", responseMax+1),
		"a broken pipe": func(http.ResponseWriter, url.Values) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.answers["/token"] = answer
			_, err := new(Client).Authorize(t.Context(), f.discover(), forClient, func(address string) {
				b := open(t, address)
				b.answer(b.valid(f))
			})
			wantCode(t, err, pdpp.CodeTokenRequest)
			if strings.Contains(fmt.Sprint(err), "the-code") {
				t.Errorf("the code is in the error: %v", err)
			}
		})
	}
	if stolen.Load() != 0 {
		t.Error("the code was sent to another address")
	}
}

func TestH165Exchange(t *testing.T) {
	f := newFake(t)
	token, err := new(Client).Exchange(t.Context(), f.URL+"/token", "cli_1", "pdpp_pt_x", "grt_2")
	if err != nil || token.AccessToken != "at" {
		t.Fatalf("%+v, %v", token, err)
	}
	want := url.Values{
		"grant_type": {grantExchange}, "client_id": {"cli_1"}, "subject_token": {"pdpp_pt_x"}, "subject_token_type": {typeAccessToken}, "pdpp_grant_id": {"grt_2"},
	}
	if diff := cmp.Diff(want, f.last("/token").form); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := new(Client).Exchange(t.Context(), "http://elsewhere.example/token", "cli_1", "pdpp_pt_x", "grt_2"); err == nil || strings.Contains(err.Error(), "pdpp_pt_x") {
		t.Errorf("sent without TLS: %v", err)
	}
}

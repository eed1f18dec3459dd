package credential

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/oauth"
)

// endpoint is a token endpoint with rotation: each refresh token works once.
type endpoint struct {
	*httptest.Server
	calls  atomic.Int32
	answer func(w http.ResponseWriter, form url.Values)
}

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	e := &endpoint{}
	next := "rt_0"
	var mu sync.Mutex
	e.answer = func(w http.ResponseWriter, form url.Values) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if form.Get("grant_type") != "refresh_token" || form.Get("client_id") != "cli_1" || form.Get("refresh_token") != next {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant"}`)
			return
		}
		n := e.calls.Load()
		next = fmt.Sprint("rt_", n)
		fmt.Fprintf(w, `{"access_token":"at_%d","token_type":"bearer","expires_in":3600,"refresh_token":%q}`, n, next)
	}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.calls.Add(1)
		if r.Method != http.MethodPost || r.ParseForm() != nil || r.Header.Get("Authorization") != "" {
			t.Errorf("%s %v with %v", r.Method, r.Form, r.Header)
		}
		e.answer(w, r.PostForm)
	}))
	t.Cleanup(e.Close)
	return e
}

// renewable returns a credential that expires soon and can be renewed.
func renewable(e *endpoint) *Credential {
	cred := sample("grt_1")
	cred.Token, cred.Refresh, cred.ExpiresAt = "at_0", "rt_0", noon.Add(30*time.Second)
	cred.TokenEndpoint, cred.ClientID = e.URL, "cli_1"
	return cred
}

func TestRenewalKeepsUnknownMembers(t *testing.T) {
	c, _ := open(t)
	e := newEndpoint(t)
	writeFile(t, c, "grt_1.json", `{"provider_url":"https://data.example","token_endpoint":"`+e.URL+`","big":12345678901234567890,
		"client":{"client_id":"cli_1","software":"x<y"},"created_at":"2026-05-01T09:00:00Z",
		"credential":{"kind":"client","access_token":"at_0","token_type":"Bearer","expires_at":"2026-05-01T12:00:10Z","refresh_token":"rt_0",
		"grant_id":"grt_1","note":{"a":1.50}}}`)
	cred, err := c.Choose(provider, "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Renew(t.Context(), cred, cred.Token)
	if err != nil {
		t.Fatal(err)
	}
	if got.Token != "at_1" || got.Refresh != "rt_1" || !got.ExpiresAt.Equal(noon.Add(time.Hour)) {
		t.Errorf("renewed: %+v", got)
	}
	raw, err := os.ReadFile(cred.Path)
	if err != nil {
		t.Fatal(err)
	}
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	in := o.inner("credential")
	facts := map[string]string{
		"big": string(o["big"]), "software": o.inner("client").text("software"), "note": strings.Join(strings.Fields(string(in["note"])), ""),
		"created": o.text("created_at"), "updated": o.text("updated_at"), "token": in.text("access_token"),
	}
	want := map[string]string{
		"big": "12345678901234567890", "software": "x<y", "note": `{"a":1.50}`,
		"created": "2026-05-01T09:00:00.000Z", "updated": "2026-05-01T12:00:00.000Z", "token": "at_1",
	}
	if diff := cmp.Diff(want, facts); diff != "" {
		t.Errorf("H-203 the file (-want +got):\n%s", diff)
	}
}

// Locks belong to open files, so that several caches behave like several processes.
func TestConcurrentRenewal(t *testing.T) {
	c, _ := open(t)
	e := newEndpoint(t)
	cred := put(t, c, renewable(e))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			other := &Cache{Root: c.Root, Now: c.Now, Warn: func(m string) { t.Error(m) }}
			h, err := other.Hold(provider, "")
			if err != nil {
				t.Error(err)
				return
			}
			if token, err := h.Token(t.Context()); err != nil || token != "at_1" {
				t.Errorf("Token = %q, %v, want at_1", token, err)
			}
		})
	}
	wg.Wait()
	if n := e.calls.Load(); n != 1 {
		t.Errorf("H-205 %d renewals of %s, want 1", n, cred.ID)
	}
}

func TestInvalidGrantIsPermanent(t *testing.T) {
	c, _ := open(t)
	e := newEndpoint(t)
	bad := renewable(e)
	bad.Refresh = "rt_used"
	put(t, c, bad)
	h, err := c.Hold(provider, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := h.Renew(t.Context(), "at_0"); ok || err != nil {
		t.Errorf("Renew = %v, %v, want false, nil", ok, err)
	}
	_, err = h.Token(t.Context())
	wantCode(t, "the next read", err, pdpp.CodeCredentialExpired)
	_, err = c.Choose(provider, "")
	wantCode(t, "the next start", err, pdpp.CodeCredentialExpired)
	if n := e.calls.Load(); n != 1 {
		t.Errorf("%d requests to the endpoint, want 1", n)
	}

	next := renewable(e)
	next.ID, next.Token, next.CreatedAt, next.ExpiresAt = "grt_2", "at_new", noon, noon.Add(time.Hour)
	put(t, c, next)
	if token, err := h.Token(t.Context()); err != nil || token != "at_new" {
		t.Errorf("MS-267 after a new credential: %q, %v", token, err)
	}
}

func TestTemporaryFailureKeepsToken(t *testing.T) {
	c, _ := open(t)
	e := newEndpoint(t)
	put(t, c, renewable(e))
	e.answer = func(w http.ResponseWriter, _ url.Values) { w.WriteHeader(http.StatusBadGateway) }
	h, err := c.Hold(provider, "")
	if err != nil {
		t.Fatal(err)
	}
	if token, err := h.Token(t.Context()); err != nil || token != "at_0" {
		t.Errorf("30 seconds before the expiry: %q, %v", token, err)
	}
	c.Now = func() time.Time { return noon.Add(time.Minute) }
	_, err = h.Token(t.Context())
	wantCode(t, "after the expiry", err, pdpp.CodeProviderUnreachable)
	if strings.Contains(err.Error(), "rt_0") {
		t.Errorf("MS-48 the error contains a secret: %v", err)
	}
}

func TestInvalidTokenResponses(t *testing.T) {
	var stolen atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	defer thief.Close()
	for name, answer := range map[string]func(http.ResponseWriter, url.Values){
		"redirect": func(w http.ResponseWriter, _ url.Values) {
			w.Header().Set("Location", thief.URL)
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
		"invalid JSON": func(w http.ResponseWriter, _ url.Values) { fmt.Fprint(w, "<html>") },
		"no token":     func(w http.ResponseWriter, _ url.Values) { fmt.Fprint(w, `{"token_type":"Bearer"}`) },
		"another type": func(w http.ResponseWriter, _ url.Values) { fmt.Fprint(w, `{"access_token":"x","token_type":"mac"}`) },
		"owner token after a space": func(w http.ResponseWriter, _ url.Values) {
			fmt.Fprint(w, `{"access_token":" pdpp_ot_x","token_type":"Bearer"}`)
		},
		"owner token": func(w http.ResponseWriter, _ url.Values) {
			fmt.Fprint(w, `{"access_token":"pdpp_ot_x","token_type":"Bearer"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := open(t)
			e := newEndpoint(t)
			e.answer = answer
			cred := put(t, c, renewable(e))
			if got, err := c.Renew(t.Context(), cred, cred.Token); err == nil {
				t.Errorf("renewed: %+v", got)
			}
			kept, err := c.Choose(provider, "")
			if err != nil || kept.Token != "at_0" || kept.Refresh != "rt_0" {
				t.Errorf("the file changed: %+v, %v", kept, err)
			}
		})
	}
	if n := stolen.Load(); n != 0 {
		t.Errorf("the secret was sent to another address %d times", n)
	}
}

func TestRecheckChoosesAgain(t *testing.T) {
	c, _ := open(t)
	put(t, c, sample("grt_1"))
	h, err := c.Hold(provider, "")
	if err != nil {
		t.Fatal(err)
	}
	second := sample("grt_2")
	second.CreatedAt = noon
	put(t, c, second)
	if token, _ := h.Token(t.Context()); token != "pdpp_at_grt_1" {
		t.Errorf("a new credential is used before a rejected read: %q", token)
	}
	h.Recheck(t.Context())
	if token, err := h.Token(t.Context()); err != nil || token != "pdpp_at_grt_2" {
		t.Errorf("MS-267 after a rejected read: %q, %v", token, err)
	}
}

// A token that the provider reports as an owner token is always rejected, even when its
// file was missing and could not be marked (D5).
func TestSTDIO3OwnerTokenIsRefused(t *testing.T) {
	for name, missing := range map[string]bool{"marked": false, "missing": true} {
		t.Run("STDIO-3 "+name, func(t *testing.T) {
			c, _ := open(t)
			path := put(t, c, sample("grt_1")).Path
			h, err := c.Hold(provider, "")
			if err != nil {
				t.Fatal(err)
			}
			token, err := h.Token(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if missing {
				if err := os.Rename(path, path+".moved"); err != nil {
					t.Fatal(err)
				}
			}
			if err := h.RefuseOwner(t.Context(), token); err != nil {
				t.Fatal(err)
			}
			if missing {
				if err := os.Rename(path+".moved", path); err != nil {
					t.Fatal(err)
				}
			}
			_, err = h.Token(t.Context())
			wantCode(t, "Token", err, pdpp.CodeOwnerCredential)
			_, err = c.Choose(provider, "")
			if !missing {
				wantCode(t, "the next start", err, pdpp.CodeOwnerCredential)
			}
		})
	}
}

// Messages do not contain the user or the query of a token endpoint.
func TestMessagesHideSecretsOfEndpoints(t *testing.T) {
	cause := &url.Error{Op: "Post", URL: "https://a.example/t?key=hidden", Err: errInvalidGrant}
	err := (&Credential{ID: "grt_1", TokenEndpoint: cause.URL}).checkToken(nil, &oauth.Failure{URL: oauth.Shown(cause.URL), Why: "it cannot be reached", Err: cause.Err})
	if shown := fmt.Sprint(err, errors.Unwrap(err)); strings.Contains(shown, "hidden") || !strings.Contains(shown, "https://a.example/t") {
		t.Errorf("ERR-1 the error is %s", shown)
	}
	err = (&Credential{Refresh: "r", ClientID: "c", TokenEndpoint: "https://u:hidden@a.example/t"}).CheckRenewal()
	if err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("ERR-1 the error is %v", err)
	}
}

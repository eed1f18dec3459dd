package as_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/as"
	"pdpp/internal/consent"
	"pdpp/internal/httpx"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/store"
)

// behindProxy serves requests whose client address is in X-Forwarded-For.
func behindProxy(c *as.Config) {
	c.Edge = &httpx.Edge{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
}

func TestH153RegistrationIsLimited(t *testing.T) {
	w := newWorld(t, behindProxy)
	register := func(addr string) resttest.Answer {
		return w.do("POST", "/oauth/register", "application/json", `{"redirect_uris":["`+callback+`"]}`, "X-Forwarded-For: "+addr)
	}
	for range 30 {
		if a := register("2001:db8::1"); a.Status != http.StatusCreated {
			t.Fatalf("registration: %d %s", a.Status, a.Body)
		}
	}
	a := register("2001:db8::2") // of the same network
	wantError(t, a, 429, "temporarily_unavailable")
	if wait, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || wait < 1 || wait > 3601 {
		t.Errorf("Retry-After = %q", a.Header.Get("Retry-After"))
	}
	if a := register("192.0.2.7"); a.Status != http.StatusCreated {
		t.Errorf("another address: %d %s", a.Status, a.Body)
	}
	w.Advance(time.Hour)
	if a := register("2001:db8::1"); a.Status != http.StatusCreated {
		t.Errorf("an hour later: %d %s", a.Status, a.Body)
	}
}

func TestH153FloodOfRegistrations(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	w.connect(client, consent.DurationForever, "cin_work/messages") // is not unused
	w.Update(func(tx store.Tx) error {
		for i := range 4999 {
			e := store.Entry{Kind: store.EntryClient, Key: "cli_" + strconv.Itoa(i), Body: []byte("{}"), CreatedAt: w.Now(), DeleteAfter: w.Now().Add(time.Hour)}
			if err := tx.PutEntry(e); err != nil {
				return err
			}
		}
		return nil
	})
	w.client()
	wantError(t, w.do("POST", "/oauth/register", "application/json", `{"redirect_uris":["`+callback+`"]}`), 429, "temporarily_unavailable")
	w.authorize(w.authorization(client)) // known clients still work
}

// A flood closes the registration for a day at most.
func TestH153FloodEnds(t *testing.T) {
	w := newWorld(t)
	early := w.client()
	w.Update(func(tx store.Tx) error {
		for i := range 999 {
			e := store.Entry{Kind: store.EntryClient, Key: "cli_" + strconv.Itoa(i), Body: []byte("{}"), CreatedAt: w.Now(), DeleteAfter: w.Now().Add(90 * 24 * time.Hour)}
			if err := tx.PutEntry(e); err != nil {
				return err
			}
		}
		return nil
	})
	late := w.client()
	w.Advance(24*time.Hour + time.Second)
	w.Update(func(tx store.Tx) error { _, err := tx.PruneEntries(w.Now(), 10000); return err })
	w.authorize(w.authorization(early))
	if a := w.do("GET", "/oauth/authorize?"+w.authorization(late).Encode(), "", ""); a.Status != http.StatusBadRequest {
		t.Errorf("a client of the flood is known a day later: %d", a.Status)
	}
}

// Requests that nobody opens do not fill the disk: they are removed when they end.
func TestH144UnopenedRequestsAreNotKept(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	w.authorize(w.authorization(client))
	opened := w.authorize(w.authorization(client))
	if _, err := w.as.Request(t.Context(), opened, w.Subject); err != nil {
		t.Fatal(err)
	}
	w.Advance(30*time.Minute + time.Second)
	var left int64
	w.Update(func(tx store.Tx) (err error) {
		if _, err = tx.PruneEntries(w.Now(), 10000); err != nil {
			return err
		}
		left, err = tx.CountEntries(store.EntryRequest)
		return err
	})
	if r, err := w.as.Request(t.Context(), opened, w.Subject); err != nil || r.Outcome != as.Expired || left != 1 {
		t.Errorf("%d requests are left, and the opened one is %+v, %v; want only that one, expired", left, r, err)
	}
}

func TestH153RegistrationOff(t *testing.T) {
	w := newWorld(t, func(c *as.Config) { c.Registration = false })
	if a := w.do("POST", "/oauth/register", "application/json", `{}`); a.Status != http.StatusNotFound {
		t.Errorf("registration is off: %d", a.Status)
	}
	if doc := string(w.as.Metadata(w.URL)); strings.Contains(doc, "registration_endpoint") || strings.Contains(doc, `"dynamic"`) {
		t.Errorf("the metadata names registration: %s", doc)
	}
}

func TestH152LongNames(t *testing.T) {
	w := newWorld(t)
	body, err := json.Marshal(map[string]any{"client_name": strings.Repeat("<b>\u202e", 2000), "redirect_uris": []string{callback}})
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, w.do("POST", "/oauth/register", "application/json", string(body)), 400, "invalid_client_metadata")
	many := `{"redirect_uris":["` + strings.Repeat(callback+`","`, 20) + callback + `"]}`
	wantError(t, w.do("POST", "/oauth/register", "application/json", many), 400, "invalid_redirect_uri")
	deep := `{"redirect_uris":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`
	wantError(t, w.do("POST", "/oauth/register", "application/json", deep), 400, "invalid_client_metadata")
}

func TestH65BodiesAreLimited(t *testing.T) {
	w := newWorld(t)
	for path, limit := range map[string]int{"/oauth/token": 64 << 10, "/oauth/revoke": 64 << 10, "/oauth/par": 256 << 10, "/oauth/device_authorization": 256 << 10} {
		a := w.post(path, params("x", strings.Repeat("a", limit)))
		if a.Status != http.StatusRequestEntityTooLarge || !strings.Contains(text(a, "error_description"), strconv.Itoa(limit)) {
			t.Errorf("%s: %d %s, want 413 with the limit", path, a.Status, a.Body)
		}
	}
}

func TestH166FailedRequestsAreThrottled(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	a := w.connect(client, consent.DurationForever, "cin_work/messages")
	for i := range 60 {
		switch i % 3 {
		case 0:
			wantError(t, w.token(refreshing(client, "unknown")), 400, "invalid_grant")
		case 1:
			wantError(t, w.token(refreshing("nobody", "unknown")), 401, "invalid_client")
		case 2:
			w.post("/oauth/revoke", params("token", "unknown")).OK()
		}
	}
	for _, path := range []string{"/oauth/token", "/oauth/revoke"} {
		blocked := w.post(path, with(refreshing(client, "unknown"), "token", "unknown"))
		wantError(t, blocked, 429, "temporarily_unavailable")
		if blocked.Header.Get("Retry-After") == "" {
			t.Error("429 without Retry-After")
		}
	}
	w.token(refreshing(client, text(a, "refresh_token"))).OK() // a valid token is served from anywhere
	w.Advance(time.Minute)
	wantError(t, w.token(refreshing(client, "unknown")), 400, "invalid_grant")
}

func TestH158PollingIsNotAFailure(t *testing.T) {
	w := newWorld(t)
	device := w.post("/oauth/device_authorization", params("client_id", "pdpp_cli")).OK()
	poll := params("grant_type", "urn:ietf:params:oauth:grant-type:device_code", "client_id", "pdpp_cli", "device_code", text(device, "device_code"))
	for range 70 {
		w.Advance(5 * time.Second)
		wantError(t, w.token(poll), 400, "authorization_pending")
	}
	wantError(t, w.token(with(poll, "client_id", w.register(`{"grant_types":["urn:ietf:params:oauth:grant-type:device_code"]}`))), 400, "invalid_grant")
}

func TestH156PendingDevicesOfAnAddress(t *testing.T) {
	w := newWorld(t)
	begin := func() resttest.Answer { return w.post("/oauth/device_authorization", params("client_id", "pdpp_cli")) }
	var first resttest.Answer
	for i := range 20 {
		a := begin().OK()
		if i == 0 {
			first = a
		}
	}
	wantError(t, begin(), 429, "temporarily_unavailable")
	req, err := w.as.FindUserCode(t.Context(), text(first, "user_code"), w.Subject)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.as.Deny(t.Context(), w.URL, req.ID, w.Subject); err != nil {
		t.Fatal(err)
	}
	begin().OK() // one is decided
	wantError(t, begin(), 429, "temporarily_unavailable")
	w.Advance(15 * time.Minute)
	begin().OK() // all have expired
}

func TestH157UserCodeBelongsToItsFirstOwner(t *testing.T) {
	w := newWorld(t)
	code := text(w.post("/oauth/device_authorization", params("client_id", "pdpp_cli")).OK(), "user_code")
	for range 2 { // an owner may enter it again
		if req, err := w.as.FindUserCode(t.Context(), strings.ToLower(code), w.Subject); err != nil || !req.Device || req.Address != "127.0.0.1" {
			t.Fatalf("FindUserCode = %v, %v", req, err)
		}
	}
	if _, err := w.as.FindUserCode(t.Context(), code, w.Owner("bea")); !isNotFound(err) {
		t.Errorf("FindUserCode by another owner: %v, want not_found", err)
	}
	if _, err := w.as.FindUserCode(t.Context(), "BBBB-BBBB", w.Subject); !isNotFound(err) {
		t.Errorf("FindUserCode of a wrong code: %v, want not_found", err)
	}
}

func TestH132Metadata(t *testing.T) {
	w := newWorld(t, func(c *as.Config) { c.Documents = http.DefaultClient })
	var got map[string]any
	if err := json.Unmarshal(w.as.Metadata("https://h"), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"issuer": "https://h", "authorization_endpoint": "https://h/oauth/authorize", "token_endpoint": "https://h/oauth/token",
		"registration_endpoint": "https://h/oauth/register", "revocation_endpoint": "https://h/oauth/revoke",
		"device_authorization_endpoint": "https://h/oauth/device_authorization", "pushed_authorization_request_endpoint": "https://h/oauth/par",
		"require_pushed_authorization_requests": false, "response_types_supported": []any{"code"}, "response_modes_supported": []any{"query"},
		"grant_types_supported": []any{
			"authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code", "urn:ietf:params:oauth:grant-type:token-exchange",
		},
		"code_challenge_methods_supported": []any{"S256"}, "token_endpoint_auth_methods_supported": []any{"none"},
		"revocation_endpoint_auth_methods_supported": []any{"none"}, "scopes_supported": []any{"pdpp:read", "offline_access"},
		"authorization_details_types_supported": []any{"https://pdpp.dev/data-access"}, "authorization_response_iss_parameter_supported": true,
		"client_id_metadata_document_supported": true, "protected_resources": []any{"https://h", "https://h/mcp"}, "service_documentation": "https://h/setup",
		"pdpp_authorization_details_types_supported": []any{"https://pdpp.dev/data-access"},
		"pdpp_registration_modes_supported":          []any{"dynamic", "pre_registered_public", "client_id_metadata_document"},
		"pdpp_pre_registered_public_clients": []any{
			map[string]any{"client_id": "pdpp_cli", "client_name": "PDPP CLI", "token_endpoint_auth_method": "none"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
}

func TestH133DisabledFeaturesAreAbsent(t *testing.T) {
	w := newWorld(t, func(c *as.Config) { c.Registration = false })
	doc := string(w.as.Metadata(w.URL))
	for _, name := range []string{"registration_endpoint", `"dynamic"`, "client_id_metadata_document"} {
		if strings.Contains(doc, name) {
			t.Errorf("the metadata names %s: %s", name, doc)
		}
	}
}

// A dump of the database and the log contain none of the secrets that were issued.
func TestS7NoSecretAtRest(t *testing.T) {
	dir := t.TempDir()
	w := newWorldIn(t, dir)
	client := w.client()

	secrets := map[string]string{}
	v := with(w.authorization(client), "resource", w.URL)
	pushed := text(w.post("/oauth/par", v), "request_uri")
	secrets["request_uri"] = strings.TrimPrefix(pushed, "urn:ietf:params:oauth:request_uri:")
	secrets["unused code"] = w.code(client, consent.Duration7d, "cin_work/messages")
	secrets["code"] = w.code(client, consent.Duration7d, "cin_work/messages")
	a := w.token(redemption(client, secrets["code"])).OK()
	secrets["access token"], secrets["refresh token"] = text(a, "access_token"), text(a, "refresh_token")
	secrets["verifier"] = verifier
	device := w.post("/oauth/device_authorization", params("client_id", "pdpp_cli")).OK()
	secrets["device code"], secrets["user code"] = text(device, "device_code"), text(device, "user_code")
	w.token(redemption(client, secrets["code"])) // logs the reuse
	w.token(refreshing(client, secrets["refresh token"]))

	dump := w.Log.String()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if data, err := os.ReadFile(name); err == nil {
			dump += string(data)
		}
	}
	if !strings.Contains(dump, client) {
		t.Fatal("the dump is not one of the database")
	}
	for name, value := range secrets {
		if value == "" || strings.Contains(dump, value) {
			t.Errorf("the %s %q is missing or stored", name, value)
		}
	}
}

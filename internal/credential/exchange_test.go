package credential

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pdpp"
)

// exchangedPackage returns a package whose members' tokens are obtained by exchange.
func exchangedPackage(e *endpoint) *Credential {
	cred := packageOf("gpkg_1")
	cred.Members, cred.Refresh, cred.TokenEndpoint, cred.ClientID = nil, "rt_0", e.URL, "cli_1"
	cred.Token = "pt_0"
	return cred
}

// exchanging is a token endpoint that renews the token of a package and exchanges the last
// one for tokens of members.
type exchanging struct {
	*endpoint
	mu       sync.Mutex
	current  string // token of the package
	renewals int
	asked    []string // members
	gone     []string
}

func newExchanging(t *testing.T) *exchanging {
	x := &exchanging{endpoint: newEndpoint(t), current: "pt_0"}
	x.answer = func(w http.ResponseWriter, form url.Values) {
		x.mu.Lock()
		defer x.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		member := form.Get("pdpp_grant_id")
		switch {
		case form.Get("grant_type") == "refresh_token":
			x.renewals++
			x.current = fmt.Sprint("pt_", x.renewals)
			fmt.Fprintf(w, `{"access_token":%q,"token_type":"bearer","expires_in":3600,"refresh_token":"rt_%d"}`, x.current, x.renewals)
		case form.Get("subject_token") != x.current || slices.Contains(x.gone, member) || form.Get("client_id") != "cli_1":
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant"}`)
		default:
			x.asked = append(x.asked, member)
			fmt.Fprintf(w, `{"access_token":"at_%s_%d","token_type":"bearer","expires_in":600}`, member, len(x.asked))
		}
	}
	return x
}

func TestH186Exchange(t *testing.T) {
	c, _ := open(t)
	now := noon
	c.Now = func() time.Time { return now }
	x := newExchanging(t)
	path := put(t, c, exchangedPackage(x.endpoint)).Path
	h, err := c.Hold(provider, "")
	if err != nil {
		t.Fatal(err)
	}
	cred, ok := h.Package(t.Context())
	if !ok || len(cred.PackageMembers()) != 2 || cred.PackageMembers()[0].Token != "" || cred.PackageMembers()[0].GrantID != "grt_1" {
		t.Fatalf("held %+v, %v", cred, ok)
	}
	one, two := h.Exchange("grt_1"), h.Exchange("grt_2")
	token := func(name string, e *Exchanger, want string) {
		t.Helper()
		if got, err := e.Token(t.Context()); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	token("the first", one, "at_grt_1_1")
	token("kept in memory", one, "at_grt_1_1")
	token("the second", two, "at_grt_2_2")
	now = noon.Add(540*time.Second - 1)
	token("more than 60 s before its end", one, "at_grt_1_1")
	now = noon.Add(540 * time.Second)
	token("60 s before its end", one, "at_grt_1_3")
	if got, ok, err := one.Renew(t.Context(), "at_grt_1_3"); got != "at_grt_1_4" || !ok || err != nil {
		t.Errorf("MS-33 after a 401: %q, %v, %v", got, ok, err)
	}
	if got, ok, err := one.Renew(t.Context(), "at_grt_1_3"); got != "at_grt_1_4" || !ok || err != nil {
		t.Errorf("MS-33 after a 401 of an older token: %q, %v, %v", got, ok, err)
	}
	now = noon.Add(2 * time.Hour)
	token("H-205 after the end of the package's token", one, "at_grt_1_5")
	x.current = "ended early"
	token("H-205 after the package's token was ended", two, "at_grt_2_6")
	if x.renewals != 2 {
		t.Errorf("%d renewals, want 2", x.renewals)
	}
	x.gone = []string{"grt_2"}
	now = now.Add(time.Hour - time.Minute)
	if got, err := two.Token(t.Context()); pdpp.CodeOf(err) != pdpp.CodeGrantRevoked {
		t.Errorf("H-94 a member that ended: %q, %v", got, err)
	}
	asked := x.calls.Load()
	if _, err := two.Token(t.Context()); pdpp.CodeOf(err) != pdpp.CodeGrantRevoked || !two.IsGone(t.Context()) || one.IsGone(t.Context()) || x.calls.Load() != asked {
		t.Errorf("H-94 the provider is asked again, or the member is not remembered: %v", err)
	}
	token("the other member", one, "at_grt_1_7")
	if saved, err := c.read(path); err != nil || len(saved.Members) != 0 || strings.Contains(string(encode(saved.object)), "at_grt") {
		t.Errorf("H-186 tokens of members are saved: %+v, %v", saved, err)
	}
}

// Ten processes read a package whose token has expired: one of them renews it (H-205).
func TestH205RenewalOfAPackageByManyProcesses(t *testing.T) {
	c, _ := open(t)
	x := newExchanging(t)
	x.current = "pt_expired"
	cred := exchangedPackage(x.endpoint)
	cred.ExpiresAt = noon
	put(t, c, cred)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			other := &Cache{Root: c.Root, Now: c.Now, Warn: func(m string) { t.Error(m) }}
			h, err := other.Hold(provider, "")
			if err != nil {
				t.Error(err)
				return
			}
			if token, err := h.Exchange("grt_1").Token(t.Context()); err != nil || !strings.HasPrefix(token, "at_grt_1_") {
				t.Errorf("Token = %q, %v", token, err)
			}
		})
	}
	wg.Wait()
	if x.renewals != 1 {
		t.Errorf("%d renewals, want 1", x.renewals)
	}
}

func TestH186ExchangeThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		status int
		change func(*Credential)
		code   pdpp.Code
	}{
		"an owner token":                {`{"access_token":"pdpp_ot_x","token_type":"Bearer"}`, 200, nil, pdpp.CodeOwnerCredential},
		"a token that is not valid":     {`{"access_token":"a b","token_type":"Bearer"}`, 200, nil, pdpp.CodeProviderUnreachable},
		"no exchange":                   {`{"error":"unsupported_grant_type"}`, 400, nil, pdpp.CodeProviderUnreachable},
		"an ended package":              {`{"error":"invalid_grant"}`, 400, nil, pdpp.CodeCredentialExpired},
		"a forgotten client":            {`{"error":"invalid_client"}`, 401, func(c *Credential) { c.ExpiresAt = noon }, pdpp.CodeCredentialExpired},
		"a package without renewal":     {`{"error":"invalid_grant"}`, 400, func(c *Credential) { c.Refresh = "" }, pdpp.CodeCredentialExpired},
		"a server with an unknown page": {`<html>`, 502, nil, pdpp.CodeProviderUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			cache, _ := open(t)
			e := newEndpoint(t)
			e.answer = func(w http.ResponseWriter, _ url.Values) {
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.answer)
			}
			cred := exchangedPackage(e)
			if c.change != nil {
				c.change(cred)
			}
			put(t, cache, cred)
			h, err := cache.Hold(provider, "")
			if err != nil {
				t.Fatal(err)
			}
			_, err = h.Exchange("grt_1").Token(t.Context())
			wantCode(t, name, err, c.code)
		})
	}
}

// What is needed for the exchange must be complete and safe.
func TestH186PackagesThatCannotBeExchanged(t *testing.T) {
	for name, change := range map[string]func(*Credential){
		"no client":   func(c *Credential) { c.ClientID = "" },
		"no endpoint": func(c *Credential) { c.TokenEndpoint = "" },
		"an endpoint": func(c *Credential) { c.TokenEndpoint = "http://elsewhere.example/token" },
		"an expiry": func(c *Credential) {
			c.Details = json.RawMessage(strings.Replace("["+mailDetail+"]", `{`, `{"expires_at":"soon",`, 1))
		},
		"a detail without id": func(c *Credential) { c.Details = json.RawMessage(strings.Replace("["+mailDetail+"]", `grt_1`, ``, 1)) },
		"a connection repeated": func(c *Credential) {
			c.Details = json.RawMessage("[" + mailDetail + "," + strings.Replace(mailDetail, "grt_1", "grt_2", 1) + "]")
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := open(t)
			cred := packageOf("gpkg_1")
			cred.Members, cred.Refresh, cred.TokenEndpoint, cred.ClientID = nil, "rt", "https://data.example/token", "cli_1"
			change(cred)
			writeFile(t, c, "gpkg_1.json", string(cred.bytes(noon)))
			_, err := c.Choose(provider, "")
			wantCode(t, name, err, pdpp.CodeCredentialInvalid)
		})
	}
}

func TestH201FactsOfACredential(t *testing.T) {
	cred := packageOf("gpkg_1")
	if got := cred.Connections(); len(got) != 2 || got[0].Connection != "cin_1" || got[0].ConnectorKey != "mail" || got[1].Connection != "cin_2" {
		t.Errorf("connections %+v", got)
	}
	if !cred.Ends().Equal(cred.ExpiresAt) {
		t.Error("without a refresh token it ends with its token")
	}
	cred.Refresh = "r"
	if !cred.Ends().IsZero() {
		t.Error("grants without an end")
	}
	cred.Details = json.RawMessage(`[{"expires_at":"2026-06-01T00:00:00Z"},{"expires_at":"2026-07-01T00:00:00Z"}]`)
	if want := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC); !cred.Ends().Equal(want) {
		t.Errorf("it ends %v, want %v", cred.Ends(), want)
	}
}

func TestH200ClientOfAnIssuer(t *testing.T) {
	c, _ := open(t)
	for i, at := range []time.Duration{2, 3, 1} {
		cred := sample(fmt.Sprint("grt_", i))
		cred.Issuer, cred.ClientName, cred.ClientID, cred.CreatedAt = "https://as.example", "PDPP CLI (x)", fmt.Sprint("cli_", i), noon.Add(at*time.Second)
		put(t, c, cred)
	}
	for _, tt := range []struct{ provider, issuer, name, want string }{
		{provider, "https://as.example", "PDPP CLI (x)", "cli_1"},
		{provider, "https://other.example", "PDPP CLI (x)", ""},
		{provider, "https://as.example", "PDPP CLI (y)", ""},
		{"https://none.example", "https://as.example", "PDPP CLI (x)", ""},
	} {
		if got, err := c.ClientOf(tt.provider, tt.issuer, tt.name); got != tt.want || err != nil {
			t.Errorf("ClientOf%v = %q, %v", tt, got, err)
		}
	}
}

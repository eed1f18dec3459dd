package credential

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
)

// theirs is a credential file of the public implementation.
const theirs = `{
  "provider_url": "https://data.example", "authorization_server": "https://data.example", "scope": "pdpp:read",
  "client": {"client_id": "cli_9", "client_name": "PDPP CLI", "token_endpoint_auth_method": "none"},
  "credential": {"access_token": "their-token", "token_type": "Bearer", "grant_id": "grt_theirs", "scope": "pdpp:read"},
  "created_at": "2026-06-01T10:00:00.000Z"
}
`

// share writes a file of the public implementation.
func share(t *testing.T, c *Cache, name, text string) string {
	t.Helper()
	dir := filepath.Join(c.Root, "clients")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSTDIO1CredentialOfThePublicImplementation(t *testing.T) {
	t.Run("STDIO-1 is chosen", func(t *testing.T) {
		c, warnings := open(t)
		path := share(t, c, "data.example.json", theirs)
		for _, grant := range []string{"", "grt_theirs"} {
			cred, err := c.Choose(provider, grant)
			if err != nil || cred.Token != "their-token" || cred.ID != "grt_theirs" || cred.Path != path {
				t.Fatalf("Choose(%q) = %+v, %v", grant, cred, err)
			}
		}
		if all, err := c.All(); err != nil || len(all) != 1 || len(*warnings) != 0 {
			t.Errorf("All = %v, %v, warnings %q", all, err, *warnings)
		}
	})
	t.Run("STDIO-1 without a grant id the host is the id", func(t *testing.T) {
		c, _ := open(t)
		share(t, c, "data.example.json", strings.Replace(theirs, `"grant_id": "grt_theirs", `, "", 1))
		if cred, err := c.Choose(provider, ""); err != nil || cred.ID != "data.example" {
			t.Errorf("Choose = %+v, %v", cred, err)
		}
	})
	t.Run("STDIO-1 the most recent one is chosen", func(t *testing.T) {
		c, _ := open(t)
		share(t, c, "data.example.json", theirs)
		ours := sample("grt_1")
		ours.CreatedAt = time.Date(2026, 6, 2, 0, 0, 0, 0, time.UTC)
		put(t, c, ours)
		if cred, err := c.Choose(provider, ""); err != nil || cred.ID != "grt_1" {
			t.Errorf("Choose = %+v, %v", cred, err)
		}
	})
	t.Run("STDIO-1 a port is part of the name", func(t *testing.T) {
		c, _ := open(t)
		share(t, c, "localhost_7700.json", strings.ReplaceAll(theirs, "https://data.example", "http://localhost:7700"))
		if cred, err := c.Choose("http://localhost:7700", ""); err != nil || cred.Token != "their-token" {
			t.Errorf("Choose = %+v, %v", cred, err)
		}
	})
	t.Run("STDIO-2 one for another provider of the host is not used", func(t *testing.T) {
		c, _ := open(t)
		share(t, c, "data.example.json", strings.Replace(theirs, `"https://data.example"`, `"https://data.example/other"`, 1))
		_, err := c.Choose(provider, "")
		wantCode(t, "Choose", err, pdpp.CodeNotConnected)
	})
	t.Run("STDIO-3 an owner credential is rejected", func(t *testing.T) {
		c, _ := open(t)
		share(t, c, "data.example.json", strings.Replace(theirs, `"token_type"`, `"pdpp_token_kind": "owner", "token_type"`, 1))
		_, err := c.Choose(provider, "")
		wantCode(t, "Choose", err, pdpp.CodeOwnerCredential)
	})
	t.Run("STDIO-3 a reported owner credential is marked, and other members are kept", func(t *testing.T) {
		c, _ := open(t)
		path := share(t, c, "data.example.json", theirs)
		h, err := c.Hold(provider, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := h.RefuseOwner(t.Context(), "their-token"); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(raw), `"kind": "owner"`) || !strings.Contains(string(raw), `"authorization_server": "https://data.example"`) {
			t.Errorf("%v\n%s", err, raw)
		}
	})
	t.Run("STDIO-1 it can be forgotten", func(t *testing.T) {
		c, _ := open(t)
		path := share(t, c, "data.example.json", theirs)
		ids, err := c.Forget(t.Context(), provider, "")
		if diff := cmp.Diff([]string{"grt_theirs"}, ids); diff != "" || err != nil {
			t.Errorf("Forget: %v\n%s", err, diff)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Error("the file still exists")
		}
	})
}

func TestFromJSON(t *testing.T) {
	for _, c := range []struct {
		name, raw string
		want      Credential
		code      pdpp.Code
	}{
		{
			"STDIO-1 the response of a token endpoint", `{"access_token":"a","token_type":"bearer","expires_in":3600,"refresh_token":"r","scope":"s","client_id":"c","token_endpoint":"https://a.test/t"}`,
			Credential{Token: "a", Refresh: "r", Scope: "s", ClientID: "c", TokenEndpoint: "https://a.test/t", ExpiresAt: noon.Add(time.Hour)},
			"",
		},
		{
			"STDIO-1 a saved credential", strings.Replace(theirs, `"token_type"`, `"expires_at": "2026-11-01T12:30:00Z", "token_type"`, 1),
			Credential{Token: "their-token", ID: "grt_theirs", Scope: "pdpp:read", ClientID: "cli_9", ClientName: "PDPP CLI", ExpiresAt: time.Date(2026, 11, 1, 12, 30, 0, 0, time.UTC)},
			"",
		},
		{"STDIO-3 an owner credential by its kind", `{"access_token":"a","token_kind":"owner"}`, Credential{}, pdpp.CodeOwnerCredential},
		{"STDIO-3 an owner credential by its prefix", `{"access_token":"pdpp_ot_1"}`, Credential{}, pdpp.CodeOwnerCredential},
		{"H-186 for a package", `{"access_token":"a","grant_package_id":"gpkg_1"}`, Credential{Token: "a", ID: "gpkg_1"}, ""},
		{"H-186 with saved tokens of members", `{"credential":{"access_token":"a","grant_package_id":"gpkg_1","members":[]}}`, Credential{}, pdpp.CodeInvalidInput},
		{"no token", `{"refresh_token":"r"}`, Credential{}, pdpp.CodeInvalidInput},
		{"another type", `{"access_token":"a","token_type":"DPoP"}`, Credential{}, pdpp.CodeInvalidInput},
		{"an invalid expires_in", `{"access_token":"a","expires_in":"soon"}`, Credential{}, pdpp.CodeInvalidInput},
		{"a refresh token with a line break", `{"access_token":"a","refresh_token":"r\nx"}`, Credential{}, pdpp.CodeInvalidInput},
		{"a duplicate key", `{"access_token":"a","access_token":"b"}`, Credential{}, pdpp.CodeInvalidInput},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := FromJSON([]byte(c.raw), noon)
			if c.code != "" {
				wantCode(t, "FromJSON", err, c.code)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			type facts struct {
				Token, Refresh, Scope, ID, ClientID, ClientName, Endpoint string
				Ends                                                      time.Time
			}
			of := func(c *Credential) facts {
				return facts{c.Token, c.Refresh, c.Scope, c.ID, c.ClientID, c.ClientName, c.TokenEndpoint, c.ExpiresAt}
			}
			if diff := cmp.Diff(of(&c.want), of(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

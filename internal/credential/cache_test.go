package credential

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/osfile"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

const provider = "https://data.example"

// open returns a cache and its warnings.
func open(t *testing.T) (*Cache, *[]string) {
	t.Helper()
	var warnings []string
	return &Cache{
		Root: filepath.Join(t.TempDir(), "cache"), Now: func() time.Time { return noon },
		Warn: func(m string) { warnings = append(warnings, m) },
	}, &warnings
}

func sample(id string) *Credential {
	return &Credential{
		ID: id, Provider: provider, Token: "pdpp_at_" + id, Kind: "client", Status: Active, CreatedAt: noon.Add(-time.Hour),
		Details: json.RawMessage(`[{"source":{"kind":"connector","connector_key":"mail"}}]`),
	}
}

func put(t *testing.T, c *Cache, cred *Credential) *Credential {
	t.Helper()
	if err := c.Put(t.Context(), cred); err != nil {
		t.Fatal(err)
	}
	return cred
}

// writeFile writes a file into the folder of the provider.
func writeFile(t *testing.T, c *Cache, name, text string) string {
	t.Helper()
	dir, err := c.prepare(provider)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func wantCode(t *testing.T, what string, err error, want pdpp.Code) {
	t.Helper()
	if got := pdpp.CodeOf(err); got != want {
		t.Errorf("%s: code %q (%v), want %q", what, got, err, want)
	}
}

func TestProvider(t *testing.T) {
	for raw, want := range map[string]string{
		"https://data.example":            "https://data.example",
		"https://Data.Example:443/":       "https://data.example",
		"data.example/me/":                "https://data.example/me",
		"localhost:7663":                  "http://localhost:7663",
		"http://127.0.0.1:80":             "http://127.0.0.1",
		"http://[::1]:7663/":              "http://[::1]:7663",
		"https://data.example:8443/a%20b": "https://data.example:8443/a%20b",
	} {
		if got, err := Provider(raw); err != nil || got != want {
			t.Errorf("Provider(%q) = %q, %v, want %q", raw, got, err, want)
		}
	}
	for _, raw := range []string{
		"", "http://data.example", "ftp://data.example", "https://me@data.example", "https://data.example?a=1",
		"https://data.example#x", "https://", "https://a b", "http://127.0.0.1.evil.example",
	} {
		_, err := Provider(raw)
		wantCode(t, raw, err, pdpp.CodeUsage)
	}
}

func TestFolderNames(t *testing.T) {
	for provider, want := range map[string]string{
		"https://data.example":      "data.example",
		"https://data.example:8443": "data.example_8443",
		"http://127.0.0.1:7663":     "127.0.0.1_7663",
		"http://[::1]:7663":         "__1_7663",
	} {
		if got := folderName(provider); got != want {
			t.Errorf("folderName(%q) = %q, want %q", provider, got, want)
		}
	}
	seen := map[string]string{}
	for _, p := range []string{"https://data.example", "https://data.example/a", "https://data.example/b", "http://localhost", "https://localhost"} {
		name := folderName(p)
		if other := seen[name]; other != "" || strings.ContainsAny(name, `/\:`) {
			t.Errorf("%s has the folder %q of %q", p, name, other)
		}
		seen[name] = p
	}
}

func TestPut(t *testing.T) {
	c, _ := open(t)
	cred := put(t, c, sample("grt_1"))
	if want := filepath.Join(c.Root, "clients", "data.example", "grt_1.json"); cred.Path != want {
		t.Errorf("the file is %s, want %s", cred.Path, want)
	}
	for path, want := range map[string]os.FileMode{
		cred.Path: 0o600, filepath.Dir(cred.Path): 0o700, filepath.Join(c.Root, "clients"): 0o700, c.Root: 0o700,
	} {
		info, err := os.Stat(path)
		if err != nil || hasModes && info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v, want %v", path, info.Mode().Perm(), err, want)
		}
	}
	if b, err := os.ReadFile(filepath.Join(c.Root, ".gitignore")); err != nil || string(b) != "*\n" {
		t.Errorf(".gitignore is %q, %v", b, err)
	}
	entries, _ := os.ReadDir(filepath.Dir(cred.Path))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{".lock", "grt_1.json"}, names); diff != "" {
		t.Errorf("files in the folder (-want +got):\n%s", diff)
	}
	got, err := c.Choose(provider, "")
	if err != nil {
		t.Fatal(err)
	}
	if got.Token != cred.Token || !got.CreatedAt.Equal(cred.CreatedAt) || !got.ExpiresAt.IsZero() || cmp.Diff([]string{"mail"}, got.Sources()) != "" {
		t.Errorf("read back: %+v", got)
	}
	wantCode(t, "an id with a path", c.Put(t.Context(), sample("../x")), pdpp.CodeUsage)
	for token, want := range map[string]pdpp.Code{" pdpp_ot_x": pdpp.CodeInvalidInput, "pdpp_ot_x": pdpp.CodeOwnerCredential} {
		cred := sample("grt_2")
		cred.Token = token
		wantCode(t, token, c.Put(t.Context(), cred), want)
	}
}

func TestChoice(t *testing.T) {
	t.Run("STDIO-1 STDIO-2 choice", func(t *testing.T) {
		c, _ := open(t)
		_, err := c.Choose(provider, "")
		wantCode(t, "STDIO-2 an empty cache", err, pdpp.CodeNotConnected)
		old, recent := sample("grt_z"), sample("grt_a")
		recent.CreatedAt = old.CreatedAt.Add(time.Minute)
		put(t, c, recent)
		put(t, c, old)
		if got, err := c.Choose(provider, ""); err != nil || got.ID != "grt_a" {
			t.Errorf("STDIO-1 without a grant: %+v, %v", got, err)
		}
		if got, err := c.Choose(provider, "grt_z"); err != nil || got.ID != "grt_z" {
			t.Errorf("STDIO-1 with a grant: %+v, %v", got, err)
		}
		_, err = c.Choose(provider, "grt_other")
		wantCode(t, "STDIO-2 another grant", err, pdpp.CodeGrantNotFound)
		if s := err.Error(); !strings.Contains(s, "grt_a (mail) of 2026-05-01") || strings.Contains(s, "pdpp_at_") {
			t.Errorf("H-204 the list is %q", s)
		}
		_, err = c.Choose("https://other.example", "")
		wantCode(t, "another provider", err, pdpp.CodeNotConnected)
	})
}

// A credential that has ended is chosen only when there is no other.
func TestH204ChoiceOfAnEndedCredential(t *testing.T) {
	for name, end := range map[string]func(*Credential){
		"expired":      func(cred *Credential) { cred.ExpiresAt = noon },
		"disconnected": func(cred *Credential) { cred.Status, cred.Refresh = "reconnect_required", "r" },
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := open(t)
			ended := sample("grt_ended")
			ended.CreatedAt = noon.Add(-time.Minute)
			end(ended)
			put(t, c, ended)
			_, err := c.Choose(provider, "")
			wantCode(t, "the only one", err, pdpp.CodeCredentialExpired)
			put(t, c, sample("grt_valid"))
			if got, err := c.Choose(provider, ""); err != nil || got.ID != "grt_valid" {
				t.Errorf("Choose beside an older one = %+v, %v", got, err)
			}
			_, err = c.Choose(provider, "grt_ended")
			wantCode(t, "by its grant", err, pdpp.CodeCredentialExpired)
			ended.Status, ended.Refresh = Active, "r"
			put(t, c, ended)
			if got, err := c.Choose(provider, ""); err != nil || got.ID != "grt_ended" {
				t.Errorf("Choose of a newer one that can be renewed = %+v, %v", got, err)
			}
		})
	}
}

func TestChecks(t *testing.T) {
	const good = `{"version":1,"provider_url":"https://data.example","created_at":"2026-05-01T09:00:00Z",` +
		`"credential":{"kind":"client","grant_id":"g","access_token":"t","token_type":"Bearer","status":"active","expires_at":null}}`
	with := func(was, is string) string {
		if strings.Count(good, was) != 1 {
			t.Fatalf("%q does not occur once in %s", was, good)
		}
		return strings.Replace(good, was, is, 1)
	}
	token := func(value string) string { return with(`"access_token":"t"`, `"access_token":`+string(encode(value))) }
	inner := func(more string) string { return with(`"expires_at":null`, `"expires_at":null,`+more) }
	for _, test := range []struct {
		name, file string
		want       pdpp.Code
		text       string
	}{
		{"good", good, "", ""},
		{"unknown keys", inner(`"x":{"y":1}`), "", ""},
		{"bearer in lower case", with("Bearer", "bearer"), "", ""},
		{"no version", with(`"version":1,`, ""), "", ""},
		{"every character of a token", token("azAZ09._~+/=-"), "", ""},
		{"a long token", token(strings.Repeat("t", 512)), "", ""},
		{"a trailing slash", with("https://data.example", "https://data.example/"), "", ""},
		{"STDIO-3 kind", with(`"kind":"client"`, `"kind":"Owner"`), pdpp.CodeOwnerCredential, ""},
		{"STDIO-3 role at the top", with(`"version":1`, `"version":1,"role":"OWNER"`), pdpp.CodeOwnerCredential, ""},
		{"STDIO-3 token_kind", with(`"version":1`, `"version":1,"token_kind":"owner"`), pdpp.CodeOwnerCredential, ""},
		{"STDIO-3 pdpp_token_kind", inner(`"pdpp_token_kind":"owner"`), pdpp.CodeOwnerCredential, ""},
		{"STDIO-3 an owner token", token("pdpp_ot_x"), pdpp.CodeOwnerCredential, ""},
		{"STDIO-3 an owner token after a space", token(" pdpp_ot_x"), pdpp.CodeCredentialInvalid, "characters"},
		{"STDIO-3 an owner token after a line", token("\r\npdpp_ot_x"), pdpp.CodeCredentialInvalid, "characters"},
		{"STDIO-3 an owner token after a soft space", token("\u00a0pdpp_ot_x"), pdpp.CodeCredentialInvalid, "characters"},
		{"STDIO-3 marked as both", with(`"kind":"client"`, `"kind":"owner","kind":"client"`), pdpp.CodeCredentialInvalid, "duplicate"},
		{"STDIO-3 marked as both, with an escape", with(`"kind":"client"`, `"kind":"client","k\u0069nd":"owner"`), pdpp.CodeCredentialInvalid, "duplicate"},
		{"spaces", token("   "), pdpp.CodeCredentialInvalid, "characters"},
		{"a line break", token("a\r\nb"), pdpp.CodeCredentialInvalid, "characters"},
		{"a token that is too long", token(strings.Repeat("t", 513)), pdpp.CodeCredentialInvalid, "too long"},
		{"no token", token(""), pdpp.CodeCredentialInvalid, "no access token"},
		{"a token of another name", strings.Replace(good, "access_token", "Access_Token", 1), pdpp.CodeCredentialInvalid, "no access token"},
		{"another type", with("Bearer", "DPoP"), pdpp.CodeCredentialInvalid, "Bearer"},
		{"another provider", with("https://data.example", "https://evil.example"), pdpp.CodeCredentialInvalid, "is for https://evil.example"},
		{"no provider", with(`"https://data.example"`, "null"), pdpp.CodeCredentialInvalid, "provider_url"},
		{"another version", with(`"version":1`, `"version":2`), pdpp.CodeCredentialInvalid, "version"},
		{"a version that is a text", with(`"version":1`, `"version":"1"`), pdpp.CodeCredentialInvalid, "version"},
		{"a package", with(`"grant_id":"g"`, `"grant_id":null,"grant_package_id":"g"`), pdpp.CodeCredentialInvalid, "package"},
		{"another grant's name", with(`"grant_id":"g"`, `"grant_id":"h"`), pdpp.CodeCredentialInvalid, "name"},
		{"invalid JSON", `{`, pdpp.CodeCredentialInvalid, "JSON"},
		{"empty file", ``, pdpp.CodeCredentialInvalid, "JSON"},
		{"an array", `[]`, pdpp.CodeCredentialInvalid, "JSON"},
		{"expires_at is not a time", with(`"expires_at":null`, `"expires_at":"tomorrow"`), pdpp.CodeCredentialInvalid, "expires_at"},
		{"expires_at is a number", with(`"expires_at":null`, `"expires_at":1777636800`), pdpp.CodeCredentialInvalid, "expires_at"},
		{"created_at is not a time", with("2026-05-01T09:00:00Z", "today"), pdpp.CodeCredentialInvalid, "created_at"},
		{"expired", with(`"expires_at":null`, `"expires_at":"2026-05-01T12:00:00Z"`), pdpp.CodeCredentialExpired, "expired on 2026-05-01"},
		{"expired, but renewable", with(`"expires_at":null`, `"expires_at":"2026-05-01T12:00:00Z","refresh_token":"r"`), "", ""},
		{"reconnect required", with(`"active"`, `"reconnect_required","refresh_token":"r"`), pdpp.CodeCredentialExpired, "reconnect_required"},
		{"revoked", with(`"active"`, `"revoked"`), pdpp.CodeCredentialExpired, `"revoked"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, _ := open(t)
			writeFile(t, c, "g.json", test.file)
			_, err := c.Choose(provider, "")
			wantCode(t, test.file, err, test.want)
			if err != nil && (!strings.Contains(err.Error(), test.text) || strings.Contains(err.Error(), "pdpp_ot_x")) {
				t.Errorf("error %q, want %q in it", err, test.text)
			}
		})
	}
}

// An invalid file does not affect the others, except an owner credential (D5).
func TestInvalidFile(t *testing.T) {
	c, warnings := open(t)
	put(t, c, sample("grt_1"))
	writeFile(t, c, "bad.json", "{")
	if got, err := c.Choose(provider, ""); err != nil || got.ID != "grt_1" || len(*warnings) != 1 || !strings.Contains((*warnings)[0], "bad.json") {
		t.Errorf("without a grant: %+v, %v, warnings %q", got, err, *warnings)
	}
	*warnings = nil
	if got, err := c.Choose(provider, "grt_1"); err != nil || got.ID != "grt_1" || len(*warnings) > 0 {
		t.Errorf("with a grant: %+v, %v, warnings %q", got, err, *warnings)
	}
	_, err := c.Choose(provider, "bad")
	wantCode(t, "the invalid one", err, pdpp.CodeCredentialInvalid)
	_, err = c.Choose(provider, "grt_2")
	wantCode(t, "a missing one", err, pdpp.CodeGrantNotFound)
	_, err = c.Choose(provider, "../data.example/grt_1")
	wantCode(t, "a grant with a path", err, pdpp.CodeGrantNotFound)

	writeFile(t, c, "own.json", `{"provider_url":"https://data.example","credential":{"kind":"owner","access_token":"x"}}`)
	_, err = c.Choose(provider, "")
	wantCode(t, "STDIO-3 beside an owner's", err, pdpp.CodeOwnerCredential)
	if got, err := c.Choose(provider, "grt_1"); err != nil || got.ID != "grt_1" {
		t.Errorf("with a grant, beside an owner's: %+v, %v", got, err)
	}
	ids, err := c.Forget(t.Context(), provider, "")
	if diff := cmp.Diff([]string{"grt_1", "bad", "own"}, ids); diff != "" || err != nil {
		t.Errorf("forgetting all: %v\n%s", err, diff)
	}
}

func TestRootIsFile(t *testing.T) {
	root := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(root, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := open(t)
	c.Root = root
	_, err := c.Choose(provider, "")
	wantCode(t, "choosing", err, pdpp.CodeNotConfigured)
	_, err = c.Choose(provider, "grt_1")
	wantCode(t, "choosing by grant", err, pdpp.CodeNotConfigured)
	_, err = c.All()
	wantCode(t, "listing", err, pdpp.CodeNotConfigured)
	_, err = c.Forget(t.Context(), provider, "")
	wantCode(t, "forgetting", err, pdpp.CodeNotConfigured)
	wantCode(t, "writing", c.Put(t.Context(), sample("grt_1")), pdpp.CodeCannotCreate)
}

// The root may have other uses. Its mode is not changed, but there is a warning (H-202).
func TestRootWritableByOthers(t *testing.T) {
	if !hasModes {
		t.Skip("modes have no effect here")
	}
	c, warnings := open(t)
	if err := os.Mkdir(c.Root, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(c.Root, 0o777); err != nil {
		t.Fatal(err)
	}
	cred := put(t, c, sample("grt_1"))
	root, _ := os.Stat(c.Root)
	below, _ := os.Stat(filepath.Dir(filepath.Dir(cred.Path)))
	if root.Mode().Perm() != 0o777 || below.Mode().Perm() != 0o700 || len(*warnings) != 1 || !strings.HasPrefix((*warnings)[0], c.Root+" ") {
		t.Errorf("modes %v and %v below, warnings %q", root.Mode(), below.Mode(), *warnings)
	}
}

func TestLinksAreRefused(t *testing.T) {
	c, _ := open(t)
	cred := put(t, c, sample("grt_1"))
	elsewhere := filepath.Join(t.TempDir(), "x.json")
	if err := os.Rename(cred.Path, elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, cred.Path); err != nil {
		t.Skip("no links here")
	}
	_, err := c.Choose(provider, "")
	wantCode(t, "a linked file", err, pdpp.CodeCredentialInvalid)

	dir := filepath.Dir(cred.Path)
	os.Remove(cred.Path)
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	os.Symlink(moved, dir)
	_, err = c.Choose(provider, "")
	wantCode(t, "a linked folder", err, pdpp.CodeCredentialInvalid)
	wantCode(t, "writing through it", c.Put(t.Context(), sample("grt_2")), pdpp.CodeCredentialInvalid)
}

func TestFilesOfOtherUsersAreRefused(t *testing.T) {
	c, _ := open(t)
	cred := put(t, c, sample("grt_1"))
	if err := os.Chown(cred.Path, 12345, -1); err != nil {
		t.Skip("only root can change the owner of a file")
	}
	_, err := c.Choose(provider, "")
	wantCode(t, "a file of another user", err, pdpp.CodeCredentialInvalid)
}

func TestOpenModesAreCorrected(t *testing.T) {
	if !hasModes {
		t.Skip("modes have no effect here")
	}
	c, warnings := open(t)
	cred := put(t, c, sample("grt_1"))
	os.Chmod(cred.Path, 0o644)
	os.Chmod(filepath.Dir(cred.Path), 0o755)
	if _, err := c.Choose(provider, ""); err != nil {
		t.Fatal(err)
	}
	file, _ := os.Stat(cred.Path)
	dir, _ := os.Stat(filepath.Dir(cred.Path))
	if file.Mode().Perm() != 0o600 || dir.Mode().Perm() != 0o700 || len(*warnings) != 2 {
		t.Errorf("modes %v and %v, warnings %q", file.Mode(), dir.Mode(), *warnings)
	}
}

func TestLockTimeout(t *testing.T) {
	c, _ := open(t)
	put(t, c, sample("grt_1"))
	f, err := os.OpenFile(filepath.Join(c.folder(provider), lockName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := osfile.Lock(f); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		err := c.Put(t.Context(), sample("grt_2"))
		wantCode(t, "a held lock", err, pdpp.CodeBusy)
		if waited := time.Since(start); waited != lockTimeout {
			t.Errorf("waited %v, want %v", waited, lockTimeout)
		}
	})
}

func TestAllAndForget(t *testing.T) {
	c, warnings := open(t)
	if all, err := c.All(); err != nil || len(all) > 0 {
		t.Errorf("an empty cache: %v, %v", all, err)
	}
	put(t, c, sample("grt_1"))
	put(t, c, sample("grt_2"))
	other := sample("grt_3")
	other.Provider = "http://127.0.0.1:7663"
	put(t, c, other)
	all, err := c.All()
	if err != nil || len(all) != 3 {
		t.Fatalf("All: %d, %v", len(all), err)
	}
	ids, err := c.Forget(t.Context(), provider, "grt_1")
	if diff := cmp.Diff([]string{"grt_1"}, ids); diff != "" || err != nil {
		t.Errorf("forgetting one: %v\n%s", err, diff)
	}
	ids, err = c.Forget(t.Context(), provider, "")
	if diff := cmp.Diff([]string{"grt_2"}, ids); diff != "" || err != nil {
		t.Errorf("forgetting the rest: %v\n%s", err, diff)
	}
	writeFile(t, c, "bad.json", "{")
	if all, err = c.All(); err != nil || len(all) != 1 || all[0].ID != "grt_3" || len(*warnings) != 1 {
		t.Errorf("beside a bad one: %v, %v, %q", all, err, *warnings)
	}
}

// The tokens of the members of a package are read as they were saved, in their order, and
// unknown members of the file are kept.
func TestPackageCredential(t *testing.T) {
	c, _ := open(t)
	cred := sample("gpkg_1")
	cred.Kind = string(pdpp.TokenPackage)
	cred.Members = []MemberToken{
		{GrantID: "grt_2", Token: "pdpp_at_two", ExpiresAt: noon.Add(time.Hour)}, {GrantID: "grt_1", Token: "pdpp_at_one", ExpiresAt: noon.Add(time.Minute)},
	}
	put(t, c, cred)
	got, err := c.read(cred.Path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(cred.Members, got.Members); diff != "" || got.Kind != cred.Kind || got.ID != "gpkg_1" {
		t.Errorf("read as %s %s; members (-want +got):\n%s", got.Kind, got.ID, diff)
	}
	got.object["credential"] = json.RawMessage(strings.Replace(string(got.object["credential"]), `"grant_id": "grt_2"`, `"grant_id": "grt_2", "note": "kept"`, 1))
	if err := c.write(got); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(cred.Path); err != nil || !strings.Contains(string(raw), `"note": "kept"`) {
		t.Errorf("an unknown member of the file was removed: %v", err)
	}
}

// An owner token is also rejected among the tokens of members (D5).
func TestOwnerTokenOfMember(t *testing.T) {
	c, _ := open(t)
	cred := sample("gpkg_1")
	cred.Members = []MemberToken{{GrantID: "grt_1", Token: "pdpp_ot_x"}}
	wantCode(t, "saving it", c.Put(t.Context(), cred), pdpp.CodeOwnerCredential)
	path := writeFile(t, c, "gpkg_2.json", `{"provider_url":"https://data.example","credential":{"access_token":"pdpp_pt_x","grant_package_id":"gpkg_2",
		"members":[{"grant_id":"grt_1","access_token":"pdpp_at_x"},{"grant_id":"grt_2","access_token":"pdpp_ot_x"}]}}`)
	_, err := c.read(path)
	wantCode(t, "reading it", err, pdpp.CodeOwnerCredential)
	cred.Members[0].Token = " pdpp_ot_x"
	wantCode(t, "saving it after a space", c.Put(t.Context(), cred), pdpp.CodeInvalidInput)
	path = writeFile(t, c, "gpkg_3.json", `{"provider_url":"https://data.example","credential":{"access_token":"pdpp_pt_x","grant_package_id":"gpkg_3",
		"members":[{"grant_id":"grt_1","access_token":" pdpp_ot_x"}]}}`)
	_, err = c.read(path)
	wantCode(t, "reading it after a space", err, pdpp.CodeCredentialInvalid)
}

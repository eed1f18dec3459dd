package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pdpp"
	"pdpp/internal/credential"
	"pdpp/internal/osfile"
	"pdpp/internal/rsclient"
	"pdpp/internal/setup"
)

// savedFor saves a credential for a server and returns the cache.
func savedFor(t *testing.T, provider string, change func(*credential.Credential)) *credential.Cache {
	t.Helper()
	cache := &credential.Cache{Root: filepath.Join(t.TempDir(), "cache"), Now: time.Now, Warn: func(m string) { t.Error(m) }}
	cred := &credential.Credential{
		ID: "grt_1", Provider: provider, Token: "pdpp_at_x", Kind: "client", Status: credential.Active, CreatedAt: time.Now(),
	}
	if change != nil {
		change(cred)
	}
	if err := cache.Put(t.Context(), cred); err != nil {
		t.Fatal(err)
	}
	return cache
}

// runCall runs the adapter with one call and returns its output.
func runCall(t *testing.T, provider, root, call string) string {
	t.Helper()
	const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	var out, errOut bytes.Buffer
	code := Main(t.Context(), Env{
		Program: "pdpp", Args: []string{"mcp", provider, "--cache-root", root}, Stdin: strings.NewReader(hello + "\n" + call + "\n"), Stdout: &out, Stderr: &errOut,
		Getenv: func(string) string { return "" }, Now: time.Now,
	})
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, errOut.String())
	}
	return out.String()
}

// A 401 contains the advice even if it comes from a proxy. The advice names no local folder.
func TestAnyRefusalHasAdvice(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, "<p>Log in</p>")
	}))
	defer srv.Close()
	cache := savedFor(t, srv.URL, nil)
	out := runCall(t, srv.URL, cache.Root, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query_records","arguments":{"stream":"entries"}}}`)
	if !strings.Contains(out, "run: pdpp connect "+srv.URL+" --cache-root DIR") {
		t.Errorf("MS-267 no advice in\n%s", out)
	}
	if strings.Contains(out, cache.Root) {
		t.Errorf("a folder is shown:\n%s", out)
	}
}

// The error of an expired credential that cannot be renewed names the server and what to
// do, in the text and in the structure. It does not show the token endpoint.
func TestExpiredCredentialThatIsNotRenewed(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	defer srv.Close()
	cache := savedFor(t, srv.URL, func(c *credential.Credential) {
		c.ExpiresAt, c.Refresh, c.TokenEndpoint = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), "r", srv.URL+"/token?key=hidden"
	})
	out := runCall(t, srv.URL, cache.Root, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query_records","arguments":{"stream":"entries"}}}`)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var answer struct {
		Result struct {
			Content           []struct{ Text string }
			StructuredContent struct {
				ProviderURL string `json:"provider_url"`
				Error       struct {
					Code, Message string
					NextStep      string `json:"next_step"`
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &answer); err != nil || len(answer.Result.Content) != 1 {
		t.Fatalf("%v in\n%s", err, out)
	}
	got, text := answer.Result.StructuredContent, answer.Result.Content[0].Text
	if got.ProviderURL != srv.URL || got.Error.Code != "upstream_unreachable" {
		t.Errorf("ERR-1 the error is %+v", got)
	}
	for _, want := range []string{"credential for " + srv.URL + " has expired", "could not be renewed"} {
		if !strings.Contains(got.Error.Message, want) || !strings.Contains(text, want) {
			t.Errorf("ERR-1 no %q in %q or\n%s", want, got.Error.Message, text)
		}
	}
	for _, want := range []string{"Check that the server at " + srv.URL + " runs", "the owner must connect again"} {
		if !strings.Contains(got.Error.NextStep, want) || !strings.Contains(text, want) {
			t.Errorf("ERR-1 no %q in %q or\n%s", want, got.Error.NextStep, text)
		}
	}
	if strings.Contains(out, "hidden") || strings.Contains(out, cache.Root) {
		t.Errorf("a local path or the token endpoint is shown:\n%s", out)
	}
}

func TestCredentialErrorsNameNoFiles(t *testing.T) {
	const provider = "https://data.example"
	var log bytes.Buffer
	errorOf := func(t *testing.T, cache *credential.Cache, damage func(h *credential.Holder)) *rsclient.Error {
		t.Helper()
		h, err := cache.Hold(provider, "")
		if err != nil {
			t.Fatal(err)
		}
		damage(h)
		_, err = bearerOf(h.Token, provider, slog.New(slog.NewJSONHandler(&log, nil)))(t.Context())
		var e *rsclient.Error
		if !errors.As(err, &e) || strings.Contains(e.Message, cache.Root) {
			t.Fatalf("the error is %v", err)
		}
		if !strings.Contains(log.String(), filepath.Base(cache.Root)) {
			t.Errorf("the log does not name the folder: %s", log.String())
		}
		return e
	}
	t.Run("a lock that is held", func(t *testing.T) {
		cache := savedFor(t, provider, func(c *credential.Credential) {
			c.ExpiresAt, c.Refresh, c.TokenEndpoint = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), "r", provider+"/token"
		})
		f, err := os.OpenFile(filepath.Join(cache.Root, "clients", "data.example", ".lock"), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := osfile.Lock(f); err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			if e := errorOf(t, cache, func(*credential.Holder) {}); e.Code != "temporarily_unavailable" {
				t.Errorf("the error is %v", e)
			}
		})
	})
	t.Run("a damaged file", func(t *testing.T) {
		cache := savedFor(t, provider, nil)
		e := errorOf(t, cache, func(h *credential.Holder) {
			h.Recheck(t.Context())
			_, path, err := h.Current(t.Context())
			if err == nil {
				err = os.WriteFile(path, []byte("{"), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		if e.Code != "invalid_token" || !strings.Contains(e.Message, "credential_invalid") {
			t.Errorf("the error is %v", e)
		}
	})
}

// The adapter ends with code 1 when the host closes standard output (MS-262).
func TestClosedOutput(t *testing.T) {
	const provider = "https://data.example"
	in, host := io.Pipe()
	defer host.Close()
	var errOut bytes.Buffer
	done := make(chan int)
	cache := savedFor(t, provider, nil)
	go func() {
		done <- Main(t.Context(), Env{
			Program: "pdpp", Args: []string{"mcp", provider, "--cache-root", cache.Root}, Stdin: in, Stdout: brokenWriter{}, Stderr: &errOut,
			Getenv: func(string) string { return "" }, Now: time.Now,
		})
	}()
	if _, err := io.WriteString(host, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if code := <-done; code != 1 || !strings.Contains(errOut.String(), "Standard output was closed") {
		t.Errorf("exit %d\n%s", code, errOut.String())
	}
}

func TestNextStepsUseTheNameOfTheProgram(t *testing.T) {
	a := &app{Env: Env{Program: "my tools/pdpp"}}
	if got, want := a.next(setupFor("http://127.0.0.1:1", "/a b")), "Next: 'my tools/pdpp' setup CLIENT --url http://127.0.0.1:1 --cache-root '/a b'\n"; got != want {
		t.Errorf("next = %q, want %q", got, want)
	}
	a.globals = &globals{Data: "/a b", Owner: "mara"}
	if got, want := a.command("x"), "'my tools/pdpp' --data '/a b' --owner mara x"; got != want {
		t.Errorf("command = %q, want %q", got, want)
	}
	r := runMain(t, map[string]string{"HOME": t.TempDir()}, "setup", "--url", "http://127.0.0.1:1", "--json")
	var list struct{ Clients []string }
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil || len(list.Clients) != len(setup.Clients()) {
		t.Errorf("setup --json: %+v, %v", r, err)
	}
}

// Commands without a store neither list nor accept the flags of a store.
func TestCommandsWithoutAStore(t *testing.T) {
	for _, command := range [][]string{{"mcp"}, {"setup"}, {"credentials"}, {"credentials", "list"}, {"version"}} {
		r := runMain(t, nil, append(command, "--help")...)
		if text := r.stdout + r.stderr; r.code != 0 || strings.Contains(text, "--data") || strings.Contains(text, "--owner") || !strings.Contains(text, "--quiet") {
			t.Errorf("%v --help: %+v", command, r)
		}
	}
	vars := map[string]string{"HOME": t.TempDir()}
	for _, args := range [][]string{{"mcp", "https://data.example"}, {"setup"}, {"credentials", "list"}, {"version"}} {
		for _, flag := range []string{"--data", "--owner"} {
			if r := runMain(t, vars, append(args, flag, "x")...); r.code != 64 || !strings.Contains(r.stderr, flag+" is not valid for pdpp "+args[0]) {
				t.Errorf("%v %s: %+v", args, flag, r)
			}
		}
	}
	if r := runMain(t, nil, "demo", "--owner", "x"); r.code != 64 {
		t.Errorf("demo --owner: %+v", r)
	}
	if r := runMain(t, nil, "grants", "list", "--help"); !strings.Contains(r.stdout, "--data") || !strings.Contains(r.stdout, "--owner") {
		t.Errorf("grants list --help: %+v", r)
	}
}

func TestGroupAloneListsItsCommands(t *testing.T) {
	r := runMain(t, nil, "credentials")
	if want := "Choose one of: show, list, import, forget."; r.code != 64 || !strings.Contains(r.stderr, want) {
		t.Errorf("no %q in %+v", want, r)
	}
	if r := runMain(t, nil, "credentials", "show"); r.code != 64 || !strings.Contains(r.stderr, "<provider-url>") {
		t.Errorf("credentials show: %+v", r)
	}
}

func TestHelpStatesDefaults(t *testing.T) {
	help := strings.Join(strings.Fields(runMain(t, nil, "serve", "--help").stdout), " ")
	for _, want := range []string{"(default: 127.0.0.1:7663, $PDPP_LISTEN)", "(default: 600/m, $PDPP_RATE_LIMIT)"} {
		if !strings.Contains(help, want) {
			t.Errorf("no %q in %s", want, help)
		}
	}
	if r := runMain(t, nil, "mcp", "--help"); !strings.Contains(strings.Join(strings.Fields(r.stderr), " "), "the last one saved that has not expired") {
		t.Errorf("mcp --help: %+v", r)
	}
}

// ownerServer starts a server of another implementation, which says that the token is
// an owner's.
func ownerServer(t *testing.T) (url string, reads *atomic.Int32) {
	reads = new(atomic.Int32)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reads.Add(1)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"bearer":{"token_kind":"owner","scope":"owner"},"connectors":[],"streams":[{"name":"private"}],"data":[]}`)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, reads
}

// The server's report about a token counts, not only its prefix.
func TestSTDIO3ImportRefusesAnOwnerTokenOfAnotherServer(t *testing.T) {
	url, _ := ownerServer(t)
	root := filepath.Join(t.TempDir(), "cache")
	var out, errOut bytes.Buffer
	code := Main(t.Context(), Env{
		Program: "pdpp", Args: []string{"credentials", "import", url, "--cache-root", root}, Stdin: strings.NewReader("some-other-token\n"), Stdout: &out, Stderr: &errOut,
		Getenv: func(string) string { return "" }, Now: time.Now,
	})
	if code != exitPermission || !strings.Contains(errOut.String(), "This is an owner token") {
		t.Errorf("exit %d\n%s", code, errOut.String())
	}
	if files, _ := filepath.Glob(filepath.Join(root, "clients", "*", "*")); len(files) != 0 {
		t.Errorf("saved %v", files)
	}
}

// A saved credential that turns out to be an owner's is used neither by this process again
// nor by the next one.
func TestSTDIO3AdapterStopsUsingAnOwnerTokenOfAnotherServer(t *testing.T) {
	url, reads := ownerServer(t)
	cache := savedFor(t, url, func(c *credential.Credential) { c.Token = "some-other-token" })
	const schema = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"schema","arguments":{}}}`
	out := runCall(t, url, cache.Root, schema+"\n"+strings.Replace(schema, `"id":1`, `"id":2`, 1))
	if strings.Count(out, "owner_credential") < 2 || strings.Contains(out, "private") || !strings.Contains(out, "run: pdpp connect ") {
		t.Errorf("answers\n%s", out)
	}
	if n := reads.Load(); n > 2 { // both calls may run at once
		t.Errorf("%d reads", n)
	}
	if _, err := cache.Choose(url, ""); pdpp.CodeOf(err) != pdpp.CodeOwnerCredential {
		t.Errorf("the next start: %v", err)
	}
}

// The adapter renews an imported credential with its refresh token (H-205).
func TestSTDIO1ImportTakesARefreshToken(t *testing.T) {
	var bearers []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/token" {
			if r.FormValue("refresh_token") != "rt_0" || r.FormValue("client_id") != "cli_9" {
				t.Errorf("renewed with %v", r.Form)
			}
			io.WriteString(w, `{"access_token":"at_1","token_type":"Bearer","expires_in":3600}`)
			return
		}
		bearers = append(bearers, r.Header.Get("Authorization"))
		io.WriteString(w, `{"bearer":{"token_kind":"client"},"connectors":[]}`)
	}))
	defer srv.Close()
	root := filepath.Join(t.TempDir(), "cache")
	run := func(stdin string, args ...string) (int, string) {
		var out, errOut bytes.Buffer
		code := Main(t.Context(), Env{
			Program: "pdpp", Args: append([]string{"credentials", "import", srv.URL, "--cache-root", root}, args...), Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errOut,
			Getenv: func(string) string { return "" }, Now: time.Now,
		})
		return code, errOut.String()
	}
	const answer = `{"access_token":"at_0","token_type":"Bearer","expires_in":30,"refresh_token":"rt_0"}`
	if code, errOut := run(answer); code != exitUsage || !strings.Contains(errOut, "--token-endpoint") {
		t.Errorf("without an endpoint: exit %d\n%s", code, errOut)
	}
	if code, errOut := run(answer, "--token-endpoint", "http://elsewhere.example/token", "--client-id", "cli_9"); code != exitUsage {
		t.Errorf("an endpoint without TLS: exit %d\n%s", code, errOut)
	}
	if code, errOut := run(answer, "--token-endpoint", srv.URL+"/token", "--client-id", "cli_9", "--grant", "grt_1"); code != 0 {
		t.Fatalf("exit %d\n%s", code, errOut)
	}
	out := runCall(t, srv.URL, root, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"schema","arguments":{}}}`)
	if want := []string{"Bearer at_0", "Bearer at_1"}; !slices.Equal(bearers, want) {
		t.Errorf("read with %q, want %q\n%s", bearers, want, out)
	}
}

// A credential in the working folder is mentioned but not used without --cache-root.
func TestSTDIO2CredentialInTheWorkingFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join(".pdpp", "clients"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(".pdpp", "clients", "data.example.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	none := pdpp.Errorf(pdpp.CodeNotConnected, "There is none.")
	for provider, want := range map[string]bool{"https://data.example": true, "https://other.example": false} {
		var e *pdpp.Error
		if !errors.As((&app{}).withAdvice(none, provider, ""), &e) || strings.Contains(e.Hint, "This folder has one: add --cache-root ") != want {
			t.Errorf("%s: %v", provider, e)
		}
	}
}

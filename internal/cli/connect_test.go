package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/credential"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/store"
)

// addressWatcher is the standard error of a command. It passes addresses that are shown to
// the user on, once each.
type addressWatcher struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	open func(address string)
	done sync.WaitGroup
}

var shownAddress = regexp.MustCompile(`(?m)^    (https?://\S+)\n`)

func (w *addressWatcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Write(p)
	for _, m := range shownAddress.FindAllStringSubmatch(string(p), -1) {
		w.done.Go(func() { w.open(m[1]) })
	}
	return len(p), nil
}

// runConnect runs `pdpp connect` with a user who opens the shown addresses.
func runConnect(t *testing.T, now func() time.Time, open func(address string), args ...string) result {
	t.Helper()
	var out bytes.Buffer
	errOut := &addressWatcher{open: open}
	code := Main(t.Context(), Env{
		Program: "pdpp", Args: append([]string{"connect", "--timeout", "60s"}, args...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: errOut,
		Getenv: func(string) string { return "" }, Now: now,
	})
	errOut.done.Wait()
	if text := out.String() + errOut.buf.String(); strings.Contains(text, "pdpp_at_") || strings.Contains(text, "pdpp_pt_") || strings.Contains(text, "pdpp_rt_") {
		t.Errorf("a token is printed:\n%s", text)
	}
	return result{code, out.String(), errOut.buf.String()}
}

// ownerBrowser is the browser of an owner who is signed in.
type ownerBrowser struct {
	t      *testing.T
	world  *resttest.World
	client *http.Client
}

func signIn(t *testing.T, w *resttest.World) *ownerBrowser {
	t.Helper()
	const password = "correct horse battery"
	if _, err := w.Server.SignIn.SetFirstPassword(t.Context(), w.Subject, password); err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &ownerBrowser{t, w, &http.Client{Jar: jar}}
	b.submit(b.get(w.URL+"/owner/login"), "/owner/login", url.Values{"password": {password}, "return_to": {"/owner"}})
	return b
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="(_csrf|digest|username|user_code)"[^>]* value="([^"]*)"`)

func (b *ownerBrowser) do(req *http.Request) string {
	b.t.Helper()
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.t.Errorf("%s %s: %s, %v\n%s", req.Method, req.URL, resp.Status, err, page)
	}
	return string(page)
}

func (b *ownerBrowser) get(address string) string {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do(req)
}

// form returns the request that submits a form of a page, with its hidden fields.
func (b *ownerBrowser) form(page, path string, form url.Values) *http.Request {
	b.t.Helper()
	for _, m := range hiddenField.FindAllStringSubmatch(page, -1) {
		form.Set(m[1], m[2])
	}
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.world.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", b.world.URL)
	return req
}

// submit submits a form and returns the next page.
func (b *ownerBrowser) submit(page, path string, form url.Values) string {
	b.t.Helper()
	return b.do(b.form(page, path, form))
}

var reviewPath = regexp.MustCompile(`action="(/consent/[^"/]+)/review"`)

// approve opens an address of a request and approves streams by their numbers. Without
// streams it denies.
func (b *ownerBrowser) approve(streams ...string) func(address string) {
	return func(address string) { b.decide(b.get(address), streams...) }
}

func (b *ownerBrowser) decide(page string, streams ...string) {
	m := reviewPath.FindStringSubmatch(page)
	if m == nil {
		b.t.Errorf("not a page for consent:\n%s", page)
		return
	}
	if len(streams) == 0 {
		resp, err := b.client.Do(b.form(page, m[1]+"/deny", url.Values{}))
		if err != nil {
			b.t.Error(err)
			return
		}
		resp.Body.Close() // the page of the program has the status of an error
		return
	}
	review := b.submit(page, m[1]+"/review", url.Values{"stream": streams, "duration": {"30d"}})
	if last := b.submit(review, m[1]+"/approve", url.Values{}); !strings.Contains(last, "Go back") && !strings.Contains(last, "go back") {
		b.t.Errorf("the last page is\n%s", last)
	}
}

// mailWorld has two mail accounts, with one message each.
func mailWorld(t *testing.T) *resttest.World {
	t.Helper()
	w := resttest.New(t)
	w.Manifest(`{"declaration_version": "3", "connector_key": "mail", "connector_display_name": "Mail",
	 "source": {"kind": "connector", "id": "https://registry.example/connectors/mail"},
	 "streams": [{"name": "messages", "semantics": "append_only", "primary_key": ["id"],
	   "schema": {"type": "object", "properties": {"id": {"type": "string"}, "subject": {"type": "string"}}},
	   "query": {"search": {"lexical_fields": ["subject"]}}, "selection": {"fields": true, "resources": true}}]}`)
	for _, name := range []string{"work", "home"} {
		w.Connect("mail", "cin_"+name, name+" mail")
		w.Ingest("cin_"+name, "messages", `{"key":"m_`+name+`","data":{"id":"m_`+name+`","subject":"Budget of `+name+`"},"emitted_at":"2026-04-01T10:00:00Z"}`)
	}
	return w
}

// readWith calls a tool through the adapter.
func readWith(t *testing.T, w *resttest.World, root, tool, arguments string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	code := Main(t.Context(), Env{
		Program: "pdpp", Args: []string{"mcp", w.URL, "--cache-root", root}, Stdout: &out, Stderr: &errOut, Getenv: func(string) string { return "" }, Now: w.Now,
		Stdin: strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` +
			"\n" + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}` + "\n"),
	})
	if code != 0 || strings.Contains(errOut.String(), "pdpp_at_") {
		t.Fatalf("exit %d\n%s", code, errOut.String())
	}
	return out.String()
}

func TestH200ConnectWithAGrant(t *testing.T) {
	w := mailWorld(t)
	b := signIn(t, w)
	root := filepath.Join(t.TempDir(), "cache")
	r := runConnect(t, w.Now, b.approve("1"), w.URL+"/mcp", "--no-browser", "--cache-root", root)
	if r.code != 0 {
		t.Fatalf("exit %d\n%s", r.code, r.stderr)
	}
	for _, want := range []string{"Connected to " + w.URL + ".", "grt_", "mail (cin_", "2026-05-31", root, "Next: pdpp setup CLIENT --url " + w.URL + " --cache-root "} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in\n%s", want, r.stdout)
		}
	}
	cred, err := (&credential.Cache{Root: root, Now: w.Now, Warn: func(m string) { t.Error(m) }}).Choose(w.URL, "")
	if err != nil || cred.Refresh == "" || cred.Issuer != w.URL || cred.Resource != w.URL || !strings.HasPrefix(cred.ClientName, "PDPP CLI") {
		t.Fatalf("saved %+v, %v", cred, err)
	}
	if out := readWith(t, w, root, "query_records", `{"stream":"messages"}`); strings.Count(out, `Budget of`) == 0 {
		t.Errorf("the adapter reads\n%s", out)
	}
	w.Advance(2 * time.Hour)
	if out := readWith(t, w, root, "query_records", `{"stream":"messages"}`); strings.Count(out, `Budget of`) == 0 {
		t.Errorf("H-205 after the expiry of the token the adapter reads\n%s", out)
	}
	t.Run("the client is registered once", func(t *testing.T) {
		again := runConnect(t, w.Now, b.approve("2"), w.URL, "--no-browser", "--cache-root", root, "--json")
		var answer connectAnswer
		if err := json.Unmarshal([]byte(again.stdout), &answer); err != nil || again.code != 0 {
			t.Fatalf("%+v, %v", again, err)
		}
		if saved := readCredentialFile(t, answer.File); saved.ClientID != cred.ClientID || saved.ID != answer.Grant || answer.Grant == cred.ID || !answer.Renewable {
			t.Errorf("saved %+v, before %+v, answer %+v", saved, cred, answer)
		}
	})
	t.Run("a client that the server has forgotten is registered again", func(t *testing.T) {
		other := filepath.Join(t.TempDir(), "cache")
		lost := *cred
		lost.ClientID = "cli_forgotten"
		cache := &credential.Cache{Root: other, Now: w.Now, Warn: func(m string) { t.Error(m) }}
		if err := cache.Put(t.Context(), &lost); err != nil {
			t.Fatal(err)
		}
		if r := runConnect(t, w.Now, b.approve("1"), w.URL, "--no-browser", "--cache-root", other); r.code != 0 {
			t.Errorf("exit %d\n%s", r.code, r.stderr)
		}
	})
}

func readCredentialFile(t *testing.T, path string) *credential.Credential {
	t.Helper()
	cache := &credential.Cache{Root: filepath.Dir(filepath.Dir(filepath.Dir(path))), Now: func() time.Time { return resttest.Start }, Warn: func(m string) { t.Error(m) }}
	all, err := cache.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, cred := range all {
		if cred.Path == path {
			return cred
		}
	}
	t.Fatalf("no credential %s", path)
	return nil
}

func TestH186ConnectWithAPackage(t *testing.T) {
	w := mailWorld(t)
	b := signIn(t, w)
	root := filepath.Join(t.TempDir(), "cache")
	r := runConnect(t, w.Now, b.approve("1", "2"), w.URL, "--no-browser", "--json", "--cache-root", root, "--name", "My laptop")
	var answer connectAnswer
	if err := json.Unmarshal([]byte(r.stdout), &answer); err != nil || r.code != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if !strings.HasPrefix(answer.Package, "gpkg_") || answer.Grant != "" || answer.Kind != "mcp_package" || len(answer.Connections) != 2 || answer.ExpiresAt == nil || !answer.Renewable {
		t.Errorf("the answer is %s", r.stdout)
	}
	raw, err := os.ReadFile(answer.File)
	if err != nil || strings.Contains(string(raw), "pdpp_at_") || !strings.Contains(string(raw), "My laptop") {
		t.Errorf("H-186 the file has a token of a member, or not the name of the client: %v\n%s", err, raw)
	}
	search := func() string { return readWith(t, w, root, "search", `{"q":"Budget"}`) }
	if out := search(); !strings.Contains(out, "m_work") || !strings.Contains(out, "m_home") {
		t.Errorf("HOSTED-2 found\n%s", out)
	}
	w.Advance(2 * time.Hour)
	if out := search(); !strings.Contains(out, "m_work") || !strings.Contains(out, "m_home") {
		t.Errorf("H-205 after the expiry of the tokens, found\n%s", out)
	}
	var revoked pdpp.GrantID
	w.Update(func(tx store.Tx) error {
		grants, err := tx.Grants(w.Subject, store.GrantFilter{})
		for _, g := range grants {
			if strings.Contains(string(g.Document), "cin_home") {
				revoked = g.ID
			}
		}
		return err
	})
	w.Revoke(revoked)
	if out := search(); !strings.Contains(out, "m_work") || strings.Contains(out, `m_home`) || !strings.Contains(out, "grant_revoked") {
		t.Errorf("H-94 after the revocation of %s, found\n%s", revoked, out)
	}
}

func TestH201ConnectForSources(t *testing.T) {
	w := mailWorld(t)
	w.Manifest(strings.ReplaceAll(`{"declaration_version": "3", "connector_key": "bank", "connector_display_name": "Bank",
	 "source": {"kind": "connector", "id": "https://registry.example/connectors/bank"},
	 "streams": [{"name": "entries", "semantics": "append_only", "primary_key": ["id"],
	   "schema": {"type": "object", "properties": {"id": {"type": "string"}}}, "selection": {"fields": true, "resources": true}}]}`, "\n", " "))
	w.Connect("bank", "cin_bank", "Giro")
	b := signIn(t, w)
	r := runConnect(t, w.Now, func(address string) {
		page := b.get(address)
		if strings.Contains(page, "Giro") || !strings.Contains(page, "work mail") {
			t.Errorf("the page offers\n%s", page)
		}
		b.decide(page, "1")
	}, w.URL, "--no-browser", "--source", "mail", "--cache-root", filepath.Join(t.TempDir(), "cache"))
	if r.code != 0 {
		t.Errorf("exit %d\n%s", r.code, r.stderr)
	}
}

func TestH201Denied(t *testing.T) {
	w := mailWorld(t)
	root := filepath.Join(t.TempDir(), "cache")
	r := runConnect(t, w.Now, signIn(t, w).approve(), w.URL, "--no-browser", "--json", "--cache-root", root)
	if r.code != exitUnreachable || !strings.Contains(r.stdout, `"code":"approval_denied"`) {
		t.Errorf("%+v", r)
	}
	if files, _ := filepath.Glob(filepath.Join(root, "clients", "*", "*.json")); len(files) != 0 {
		t.Errorf("saved %v", files)
	}
}

func TestH200ConnectWithADevice(t *testing.T) {
	if testing.Short() {
		t.Skip("the program waits 5 seconds before it polls")
	}
	w := mailWorld(t)
	b := signIn(t, w)
	r := runConnect(t, w.Now, func(address string) {
		if !strings.Contains(address, "user_code=") {
			return // the page without the code
		}
		page := b.get(address)
		page = b.submit(page, "/device", url.Values{"user_code": {address[strings.Index(address, "=")+1:]}})
		b.decide(b.submit(page, "/device/continue", url.Values{}), "1")
	}, w.URL, "--device", "--cache-root", filepath.Join(t.TempDir(), "cache"))
	if r.code != 0 || !strings.Contains(r.stderr, "enter the code ") {
		t.Errorf("%+v", r)
	}
}

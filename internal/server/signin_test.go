package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"pdpp/internal/mcphttp"
	"pdpp/internal/mcptest"
	"pdpp/internal/npmtest"
	"pdpp/internal/outbound"
	"pdpp/internal/ownertest"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
	"pdpp/internal/store"
	"pdpp/internal/tlstest"
)

const mail = `{"declaration_version": "3", "connector_key": "mail", "connector_display_name": "Mail",
 "source": {"kind": "connector", "id": "https://registry.example/connectors/mail"},
 "streams": [{"name": "messages", "semantics": "append_only",
   "schema": {"type": "object", "properties": {"id": {"type": "string"}, "subject": {"type": "string"}, "sent_at": {"type": "string", "format": "date-time"}}},
   "primary_key": ["id"], "cursor_field": "sent_at", "consent_time_field": "sent_at", "selection": {"fields": true, "resources": true}}]}`

// callback is where clients wait for the code. Nothing listens there: the test takes the code
// from the redirect.
const callback = "http://127.0.0.1:33418/callback"

// world is a whole server with an owner who has a password and mail, and the document of a
// client on another host.
type world struct {
	*resttest.World
	document string // the URL of the document
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: resttest.New(t)}
	w.Manifest(mail)
	w.Connect("mail", "cin_work", "Work mail")
	w.Ingest("cin_work", "messages", `{"key":"m1","data":{"id":"m1","subject":"Budget","sent_at":"2026-04-01T10:00:00Z"},"emitted_at":"2026-04-01T10:00:00Z"}`)
	site, roots := tlstest.Serve(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(rw).Encode(map[string]any{
			"client_id": w.document, "client_name": "Document app", "redirect_uris": []string{callback},
			"grant_types": []string{"authorization_code", "refresh_token"}, "token_endpoint_auth_method": "none",
		})
	}))
	w.document = site.URL + "/client.json"

	cfg := w.Server.Config
	cfg.ClientDocuments = outbound.Policy{AllowLoopback: true, RootCAs: roots}.Client(time.Minute)
	cfg.MCP = func(s *server.Server) http.Handler {
		return mcphttp.New(mcphttp.Config{
			Auth: s.Auth, Limiter: s.Limiter, Edge: s.Edge, Cursors: s.Cursors, Version: "test", Log: s.Log, Clock: w.Now, Transport: mcphttp.InMemory(s.Inside()),
		})
	}
	var err error
	if w.Server, err = server.New(cfg); err != nil {
		t.Fatal(err)
	}
	if set, err := w.Server.SignIn.SetFirstPassword(t.Context(), w.Subject, ownertest.Password); err != nil || !set {
		t.Fatalf("SetFirstPassword = %v, %v", set, err)
	}
	srv := httptest.NewServer(w.Server.Handler())
	t.Cleanup(srv.Close)
	w.URL = srv.URL
	return w
}

// way is how a client is known to the server.
type way struct {
	name       string
	isDocument bool
	mode       store.RegistrationMode
}

var ways = []way{{"registration", false, store.ModeDynamic}, {"document", true, store.ModeDocument}}

// checkGrant checks that the owner has given access once, to a client of the expected kind.
func (w *world) checkGrant(mode store.RegistrationMode) {
	w.T.Helper()
	err := w.Store.View(w.T.Context(), func(v store.View) error {
		grants, err := v.Grants(w.Subject, store.GrantFilter{})
		if err == nil && (len(grants) != 1 || grants[0].Client.RegistrationMode != mode) {
			w.T.Errorf("grants = %+v, want one of a client with the mode %s", grants, mode)
		}
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
}

// TestH161TypeScriptClientsSignIn takes the official TypeScript clients from a 401 to a tool
// call, and over the end of their access token.
func TestH161TypeScriptClientsSignIn(t *testing.T) {
	clients := npmtest.Install(t)
	for _, c := range []struct{ generation, revision string }{{"sdk", "2025-11-25"}, {"client", "2025-11-25"}, {"client", "2026-07-28"}} {
		for _, by := range ways {
			t.Run("HOSTED-3 "+c.generation+" "+c.revision+" by "+by.name, func(t *testing.T) {
				if testing.Short() && (c.revision != "2026-07-28" || !by.isDocument) {
					t.Skip("make check runs it")
				}
				newWorld(t).signInWith(clients, c.generation, c.revision, by)
			})
		}
	}
}

// said is a line of oauth.mjs.
type said struct {
	Open, Refused       string
	Call, Again         called
	Client, Scope, Page string
	Refreshed           bool
}

type called struct {
	IsError bool
	Text    string
}

func (w *world) signInWith(clients npmtest.Folder, generation, revision string, by way) {
	t := w.T
	t.Helper()
	args := []string{clients.Script(t, "testdata/oauth.mjs"), generation, revision, w.URL + "/mcp", callback}
	if by.isDocument {
		args = append(args, w.document)
	}
	script := startScript(t, clients, args)
	opened := script.next()
	if opened.Refused != "UnauthorizedError" || !strings.HasPrefix(opened.Open, w.URL+"/oauth/authorize?") {
		t.Fatalf("the client says %+v", opened)
	}
	script.answer(ownertest.NewBrowser(t, w.URL).Approve(opened.Open))
	if got := script.next().Call; got.IsError || !strings.Contains(got.Text, "Budget") {
		t.Errorf("the first call: %+v", got)
	}
	w.Advance(2 * time.Hour)
	script.answer("expired")
	end := script.next()
	if end.Again.IsError || !strings.Contains(end.Again.Text, "Budget") || !end.Refreshed || end.Scope != "pdpp:read" {
		t.Errorf("after the end of the token: %+v", end)
	}
	if by.isDocument != (end.Client == w.document) {
		t.Errorf("the client is %s", end.Client)
	}
	script.end()
	w.checkGrant(by.mode)
}

// script is a running script that talks to the test in lines.
type script struct {
	t     testing.TB
	cmd   *exec.Cmd
	lines *bufio.Scanner
	stdin io.WriteCloser
}

func startScript(t testing.TB, clients npmtest.Folder, args []string) *script {
	t.Helper()
	cmd := clients.Command(t, args...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // it ends with the context of the test
	return &script{t, cmd, bufio.NewScanner(stdout), stdin}
}

func (s *script) next() (line said) {
	s.t.Helper()
	if !s.lines.Scan() {
		s.t.Fatalf("the script ended: %v", s.lines.Err())
	}
	if err := json.Unmarshal(s.lines.Bytes(), &line); err != nil {
		s.t.Fatalf("%v: %s", err, s.lines.Bytes())
	}
	return line
}

func (s *script) answer(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.stdin, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the end of the script.
func (s *script) end() {
	s.t.Helper()
	_ = s.stdin.Close()
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("the script failed: %v", err)
	}
}

// TestH161GoClientSignsIn does the same with the official Go client.
func TestH161GoClientSignsIn(t *testing.T) {
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		for _, by := range ways {
			t.Run("HOSTED-3 Go "+revision+" by "+by.name, func(t *testing.T) {
				if testing.Short() && (revision != "2026-07-28" || by.isDocument) {
					t.Skip("make check runs it")
				}
				w := newWorld(t)
				w.goClient(revision, by)
				w.checkGrant(by.mode)
			})
		}
	}
}

// goClient signs a Go client in, calls a tool, and calls it again after the end of the token.
func (w *world) goClient(revision string, by way) {
	t := w.T
	t.Helper()
	handler := w.goSignIn(by)
	session := mcptest.Connect(t, revision, &sdk.StreamableClientTransport{Endpoint: w.URL + "/mcp", OAuthHandler: handler})
	callTool(t, session)
	tokens, err := handler.TokenSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token, err := tokens.Token()
	if err != nil {
		t.Fatal(err)
	}
	first := token.AccessToken
	w.Advance(2 * time.Hour)
	token.Expiry = time.Unix(1, 0) // the clock of the client cannot be set
	callTool(t, session)
	if token, err = tokens.Token(); err != nil || token.AccessToken == first || token.RefreshToken == "" {
		t.Errorf("the token was not refreshed: %v", err)
	}
}

func (w *world) goSignIn(by way) auth.OAuthHandler {
	w.T.Helper()
	owner := ownertest.NewBrowser(w.T, w.URL)
	cfg := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: callback, RequestRefreshToken: true,
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			back, err := url.Parse(owner.Approve(args.URL))
			if err != nil {
				return nil, err
			}
			q := back.Query()
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
	}
	if by.isDocument {
		cfg.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: w.document}
	} else {
		cfg.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Go app", RedirectURIs: []string{callback}, GrantTypes: []string{"authorization_code", "refresh_token"},
		}}
	}
	handler, err := auth.NewAuthorizationCodeHandler(cfg)
	if err != nil {
		w.T.Fatal(err)
	}
	return handler
}

// callTool reads the messages of the owner.
func callTool(t testing.TB, session *sdk.ClientSession) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "query_records", Arguments: map[string]any{"stream": "messages"}})
	if err != nil || result.IsError {
		t.Fatalf("query_records = %+v, %v", result, err)
	}
	text, ok := result.Content[0].(*sdk.TextContent)
	if !ok || !strings.Contains(text.Text, "Budget") {
		t.Errorf("query_records = %+v", result.Content)
	}
}

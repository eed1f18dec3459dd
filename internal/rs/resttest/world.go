package resttest

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/blobfile"
	"pdpp/internal/grant"
	"pdpp/internal/httpx"
	"pdpp/internal/ingest"
	"pdpp/internal/manifest"
	"pdpp/internal/secret"
	"pdpp/internal/server"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite"
)

// World is a store with one owner and a server that serves it.
type World struct {
	T       testing.TB
	Store   store.Store
	Blobs   *blobfile.Store
	BlobDir string
	Server  *server.Server
	URL     string
	Subject pdpp.SubjectID
	Log     *SafeBuffer // everything the server logged

	mu  sync.Mutex
	now time.Time
}

// Start is the time at which the clock of a new world starts.
var Start = time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)

// New returns a world with an owner and no data.
func New(t testing.TB) *World {
	t.Helper()
	db, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return On(t, db)
}

// On returns a world on an open store.
func On(t testing.TB, st store.Store) *World {
	t.Helper()
	w := &World{T: t, Store: st, BlobDir: t.TempDir(), now: Start, Log: &SafeBuffer{}}
	w.Subject = w.Owner("owner")
	var err error
	if w.Blobs, err = blobfile.Open(w.BlobDir, Start); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Blobs.Close() })
	w.Server, err = server.New(server.Config{
		Store: st, Blobs: w.Blobs, InstanceKey: []byte(strings.Repeat("k", 32)), Edge: &httpx.Edge{}, ProviderName: "Test data", Registration: true,
		Log: slog.New(slog.NewTextHandler(w.Log, &slog.HandlerOptions{Level: slog.LevelDebug})), Clock: w.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.URL = w.Serve()
	return w
}

// Serve starts another listener for the server and returns its URL.
func (w *World) Serve() string {
	srv := httptest.NewServer(w.Server.Handler())
	w.T.Cleanup(srv.Close)
	return srv.URL
}

// Now returns the time of the world's clock.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// Advance moves the clock forward.
func (w *World) Advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// Update runs a transaction. The test fails if the transaction does.
func (w *World) Update(fn func(store.Tx) error) {
	w.T.Helper()
	if err := w.Store.Update(w.T.Context(), fn); err != nil {
		w.T.Fatal(err)
	}
}

// Owner adds an owner and returns its id.
func (w *World) Owner(name string) (id pdpp.SubjectID) {
	w.T.Helper()
	w.Update(func(tx store.Tx) error {
		s, err := tx.CreateSubject(name, w.now)
		id = s.ID
		return err
	})
	return id
}

// As returns the same world, seen by another owner.
func (w *World) As(subject pdpp.SubjectID) *World {
	return &World{T: w.T, Store: w.Store, Blobs: w.Blobs, BlobDir: w.BlobDir, Server: w.Server, URL: w.URL, Subject: subject, Log: w.Log, now: w.Now()}
}

// Manifest registers a manifest and reindexes the records accordingly.
func (w *World) Manifest(raw string) *pdpp.Manifest {
	w.T.Helper()
	m := w.Declare(raw)
	if err := store.Reindex(w.T.Context(), w.Store, nil); err != nil {
		w.T.Fatal(err)
	}
	return m
}

// Declare registers a manifest and leaves the index of the records as it is.
func (w *World) Declare(raw string) *pdpp.Manifest {
	w.T.Helper()
	m, err := manifest.Parse([]byte(raw))
	if err != nil {
		w.T.Fatal(err)
	}
	w.Update(func(tx store.Tx) error { return tx.PutManifest(w.Subject, m) })
	return m
}

// Connect adds a connection, or changes its label.
func (w *World) Connect(connector, id, label string) {
	w.T.Helper()
	w.Update(func(tx store.Tx) error {
		return tx.PutConnection(w.Subject, pdpp.Connection{
			ID: pdpp.ConnectionID(id), Connector: pdpp.ConnectorKey(connector), Name: strings.ToLower(id),
			Label: label, Status: "active", CreatedAt: w.Now(),
		})
	})
}

// Binding returns the binding of a stream of a connection.
func (w *World) Binding(connection, stream string) (b *store.Binding) {
	w.T.Helper()
	err := w.Store.View(w.T.Context(), func(v store.View) error {
		c, err := v.Catalog(w.Subject)
		if err != nil {
			return err
		}
		conn, _ := c.Connection(pdpp.ConnectionID(connection))
		b, err = v.Binding(w.Subject, conn, c.Manifest(conn.Connector).Stream(stream))
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return b
}

// Ingest stores lines in the format of I-4. The test fails if one is rejected.
func (w *World) Ingest(connection, stream string, lines ...string) {
	w.T.Helper()
	b := w.Binding(connection, stream)
	result, err := ingest.Batch(w.T.Context(), w.Store, b, strings.NewReader(strings.Join(lines, "\n")), w.Now())
	if err != nil {
		w.T.Fatal(err)
	}
	if out := string(result.AppendJSON(nil)); !strings.Contains(out, `"records_rejected":0`) {
		w.T.Fatalf("ingest: %s", out)
	}
}

// Grant registers a client, freezes a spec into a grant for it and returns a token.
func (w *World) Grant(spec string) (token string, id pdpp.GrantID) {
	w.T.Helper()
	w.Update(func(tx store.Tx) error {
		g, err := w.freeze(tx, w.client(tx), spec)
		if err != nil {
			return err
		}
		id = g.ID
		token, err = w.token(tx, store.Token{Kind: pdpp.TokenClient, Client: g.ClientID, Grant: id, Audience: []string{"rest", "mcp"}})
		return err
	})
	return token, id
}

// Package registers a client, freezes specs of one connection each into grants for it, and
// returns a token of the package of these grants.
func (w *World) Package(specs ...string) (token string, id pdpp.PackageID, grants []pdpp.GrantID) {
	w.T.Helper()
	id = pdpp.PackageID(secret.ID("gpkg_"))
	w.Update(func(tx store.Tx) error {
		client := w.client(tx)
		var members []store.NewMember
		for _, spec := range specs {
			g, err := w.freeze(tx, client, spec)
			if err != nil {
				return err
			}
			grants = append(grants, g.ID)
			members = append(members, store.NewMember{Grant: g.ID, Connection: g.Connections()[0]})
		}
		if _, err := tx.CreatePackage(store.Package{ID: id, Subject: w.Subject, Client: client, IssuedAt: w.Now()}, members); err != nil {
			return err
		}
		var err error
		token, err = w.token(tx, store.Token{Kind: pdpp.TokenPackage, Client: client.ID, Package: id, Audience: []string{"mcp"}})
		return err
	})
	return token, id, grants
}

// client registers a client.
func (w *World) client(tx store.Tx) store.Client {
	id := secret.ID("cli_")
	c := store.Client{ID: pdpp.ClientID(id), Name: id, RegistrationMode: "operator", CreatedAt: w.Now()}
	if err := tx.CreateClient(w.Subject, c); err != nil {
		w.T.Fatal(err)
	}
	return c
}

// freeze creates a grant from a spec.
func (w *World) freeze(tx store.Tx, client store.Client, spec string) (*pdpp.Grant, error) {
	c, err := tx.Catalog(w.Subject)
	if err != nil {
		return nil, err
	}
	g, err := grant.Freeze([]byte(spec), c, grant.Issue{
		ID: pdpp.GrantID(secret.ID("grt_")), Subject: w.Subject, ClientID: client.ID, ClientName: client.Name, Now: w.Now(),
	})
	if err != nil {
		return nil, err
	}
	return g, tx.CreateGrant(store.Grant{
		ID: g.ID, Subject: w.Subject, Client: client, ConnectorKey: g.ConnectorKey, Document: grant.Document(g),
		IssuedAt: g.IssuedAt, ExpiresAt: g.ExpiresAt,
	})
}

// ClientOf returns the client of a grant.
func (w *World) ClientOf(id pdpp.GrantID) (client pdpp.ClientID) {
	w.T.Helper()
	w.Update(func(tx store.Tx) error {
		g, err := tx.Grant(w.Subject, id)
		client = g.Client.ID
		return err
	})
	return client
}

// Token creates a token with some of its members and returns its value. Unless ExpiresAt
// is set, it is valid for 30 days. It gets a new ID unless it has one.
func (w *World) Token(t store.Token) (value string) {
	w.T.Helper()
	w.Update(func(tx store.Tx) (err error) {
		value, err = w.token(tx, t)
		return err
	})
	return value
}

func (w *World) token(tx store.Tx, t store.Token) (value string, err error) {
	prefix := "pdpp_at_"
	if t.Kind == pdpp.TokenOwner {
		prefix = "pdpp_ot_"
	}
	value = secret.Token(prefix)
	if t.ID == "" {
		t.ID = pdpp.TokenID(secret.ID("tok_"))
	}
	t.Subject, t.IssuedAt = w.Subject, w.Now()
	if t.ExpiresAt.IsZero() {
		t.ExpiresAt = w.Now().Add(30 * 24 * time.Hour)
	}
	return value, tx.CreateToken(t, store.HashToken(value))
}

// Revoke revokes a grant.
func (w *World) Revoke(id pdpp.GrantID) {
	w.T.Helper()
	w.Update(func(tx store.Tx) error {
		_, _, err := tx.RevokeGrant(w.Subject, id, w.Now())
		return err
	})
}

// OwnerToken creates a token of the owner that is valid for 90 days.
func (w *World) OwnerToken() string {
	w.T.Helper()
	return w.Token(store.Token{Kind: pdpp.TokenOwner, ExpiresAt: w.Now().Add(90 * 24 * time.Hour)})
}

// Answer is a response with its complete body.
type Answer struct {
	T       testing.TB
	Request string // method and target, for failure texts
	Status  int
	Header  http.Header
	Body    []byte

	decoded *any // cache of At, which is called many times for large bodies
}

// Get sends a GET request with a token ("" for none). Headers are "Name: value" strings.
func (w *World) Get(token, target string, headers ...string) Answer {
	w.T.Helper()
	return w.Do("GET", token, target, "", headers...)
}

// Do sends a request and returns the answer.
func (w *World) Do(method, token, target, body string, headers ...string) Answer {
	w.T.Helper()
	return w.Send(http.DefaultClient, w.Request(method, token, target, strings.NewReader(body), headers...))
}

// Request returns a request to the server.
func (w *World) Request(method, token, target string, body io.Reader, headers ...string) *http.Request {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), method, w.URL+target, body)
	if err != nil {
		w.T.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	return req
}

// Send sends a request through an HTTP client and returns the answer.
func (w *World) Send(client *http.Client, req *http.Request) Answer {
	w.T.Helper()
	res, err := client.Do(req)
	if err != nil {
		w.T.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.T.Fatal(err)
	}
	return Answer{T: w.T, Request: req.Method + " " + req.URL.RequestURI(), Status: res.StatusCode, Header: res.Header, Body: b, decoded: new(any)}
}

// OK fails the test unless the status is 200.
func (a Answer) OK() Answer {
	a.T.Helper()
	if a.Status != http.StatusOK {
		a.T.Fatalf("%s: status %d, want 200: %s", a.Request, a.Status, a.Body)
	}
	return a
}

// Code returns the error code, or "".
func (a Answer) Code() string {
	s, _ := a.At("error.code").(string)
	return s
}

// JSON decodes the body. Numbers are json.Number.
func (a Answer) JSON() any {
	a.T.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(string(a.Body)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		a.T.Fatalf("%s: body is not JSON: %v: %.300s", a.Request, err, a.Body)
	}
	return v
}

// document returns decoded JSON, which is decoded once. Callers must not change it.
func (a Answer) document() any {
	a.T.Helper()
	if a.decoded == nil {
		return a.JSON()
	}
	if *a.decoded == nil {
		*a.decoded = a.JSON()
	}
	return *a.decoded
}

// At returns the value at a dotted path such as "data.0.id", or nil.
func (a Answer) At(path string) any {
	a.T.Helper()
	v := a.document()
	for key := range strings.SplitSeq(path, ".") {
		switch node := v.(type) {
		case map[string]any:
			v = node[key]
		case []any:
			var i int
			if err := json.Unmarshal([]byte(key), &i); err != nil || i >= len(node) {
				return nil
			}
			v = node[i]
		default:
			return nil
		}
	}
	return v
}

// IDs returns the record ids of a list, in order.
func (a Answer) IDs() []string {
	a.T.Helper()
	data, _ := a.OK().At("data").([]any)
	ids := make([]string, 0, len(data))
	for _, item := range data {
		id, _ := item.(map[string]any)["id"].(string)
		ids = append(ids, id)
	}
	return ids
}

// SafeBuffer is a buffer that is safe for concurrent use.
type SafeBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *SafeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *SafeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

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

// World is a store with one owner, and a server on it.
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

// Start is the time a new world begins at.
var Start = time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)

// New makes a world with an owner and no data.
func New(t testing.TB) *World {
	t.Helper()
	db, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return On(t, db)
}

// On makes a world on a store that is already open.
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
		Store: st, Blobs: w.Blobs, InstanceKey: []byte(strings.Repeat("k", 32)), Edge: &httpx.Edge{}, ProviderName: "Test data",
		Log: slog.New(slog.NewTextHandler(w.Log, &slog.HandlerOptions{Level: slog.LevelDebug})), Clock: w.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.URL = w.Serve()
	return w
}

// Serve serves the world once more and returns the URL.
func (w *World) Serve() string {
	srv := httptest.NewServer(w.Server.Handler())
	w.T.Cleanup(srv.Close)
	return srv.URL
}

// Now is the world's clock.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// Advance moves the clock.
func (w *World) Advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// Update runs a transaction that must succeed.
func (w *World) Update(fn func(store.Tx) error) {
	w.T.Helper()
	if err := w.Store.Update(w.T.Context(), fn); err != nil {
		w.T.Fatal(err)
	}
}

// Owner adds an owner.
func (w *World) Owner(name string) (id pdpp.SubjectID) {
	w.T.Helper()
	w.Update(func(tx store.Tx) error {
		s, err := tx.CreateSubject(name, w.now)
		id = s.ID
		return err
	})
	return id
}

// As gives the same world as another owner.
func (w *World) As(subject pdpp.SubjectID) *World {
	return &World{T: w.T, Store: w.Store, Blobs: w.Blobs, BlobDir: w.BlobDir, Server: w.Server, URL: w.URL, Subject: subject, Log: w.Log, now: w.Now()}
}

// Manifest registers a manifest and has all records indexed as it declares.
func (w *World) Manifest(raw string) *pdpp.Manifest {
	w.T.Helper()
	m, err := manifest.Parse([]byte(raw))
	if err != nil {
		w.T.Fatal(err)
	}
	w.Update(func(tx store.Tx) error { return tx.PutManifest(w.Subject, m) })
	if err := store.Reindex(w.T.Context(), w.Store, nil); err != nil {
		w.T.Fatal(err)
	}
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

// Ingest stores lines of the form of I-4, all of which must be accepted.
func (w *World) Ingest(connection, stream string, lines ...string) {
	w.T.Helper()
	var b *store.Binding
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
	result, err := ingest.Batch(w.T.Context(), w.Store, b, strings.NewReader(strings.Join(lines, "\n")), w.Now())
	if err != nil {
		w.T.Fatal(err)
	}
	if out := string(result.AppendJSON(nil)); !strings.Contains(out, `"records_rejected":0`) {
		w.T.Fatalf("ingest: %s", out)
	}
}

// Grant freezes a spec for a client of its own and gives a token for it.
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

// Package freezes specs, of one connection each, for one client, and gives a token for
// the package of these grants.
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

// freeze stores a grant.
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

// Token gives a token like the one that is described. What is left out is that of a
// live one.
func (w *World) Token(t store.Token) (value string) {
	w.T.Helper()
	w.Update(func(tx store.Tx) (err error) {
		value, err = w.token(tx, t)
		return err
	})
	return value
}

func (w *World) token(tx store.Tx, t store.Token) (value string, err error) {
	value = secret.Token("pdpp_at_")
	t.ID, t.Subject, t.IssuedAt = pdpp.TokenID(secret.ID("tok_")), w.Subject, w.Now()
	if t.ExpiresAt.IsZero() {
		t.ExpiresAt = w.Now().Add(30 * 24 * time.Hour)
	}
	return value, tx.CreateToken(t, store.HashToken(value))
}

// Revoke withdraws a grant.
func (w *World) Revoke(id pdpp.GrantID) {
	w.T.Helper()
	w.Update(func(tx store.Tx) error {
		_, _, err := tx.RevokeGrant(w.Subject, id, w.Now())
		return err
	})
}

// OwnerToken gives a token of the owner.
func (w *World) OwnerToken() string {
	w.T.Helper()
	token := secret.Token("pdpp_ot_")
	w.Update(func(tx store.Tx) error {
		return tx.CreateToken(store.Token{
			ID: pdpp.TokenID(secret.ID("tok_")), Kind: pdpp.TokenOwner, Subject: w.Subject,
			IssuedAt: w.Now(), ExpiresAt: w.Now().Add(90 * 24 * time.Hour),
		}, store.HashToken(token))
	})
	return token
}

// Answer is a response that was read to its end.
type Answer struct {
	T      testing.TB
	Status int
	Header http.Header
	Body   []byte

	decoded *any // of At, which is called many times for large bodies
}

// Get asks with a token ("" for none). Headers are "Name: value" strings.
func (w *World) Get(token, target string, headers ...string) Answer {
	w.T.Helper()
	return w.Do("GET", token, target, "", headers...)
}

// Do sends a request.
func (w *World) Do(method, token, target, body string, headers ...string) Answer {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), method, w.URL+target, strings.NewReader(body))
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
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.T.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.T.Fatal(err)
	}
	return Answer{T: w.T, Status: res.StatusCode, Header: res.Header, Body: b, decoded: new(any)}
}

// OK fails the test unless the answer is a 200.
func (a Answer) OK() Answer {
	a.T.Helper()
	if a.Status != http.StatusOK {
		a.T.Fatalf("status %d, want 200: %s", a.Status, a.Body)
	}
	return a
}

// Code is the code of an error answer.
func (a Answer) Code() string {
	s, _ := a.At("error.code").(string)
	return s
}

// JSON decodes the body; numbers stay json.Number.
func (a Answer) JSON() any {
	a.T.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(string(a.Body)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		a.T.Fatalf("body is not JSON: %v: %.300s", err, a.Body)
	}
	return v
}

// document is JSON, decoded once. Callers must not change it.
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

// At finds a value by a dotted path ("data.0.id"); nil when it is not there.
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

// IDs are the record ids of a list, in order.
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

// SafeBuffer is a buffer that may be written and read at once.
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

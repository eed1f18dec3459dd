package rs_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/ingest"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
	"pdpp/internal/store"
)

const blobsPath = "/v1/blobs?connection_id=cin_c1"

func TestBlobUpload(t *testing.T) { // B-9
	w := resttest.Cabinet(t)
	owner := w.OwnerToken()
	for range 2 { // idempotent
		a := w.Do("POST", owner, blobsPath, picture, "Content-Type: image/png").OK()
		want := fmt.Sprintf(`{"object":"blob","blob_id":%q,"sha256":%q,"size_bytes":%d,"mime_type":"image/png"}`+"\n", blobOf(picture), hashOf(picture), len(picture))
		if string(a.Body) != want || a.Header.Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("answer %s, want %s", a.Body, want)
		}
	}
	expectFiles(t, w, 1, "after the same upload twice")
	for _, c := range []struct{ query, header, want string }{
		{"", "", "application/octet-stream"},
		{"", "Text/HTML; charset=utf-8", "text/html"},
		{"&mime_type=Image/GIF%3B%20q%3D1", "text/html", "image/gif"},
		{"&mime_type=application/vnd.x%2Bjson", "no type at all", "application/vnd.x+json"},
	} {
		var headers []string
		if c.header != "" {
			headers = []string{"Content-Type: " + c.header}
		}
		if got := w.Do("POST", owner, blobsPath+c.query, "x", headers...).OK().At("mime_type"); got != c.want {
			t.Errorf("%q %q: type %v, want %s", c.query, c.header, got, c.want)
		}
	}
	sameValue(t, w.Do("POST", owner, "/v1/blobs?connector_instance_id=cin_c1", "").OK(), "blob_id", blobOf(""))
}

func TestBlobUploadRefused(t *testing.T) { // B-9, C-16, C-20, C-23
	w := resttest.Cabinet(t)
	owner, client := w.OwnerToken(), first(w.Grant(cabinetGrant))
	for _, c := range []struct {
		token, target string
		headers       []string
		want          refusal
	}{
		{client, blobsPath, nil, refusal{status: 403, code: "permission_error"}},
		{"", blobsPath, nil, refusal{status: 401, code: "authentication_error"}},
		{owner, "/v1/blobs", nil, refusal{status: 400, code: "invalid_request", param: "connection_id"}},
		{owner, "/v1/blobs?connector_id=cabinet", nil, refusal{status: 409, code: "ambiguous_connection", param: "connection_id"}},
		{owner, "/v1/blobs?connection_id=cin_none", nil, refusal{status: 404, code: "connection_not_found", param: "connection_id"}},
		{owner, blobsPath + "&fields=id", nil, refusal{status: 400, code: "invalid_request", param: "fields"}},
		{owner, blobsPath + "&mime_type=", nil, refusal{status: 400, code: "invalid_request", param: "mime_type"}},
		{owner, blobsPath + "&mime_type=png", nil, refusal{status: 400, code: "invalid_request", param: "mime_type"}},
		{owner, blobsPath + "&mime_type=a/b&mime_type=a/b", nil, refusal{status: 400, code: "invalid_request", param: "mime_type"}},
		{owner, blobsPath + "&mime_type=text/html%0D%0AX:%20y", nil, refusal{status: 400, code: "invalid_request", param: "mime_type"}},
		{owner, blobsPath, []string{"Content-Type: nonsense"}, refusal{status: 400, code: "invalid_request"}},
	} {
		refused(t, w.Do("POST", c.token, c.target, picture, c.headers...), c.want)
	}
	// The connection of another owner is not found (C-21).
	other := w.As(w.Owner("other"))
	other.ManifestFile("testdata/cabinet.json")
	other.Connect("cabinet", "cin_theirs", "")
	refused(t, w.Do("POST", owner, "/v1/blobs?connection_id=cin_theirs", picture), refusal{status: 404, code: "connection_not_found", param: "connection_id"})
	expectFiles(t, w, 0, "after refused uploads")
}

func TestBlobUploadLimit(t *testing.T) { // B-9
	w := resttest.Cabinet(t)
	owner := w.OwnerToken()
	// By its Content-Length, before anything is read.
	req := localRequest(t.Context(), "POST", owner, blobsPath, unreadableBody{})
	req.ContentLength = 50<<20 + 1
	refused(t, handle(w, req), refusal{status: 413, code: "resource_limit"})
	// Without a Content-Length.
	chunked := w.Request("POST", owner, blobsPath, io.LimitReader(zeros{}, 50<<20+1))
	refused(t, w.Send(http.DefaultClient, chunked), refusal{status: 413, code: "resource_limit"})
	expectFiles(t, w, 0, "after refused uploads")
}

type unreadableBody struct{}

func (unreadableBody) Read([]byte) (int, error) { panic("the body was read") }

// TestBlobUploadCutOff: nothing of an incomplete body is stored.
func TestBlobUploadCutOff(t *testing.T) {
	w := resttest.Cabinet(t)
	host := strings.TrimPrefix(w.URL, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: 100\r\n\r\nshort", blobsPath, host, w.OwnerToken())
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	// The server may notice the end of the body or the end of the client first.
	if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") && !strings.HasPrefix(string(answer), "HTTP/1.1 503 ") {
		t.Errorf("answer %q, error %v, want status 400 or 503", answer, err)
	}
	expectFiles(t, w, 0, "after an incomplete upload")
}

// blobFiles returns all files below the blob directory.
func blobFiles(t *testing.T, w *resttest.World) (files []string) {
	t.Helper()
	err := filepath.WalkDir(w.BlobDir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// expectFiles fails unless the world has n blob files.
func expectFiles(t *testing.T, w *resttest.World, n int, when string) {
	t.Helper()
	if files := blobFiles(t, w); len(files) != n {
		t.Fatalf("%s: %d blob files, want %d: %v", when, len(files), n, files)
	}
}

// setFileTimes sets the modification times of all blob files to the clock of the world.
func setFileTimes(t *testing.T, w *resttest.World) {
	t.Helper()
	for _, name := range blobFiles(t, w) {
		if err := os.Chtimes(name, w.Now(), w.Now()); err != nil {
			t.Fatal(err)
		}
	}
}

func sweep(t *testing.T, w *resttest.World) {
	t.Helper()
	if err := w.Server.SweepBlobs(t.Context()); err != nil {
		t.Fatal(err)
	}
}

const day = 24 * time.Hour

// sweepDays advances the clock and sweeps once a day, as a server does.
func sweepDays(t *testing.T, w *resttest.World, days int) {
	t.Helper()
	for range days {
		w.Advance(day)
		sweep(t, w)
	}
}

// TestSweepRemovesUnreferencedBlobs: a blob and its file are removed when no record has
// referred to it for a week, and never before (B-9).
func TestSweepRemovesUnreferencedBlobs(t *testing.T) {
	w, owner := album(t)
	upload(w, owner, "cin_c1", "nobody's", "text/plain")
	upload(w, owner, "cin_c2", picture, "image/png") // no record of cin_c2 refers to it
	setFileTimes(t, w)
	for range 2 {
		sweep(t, w)
		sweepDays(t, w, 6)
		expectFiles(t, w, 2, "within a week")
		upload(w, owner, "cin_c1", "nobody's", "text/plain") // the week starts again
		setFileTimes(t, w)
	}
	sweep(t, w)
	sweepDays(t, w, 7)
	if files := blobFiles(t, w); len(files) != 1 || !strings.HasSuffix(files[0], hashOf(picture)) {
		t.Errorf("files after a week: %v, want only the picture", files)
	}
	w.Get(owner, pictureURL).OK()
	w.Ingest("cin_c2", "items", item("late", `"scan":`+blobRef(picture, "image/png")))
	expectNoBlob(t, "swept for that connection", w, owner, pictureURL+"?connection_id=cin_c2")

	w.Do("DELETE", owner, "/v1/streams/items/records?connection_id=cin_c1", "")
	sweep(t, w)
	sweepDays(t, w, 6)
	expectFiles(t, w, 1, "within a week of the last reference")
	sweepDays(t, w, 1)
	expectFiles(t, w, 0, "a week after the last reference")
}

// TestSweepIsLogged: the log says what a sweep has removed, if anything.
func TestSweepIsLogged(t *testing.T) { // B-9
	w := resttest.Cabinet(t)
	var log bytes.Buffer
	server := secondServer(w, func(c *server.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	upload(w, w.OwnerToken(), "cin_c1", "nobody's", "text/plain")
	setFileTimes(t, w)
	for range 8 {
		if log.Len() > 0 {
			t.Errorf("logged before anything was removed: %s", log.String())
		}
		if err := server.Server.SweepBlobs(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.Advance(day)
	}
	if !strings.Contains(log.String(), "blobs=1 bytes=8") {
		t.Errorf("log %q, want the number of removed blobs and bytes", log.String())
	}
}

// TestSweepAfterPause: the week counts only while the store is swept. In a store that was not
// swept lately, such as a restored backup, it starts again.
func TestSweepAfterPause(t *testing.T) { // B-9
	w := resttest.Cabinet(t)
	upload(w, w.OwnerToken(), "cin_c1", "nobody's", "text/plain")
	setFileTimes(t, w)
	sweep(t, w)
	w.Advance(60 * day)
	sweep(t, w)
	sweepDays(t, w, 6)
	expectFiles(t, w, 1, "within a week after a pause")
	sweepDays(t, w, 1)
	expectFiles(t, w, 0, "a week after a pause")
}

// TestSweepKeepsUnknownFiles: a file without a row is not a blob, but a later upload of the
// same content is. A sweep does not remove the file, because the store may be an older copy.
func TestSweepKeepsUnknownFiles(t *testing.T) { // B-9
	w := resttest.Cabinet(t)
	owner := w.OwnerToken()
	w.Ingest("cin_c1", "items", item("shot", `"scan":`+blobRef(picture, "image/png")))
	for _, content := range []string{picture, "from a newer store"} {
		if _, err := w.Blobs.Put(t.Context(), 1, strings.NewReader(content), 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	expectNoBlob(t, "without a row", w, owner, pictureURL)
	upload(w, owner, "cin_c1", picture, "image/png")
	w.Get(owner, pictureURL).OK()
	setFileTimes(t, w)
	sweep(t, w)
	sweepDays(t, w, 30)
	expectFiles(t, w, 2, "after the sweeps")
	w.Get(owner, pictureURL).OK()
}

// TestStoreOlderThanBlobs: if blob files are newer than everything in the store, the server
// logs that at its start and removes nothing.
func TestStoreOlderThanBlobs(t *testing.T) { // B-9
	w := resttest.Cabinet(t)
	upload(w, w.OwnerToken(), "cin_c1", "nobody's", "text/plain")
	setFileTimes(t, w)
	sweep(t, w)
	sweepDays(t, w, 6)
	if _, err := w.Blobs.Put(t.Context(), 1, strings.NewReader("from a newer store"), 1<<20); err != nil {
		t.Fatal(err)
	}
	w.Advance(day)
	for _, name := range blobFiles(t, w) {
		if strings.HasSuffix(name, hashOf("from a newer store")) {
			put := w.Now().Add(-2 * time.Hour)
			if err := os.Chtimes(name, put, put); err != nil {
				t.Fatal(err)
			}
		}
	}
	lines := make(chan string, 100)
	server := secondServer(w, func(c *server.Config) { c.Log = slog.New(slog.NewTextHandler(lineWriter(lines), nil)) }).Server
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- server.Run(ctx) }()
	if line := <-lines; !strings.Contains(line, "seems to be older than its blobs") || !strings.Contains(line, "files=1 bytes=18") {
		t.Errorf("first line of the log %q, want a warning about one file", line)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
	sweep(t, w)
	expectFiles(t, w, 2, "after the sweeps")
}

// lineWriter sends each write to a channel.
type lineWriter chan<- string

func (w lineWriter) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

// TestUploadDuringBlobRemoval: an upload fails if its file is removed before its row is
// written, so that no row remains without a file.
func TestUploadDuringBlobRemoval(t *testing.T) {
	w := resttest.Cabinet(t)
	gate := &gatedStore{Store: w.Store}
	faulty := secondServer(w, gate.install)
	gate.before = func() {
		setFileTimes(t, w)
		w.Advance(day)
		if _, err := ingest.RemoveUnknownBlobs(t.Context(), w.Store, w.Blobs, w.Now()); err != nil {
			t.Error(err)
		}
	}
	a := faulty.Do("POST", w.OwnerToken(), blobsPath, picture)
	expectError(t, a, 503, pdpp.CodeUnavailable)
	w.Ingest("cin_c1", "items", item("shot", `"scan":`+blobRef(picture, "image/png")))
	expectNoBlob(t, "failed upload", w, w.OwnerToken(), pictureURL)
	gate.before = func() {}
	faulty.Do("POST", w.OwnerToken(), blobsPath, picture).OK()
	w.Get(w.OwnerToken(), pictureURL).OK()
}

// gatedStore calls the function before at the start of every write transaction.
type gatedStore struct {
	store.Store
	before func()
}

func (g *gatedStore) install(cfg *server.Config) { cfg.Store = g }

// Update implements store.Store.
func (g *gatedStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	g.before()
	return g.Store.Update(ctx, fn)
}

// Bulk implements store.Store.
func (g *gatedStore) Bulk(ctx context.Context, fn func(store.Tx) error) error {
	g.before()
	return g.Store.Bulk(ctx, fn)
}

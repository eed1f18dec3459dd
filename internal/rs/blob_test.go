package rs_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/evidence"
	"pdpp/internal/rs/resttest"
)

func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

func blobOf(content string) string { return string(pdpp.BlobIDOf(hashOf(content))) }

// blobRef returns a reference to a blob as records contain it (B-1).
func blobRef(content, mimeType string) string {
	return fmt.Sprintf(`{"blob_id":%q,"mime_type":%q,"size_bytes":%d,"sha256":%q}`, blobOf(content), mimeType, len(content), hashOf(content))
}

// upload stores a blob for a connection over HTTP.
func upload(w *resttest.World, owner, conn, content, mimeType string) {
	w.T.Helper()
	w.Do("POST", owner, "/v1/blobs?connection_id="+conn, content, "Content-Type: "+mimeType).OK()
}

const picture = "\x89PNG the bytes of a picture that does not exist"

// album returns a cabinet whose record "shot" refers to the picture.
func album(t testing.TB) (w *resttest.World, owner string) {
	t.Helper()
	w = resttest.Cabinet(t)
	owner = w.OwnerToken()
	upload(w, owner, "cin_c1", picture, "image/png")
	w.Ingest("cin_c1", "items", item("shot", `"day":"2026-01-10","scan":`+blobRef(picture, "image/png")))
	return w, owner
}

var pictureURL = "/v1/blobs/" + blobOf(picture)

// expectNoBlob fails unless the answer is the one for a blob that never existed (B-4).
func expectNoBlob(t *testing.T, name string, w *resttest.World, tok, target string) {
	t.Helper()
	unknown := strings.Replace(target, blobOf(picture), blobOf("never stored"), 1)
	want := w.Get(tok, unknown, fixedID)
	refused(t, want, refusal{status: 404, code: "blob_not_found"})
	sameAnswer(t, name, w.Get(tok, target, fixedID), want)
}

func TestBlobHeaders(t *testing.T) { // B-7, B-8
	w, owner := album(t)
	tok := first(w.Grant(cabinetGrant))
	for caller, token := range map[string]string{"client": tok, "owner": owner} {
		a := w.Get(token, pictureURL+"?connection_id=cin_c1").OK()
		if string(a.Body) != picture {
			t.Errorf("%s: body %q, want the picture", caller, a.Body)
		}
		want := map[string]string{
			"Content-Type": "image/png", "Content-Length": strconv.Itoa(len(picture)), "Cache-Control": "private, no-store",
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox",
			"Etag": `"sha256-` + hashOf(picture) + `"`, "Accept-Ranges": "bytes", "Content-Disposition": "", "Last-Modified": "",
		}
		for name, value := range want {
			if got := a.Header.Get(name); got != value {
				t.Errorf("%s: %s: %q, want %q", caller, name, got, value)
			}
		}
		head := w.Do("HEAD", token, pictureURL, "")
		for _, name := range []string{"Date", "Request-Id", "X-Request-Id"} {
			a.Header.Del(name)
			head.Header.Del(name)
		}
		if diff := cmp.Diff(a.Header, head.Header); diff != "" || head.Status != 200 || len(head.Body) != 0 {
			t.Errorf("%s: HEAD: status %d, headers differ (-GET +HEAD):\n%s", caller, head.Status, diff)
		}
	}
}

func TestBlobDisposition(t *testing.T) { // B-8
	w, owner := album(t)
	for mimeType, inline := range map[string]bool{
		"application/pdf": true, "image/avif": true, "image/bmp": true, "image/gif": true, "image/jpeg": true, "image/png": true,
		"image/tiff": true, "image/webp": true, "image/x-icon": true,
		"image/svg+xml": false, "text/html": false, "text/plain": false, "application/xhtml+xml": false, "application/octet-stream": false,
		"application/pdf2": false, "image/png+xml": false, "x/image": false,
	} {
		upload(w, owner, "cin_c1", picture, mimeType)
		a := w.Get(owner, pictureURL).OK()
		if got := a.Header.Get("Content-Disposition"); (got == "") != inline || !inline && got != "attachment" {
			t.Errorf("%s: Content-Disposition %q, want attachment unless inline", mimeType, got)
		}
		if a.Header.Get("Content-Type") != mimeType || a.Header.Get("Content-Security-Policy") != "default-src 'none'; sandbox" {
			t.Errorf("%s: headers %v", mimeType, a.Header)
		}
	}
}

func TestBlobRanges(t *testing.T) { // B-7, R9
	w, owner := album(t)
	n := len(picture)
	for _, c := range []struct{ ranges, body, contentRange string }{
		{"bytes=0-3", picture[:4], fmt.Sprintf("bytes 0-3/%d", n)},
		{"bytes=5-", picture[5:], fmt.Sprintf("bytes 5-%d/%d", n-1, n)},
		{"bytes=-7", picture[n-7:], fmt.Sprintf("bytes %d-%d/%d", n-7, n-1, n)},
		{"bytes=0-99999", picture, fmt.Sprintf("bytes 0-%d/%d", n-1, n)},
		{"bytes=-99999", picture, fmt.Sprintf("bytes 0-%d/%d", n-1, n)},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			a := w.Do(method, owner, pictureURL, "", "Range: "+c.ranges)
			if method == "GET" && string(a.Body) != c.body || a.Status != 206 || a.Header.Get("Content-Range") != c.contentRange ||
				a.Header.Get("Content-Length") != strconv.Itoa(len(c.body)) || a.Header.Get("Content-Type") != "image/png" {
				t.Errorf("%s %s: status %d, headers %v, body %q", method, c.ranges, a.Status, a.Header, a.Body)
			}
		}
	}
	a := w.Get(owner, pictureURL, "Range: bytes=0-3, 6-8")
	kind, params, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if err != nil || a.Status != 206 || kind != "multipart/byteranges" {
		t.Fatalf("two ranges: status %d, headers %v, want 206 and multipart/byteranges", a.Status, a.Header)
	}
	parts := multipart.NewReader(strings.NewReader(string(a.Body)), params["boundary"])
	for _, want := range []string{picture[:4], picture[6:9]} {
		p, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(p); err != nil || string(got) != want || p.Header.Get("Content-Type") != "image/png" {
			t.Errorf("part %q, headers %v, error %v, want %q", got, p.Header, err, want)
		}
	}
}

func TestBlobRangeNotSatisfiable(t *testing.T) { // B-7
	w, owner := album(t)
	for _, ranges := range []string{"bytes=" + strconv.Itoa(len(picture)) + "-", "bytes=99999-100000", "bytes=9-3", "bytes=x", "lines=1-2"} {
		a := w.Get(owner, pictureURL, "Range: "+ranges)
		refused(t, a, refusal{status: 416, code: "range_not_satisfiable"})
		want := map[string]string{
			"Content-Range": fmt.Sprintf("bytes */%d", len(picture)), "Content-Type": "application/json; charset=utf-8",
			"Etag": "", "Accept-Ranges": "", "Content-Disposition": "", "Content-Security-Policy": "", "X-Content-Type-Options": "nosniff",
		}
		for name, value := range want {
			if got := a.Header.Get(name); got != value {
				t.Errorf("%s: %s: %q, want %q", ranges, name, got, value)
			}
		}
		if head := w.Do("HEAD", owner, pictureURL, "", "Range: "+ranges); head.Status != 416 || len(head.Body) != 0 {
			t.Errorf("HEAD %s: status %d, body %q, want 416 and no body", ranges, head.Status, head.Body)
		}
	}
	upload(w, owner, "cin_c1", "", "text/plain")
	w.Ingest("cin_c1", "items", item("empty", `"scan":`+blobRef("", "text/plain")))
	if a := w.Get(owner, "/v1/blobs/"+blobOf(""), "Range: bytes=0-9"); a.Status != 200 || len(a.Body) != 0 {
		t.Errorf("range of an empty blob: status %d, body %q, want 200 and no body", a.Status, a.Body)
	}
}

func TestBlobConditions(t *testing.T) { // B-7
	w, owner := album(t)
	tag := `"sha256-` + hashOf(picture) + `"`
	for _, c := range []struct {
		headers []string
		status  int
	}{
		{[]string{"If-None-Match: " + tag}, 304},
		{[]string{"If-None-Match: W/" + tag + `, "x"`}, 304},
		{[]string{"If-None-Match: *"}, 304},
		{[]string{`If-None-Match: "sha256-other"`}, 200},
		{[]string{"If-Match: " + tag}, 200},
		{[]string{`If-Match: "sha256-other"`}, 200},
		{[]string{"Range: bytes=0-3", "If-Range: " + tag}, 206},
		{[]string{"Range: bytes=0-3", `If-Range: "sha256-other"`}, 200},
		{[]string{"Range: bytes=99999-", `If-Range: "sha256-other"`}, 200},
		{[]string{"Range: bytes=0-3", "If-None-Match: " + tag}, 304},
		{[]string{"If-Modified-Since: " + time.Now().UTC().Format(http.TimeFormat)}, 200},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			a := w.Do(method, owner, pictureURL, "", c.headers...)
			if a.Status != c.status || c.status == 304 && (len(a.Body) != 0 || a.Header.Get("Etag") != tag) {
				t.Errorf("%s %q: status %d, headers %v, want %d", method, c.headers, a.Status, a.Header, c.status)
			}
		}
	}
	tok := first(w.Grant(cabinetGrant))
	w.Do("DELETE", owner, "/v1/streams/items/records/shot?connection_id=cin_c1", "")
	for _, h := range []string{"If-None-Match: " + tag, "Range: bytes=99999-", "If-Match: x"} { // access is checked first
		expectError(t, w.Get(tok, pictureURL, h), 404, pdpp.CodeBlobNotFound)
	}
}

// TestBlobAccess: a blob is readable only through a granted reference (B-2). The answer does
// not say why a blob is not readable (B-4).
func TestBlobAccess(t *testing.T) {
	w, owner := album(t)
	grant := func(rest string) string { return `{"source":{"connector_key":"cabinet"},"streams":[` + rest + `]}` }
	for name, c := range map[string]struct {
		spec string
		want bool
	}{
		"everything":                  {cabinetGrant, true},
		"the referring field":         {grant(`{"name":"items","fields":["id","scan"]}`), true},
		"another field":               {grant(`{"name":"items","fields":["id","pages","title"]}`), false},
		"another stream":              {grant(`{"name":"notes"}`), false},
		"another connection":          {grant(`{"name":"items","instance_ids":["cin_c2"]}`), false},
		"within the time range":       {grant(`{"name":"items","time_range":{"since":"2026-01-10T00:00:00Z"}}`), true},
		"outside the time range":      {grant(`{"name":"items","time_range":{"since":"2026-01-11T00:00:00Z"}}`), false},
		"the referring record":        {grant(`{"name":"items","resources":["shot","x"]}`), true},
		"another record":              {grant(`{"name":"items","resources":["x"]}`), false},
		"the field of another stream": {grant(`{"name":"items","fields":["id","title"]},{"name":"notes","fields":["id","scan"]}`), false},
	} {
		tok := first(w.Grant(c.spec))
		if !c.want {
			expectNoBlob(t, name, w, tok, pictureURL)
			continue
		}
		if a := w.Get(tok, pictureURL); a.Status != 200 || string(a.Body) != picture {
			t.Errorf("%s: status %d, want the picture: %s", name, a.Status, a.Body)
		}
	}
	tok := first(w.Grant(cabinetGrant))
	for _, id := range []string{"x", "blob_1", hashOf(picture), blobOf(picture) + "0", strings.ToUpper(blobOf(picture)), "blob_sha256_..%2F..%2Fx"} {
		refused(t, w.Get(tok, "/v1/blobs/"+id), refusal{status: 404, code: "blob_not_found"})
	}
	other := w.As(w.Owner("other"))
	other.ManifestFile("testdata/cabinet.json")
	other.Connect("cabinet", "cin_c1", "")
	other.Ingest("cin_c1", "items", item("shot", `"scan":`+blobRef(picture, "image/png")))
	expectNoBlob(t, "blob of another owner", other, other.OwnerToken(), pictureURL)
	upload(other, other.OwnerToken(), "cin_c1", picture, "text/plain")
	if a := w.Get(owner, pictureURL).OK(); a.Header.Get("Content-Type") != "image/png" {
		t.Errorf("the upload of another owner changed the type to %s", a.Header.Get("Content-Type"))
	}
}

// TestBlobAccessEnds: access ends together with the reference or the grant (B-2).
func TestBlobAccessEnds(t *testing.T) {
	w, owner := album(t)
	tok, g := w.Grant(cabinetGrant)
	w.Get(tok, pictureURL).OK()
	shot := func(value string) { w.Ingest("cin_c1", "items", item("shot", `"scan":`+value)) }
	for _, value := range []string{"null", `{"blob_id":"` + blobOf("other") + `"}`, `{"note":` + blobRef(picture, "image/png") + `}`, `"` + blobOf(picture) + `"`} {
		shot(value)
		expectNoBlob(t, value, w, tok, pictureURL)
		expectNoBlob(t, value, w, owner, pictureURL)
		shot(blobRef(picture, "image/png"))
		w.Get(tok, pictureURL).OK()
	}
	w.Do("DELETE", owner, "/v1/streams/items/records/shot?connection_id=cin_c1", "")
	expectNoBlob(t, "deleted", w, tok, pictureURL)
	shot(blobRef(picture, "image/png"))
	raw := testManifest(t, "testdata/cabinet.json")
	w.Manifest(strings.Replace(raw, `"scan": {"type": ["object", "null"], "required": ["blob_id"]`, `"scan": {"type": ["object", "null"]`, 1))
	expectNoBlob(t, "no longer declared as a reference", w, tok, pictureURL)
	w.Manifest(raw)
	w.Get(tok, pictureURL).OK()
	w.Revoke(g)
	expectError(t, w.Get(tok, pictureURL), 403, pdpp.CodeGrantRevoked)
}

func TestBlobSelectors(t *testing.T) { // B-2, C-5, C-6, C-23
	w, owner := album(t)
	tok := first(w.Grant(cabinetGrant))
	narrow := first(w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items","instance_ids":["cin_c1"]}]}`))
	w.Ingest("cin_c2", "items", item("copy", `"pages":[{"blob_id":"x"},`+blobRef(picture, "image/png")+`]`))
	for _, token := range []string{tok, owner} {
		for _, q := range []string{"", "?connection_id=cin_c1", "?connector_instance_id=cin_c1", "?connector_id=cabinet"} {
			w.Get(token, pictureURL+q).OK()
		}
		// A record of cin_c2 refers to the blob, but it was uploaded for cin_c1 (B-9).
		expectNoBlob(t, "uploaded for another connection", w, token, pictureURL+"?connection_id=cin_c2")
		refused(t, w.Get(token, pictureURL+"?connection_id=cin_none"), refusal{status: 404, code: "connection_not_found", param: "connection_id"})
		refused(t, w.Get(token, pictureURL+"?connector_id=none"), refusal{status: 404, code: "not_found", param: "connector_id"})
		refused(t, w.Get(token, pictureURL+"?mime_type=x&stream=items"), refusal{status: 400, code: "invalid_request", param: "mime_type"})
	}
	refused(t, w.Get(narrow, pictureURL+"?connection_id=cin_c2"), refusal{status: 404, code: "connection_not_found", param: "connection_id"})
	upload(w, owner, "cin_c2", picture, "image/gif")
	for conn, kind := range map[string]string{"cin_c1": "image/png", "cin_c2": "image/gif"} {
		if a := w.Get(tok, pictureURL+"?connection_id="+conn).OK(); a.Header.Get("Content-Type") != kind {
			t.Errorf("%s: type %s, want %s", conn, a.Header.Get("Content-Type"), kind)
		}
	}
	w.Do("DELETE", owner, "/v1/streams/items/records?connection_id=cin_c1", "")
	if a := w.Get(tok, pictureURL).OK(); a.Header.Get("Content-Type") != "image/gif" {
		t.Errorf("type %s, want image/gif of the connection that still refers to the blob", a.Header.Get("Content-Type"))
	}
	refused(t, w.Do("DELETE", owner, pictureURL, ""), refusal{status: 405, code: "method_not_allowed"})
	refused(t, w.Get(owner, "/v1/blobs"), refusal{status: 405, code: "method_not_allowed"})
	refused(t, w.Get(owner, "/v1/blobs/"), refusal{status: 404, code: "not_found"})
	expectError(t, w.Get("", pictureURL), 401, pdpp.CodeAuthentication)
}

// TestBlobReferencedFromLongList: the store keeps the list of references in pieces (REC-4).
func TestBlobReferencedFromLongList(t *testing.T) {
	w, _ := album(t)
	var refs []string
	for i := range 300 {
		refs = append(refs, blobRef(fmt.Sprint("page ", i), "text/plain"))
	}
	owner := w.OwnerToken()
	w.Ingest("cin_c1", "items", item("book", `"pages":[`+strings.Join(refs, ",")+`]`))
	upload(w, owner, "cin_c1", "page 299", "text/plain")
	tok := first(w.Grant(cabinetGrant))
	href, _ := w.Get(tok, "/v1/streams/items/records/book").OK().At("data.pages.299.fetch_url").(string)
	if a := w.Get(tok, href).OK(); string(a.Body) != "page 299" {
		t.Errorf("%s: body %q, want page 299", href, a.Body)
	}
	expectError(t, w.Get(tok, "/v1/blobs/"+blobOf("page 0")), 404, pdpp.CodeBlobNotFound)
}

// TestBlobReferencesAreReadable tests SURFACE-3 and EVID-2: the blob of a granted record is
// read through the server with the same token, whatever URL the source wrote.
func TestBlobReferencesAreReadable(t *testing.T) {
	t.Run("SURFACE-3 EVID-2 the blob of a granted record is readable", func(t *testing.T) {
		w, _ := album(t)
		w.Ingest("cin_c1", "items", item("shot", `"scan":{"fetch_url":"https://elsewhere.test/x","path":"/etc/passwd",`+blobRef(picture, "image/png")[1:]))
		tok := first(w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items","fields":["id","scan"]}]}`))
		list := w.Get(tok, "/v1/streams/items/records").OK()
		href, _ := list.At("data.0.data.scan.fetch_url").(string)
		if want := pictureURL + "?connection_id=cin_c1"; href != want {
			t.Fatalf("fetch_url %q, want %q", href, want)
		}
		a := w.Get(tok, href).OK()
		if hashOf(string(a.Body)) != list.At("data.0.data.scan.sha256") || a.Header.Get("Content-Type") != list.At("data.0.data.scan.mime_type") {
			t.Errorf("reference %v: header %v, body %q", list.At("data.0.data.scan"), a.Header, a.Body)
		}
	})
}

// TestBinaryFacts tests BINARY-1: instead of bytes, answers contain facts and a link. The
// link of an evidence card is the blob route (EX-8).
func TestBinaryFacts(t *testing.T) {
	t.Run("BINARY-1 facts and a link instead of bytes", func(t *testing.T) {
		w, _ := album(t)
		tok := first(w.Grant(cabinetGrant))
		a := w.Get(tok, "/v1/streams/items/records/shot", "Prefer: pdpp-field-preview=64").OK()
		sameJSON(t, a.At("truncated_fields.scan.binary"), fmt.Sprintf(
			`{"kind":"blob_reference","mime_type":"image/png","size_bytes":%d,"size_grade":"small","sha256":%q}`, len(picture), hashOf(picture)))
		whole := w.Get(tok, "/v1/streams/items/records/shot").OK()
		rec := &evidence.Record{
			Stream: "items", ID: "shot", ConnectionID: "cin_c1",
			Presentation: evidence.Declared(w.Binding("cin_c1", "items").Stream),
		}
		rec.SetData([]byte(rawMember(t, whole, "data")))
		card := resttest.Answer{T: t, Body: evidence.AppendCard(nil, rec, evidence.EventTimeOf(rec))}
		href, _ := card.At("binary.0.read.href").(string)
		if href != whole.At("data.scan.fetch_url") || href == "" {
			t.Errorf("href of the card %q, fetch_url of the record %v", href, whole.At("data.scan.fetch_url"))
		}
		if got := w.Get(tok, href).OK(); string(got.Body) != picture {
			t.Errorf("%s: body %q, want the picture", href, got.Body)
		}
		if strings.Contains(string(card.Body), "PNG") {
			t.Errorf("the card contains bytes of the blob: %s", card.Body)
		}
	})
}

// TestMissingBlobFile: a blob whose file is missing or damaged is not found.
func TestMissingBlobFile(t *testing.T) {
	w, owner := album(t)
	hash := hashOf(picture)
	file := filepath.Join(w.BlobDir, "1", hash[:2], hash[2:4], hash)
	if err := os.Truncate(file, 3); err != nil {
		t.Fatal(err)
	}
	expectNoBlob(t, "damaged", w, owner, pictureURL)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	expectNoBlob(t, "missing", w, owner, pictureURL)
	if log := w.Log.String(); !strings.Contains(log, "missing or damaged") || strings.Contains(log, hash) {
		t.Errorf("want a log entry about a missing or damaged blob, without its hash:\n%s", log)
	}
	upload(w, owner, "cin_c1", picture, "image/png")
	w.Get(owner, pictureURL).OK()
}

// bigBlob streams an upload of n bytes, adds a record that refers to it and returns its path.
func bigBlob(w *resttest.World, n int64) (target string) {
	w.T.Helper()
	hash := sha256.New()
	body := io.TeeReader(io.LimitReader(zeros{}, n), hash)
	w.Send(http.DefaultClient, w.Request("POST", w.OwnerToken(), blobsPath, body)).OK()
	id := string(pdpp.BlobIDOf(hex.EncodeToString(hash.Sum(nil))))
	w.Ingest("cin_c1", "items", item("big", `"scan":{"blob_id":"`+id+`"}`))
	return "/v1/blobs/" + id
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestLargeBlobIsStreamed: the server does not hold the largest blob in memory.
func TestLargeBlobIsStreamed(t *testing.T) {
	w := resttest.Cabinet(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const size = 50 << 20
	target := bigBlob(w, size)
	res, err := http.DefaultClient.Do(w.Request("GET", w.OwnerToken(), target, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	n, err := io.Copy(io.Discard, res.Body)
	runtime.ReadMemStats(&after)
	if n != size || err != nil || res.ContentLength != size {
		t.Errorf("read %d bytes, Content-Length %d, error %v", n, res.ContentLength, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("%d MiB allocated for a blob of %d MiB", used>>20, size>>20)
	}
}

// TestSlowBlobReadersDoNotBlockStore: clients that do not read a blob to its end do not delay
// other requests.
func TestSlowBlobReadersDoNotBlockStore(t *testing.T) {
	w := resttest.Cabinet(t)
	target := bigBlob(w, 32<<20)
	owner := w.OwnerToken()
	for range 4 * max(4, 2*runtime.GOMAXPROCS(0)) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", target, strings.TrimPrefix(w.URL, "http://"), owner)
		if _, err := conn.Read(make([]byte, 12)); err != nil { // the answer has started
			t.Fatal(err)
		}
	}
	w.Get(owner, "/v1/streams").OK()
	w.Ingest("cin_c1", "items", item("after", ""))
}

// TestBlobRequestEdgeCases has requests for which net/http alone would not follow B-7.
func TestBlobRequestEdgeCases(t *testing.T) {
	w, _ := album(t)
	tok := first(w.Grant(cabinetGrant))
	for _, header := range []string{`If-Match: "x"`, "If-Unmodified-Since: Mon, 02 Jan 2006 15:04:05 GMT"} {
		if a := w.Get(tok, pictureURL, header); a.Status != 200 || string(a.Body) != picture {
			t.Errorf("%s: status %d, body %q, want the picture", header, a.Status, a.Body)
		}
	}
	for _, suffix := range []string{"bytes=-0", "bytes= -0", "bytes=-00"} {
		refused(t, w.Get(tok, pictureURL, "Range: "+suffix), refusal{status: 416, code: "range_not_satisfiable"})
	}
	many := "Range: bytes=" + strings.TrimSuffix(strings.Repeat("0-0,", 500), ",")
	if a := w.Get(tok, pictureURL, many); a.Status != 200 || string(a.Body) != picture {
		t.Errorf("500 ranges: status %d, %d bytes, want 200 and the picture", a.Status, len(a.Body))
	}
	if a := w.Get(tok, pictureURL, "Range: bytes=0-0,2-3"); a.Status != http.StatusPartialContent {
		t.Errorf("two ranges: status %d, want 206", a.Status)
	}
}

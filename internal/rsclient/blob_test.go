package rsclient_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/rsclient"
)

const hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

func TestBlob(t *testing.T) {
	ranged := func(content string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept") != "*/*" || r.URL.EscapedPath() != "/v1/blobs/b%2F7" || r.URL.RawQuery != "connection_id=cin_a1" {
				t.Errorf("%s %v", r.RequestURI, r.Header)
			}
			w.Header().Set("Content-Type", "Image/PNG; q=1")
			w.Header().Set("Etag", `"sha256-`+hash+`"`)
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
		}
	}
	chunked := func(content string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, content)
			_ = http.NewResponseController(w).Flush()
		}
	}
	tests := []struct {
		name string
		h    http.HandlerFunc
		want rsclient.Blob
	}{
		{"whole", ranged("1234"), rsclient.Blob{Content: []byte("1234"), MimeType: "image/png", Size: 4, Last: true, Whole: true, SHA256: hash}},
		{"exactly", ranged("12345678"), rsclient.Blob{Content: []byte("12345678"), MimeType: "image/png", Size: 8, Last: true, Whole: true, SHA256: hash}},
		{"longer", ranged("123456789"), rsclient.Blob{Content: []byte("12345678"), MimeType: "image/png", Size: 9, SHA256: hash}},
		{"empty", ranged(""), rsclient.Blob{Content: []byte{}, MimeType: "image/png", Size: 0, Last: true, Whole: true, SHA256: hash}},
		{"no ranges", says(200, "text/plain", "123456789", "Content-Length: 9"), rsclient.Blob{Content: []byte("12345678"), MimeType: "text/plain", Size: 9}},
		{"no length", chunked("123"), rsclient.Blob{Content: []byte("123"), MimeType: "text/plain", Size: 3, Last: true, Whole: true}},
		{"no length, longer", chunked("123456789"), rsclient.Blob{Content: []byte("12345678"), MimeType: "text/plain", Size: -1}},
		{"no type", says(206, ";;", "12", "Content-Range: bytes 0-1/2", "Etag: \"other\""), rsclient.Blob{Content: []byte("12"), MimeType: "application/octet-stream", Size: 2, Last: true, Whole: true}},
		{"size unknown", says(206, "a/b", "12", "Content-Range: bytes 0-1/*"), rsclient.Blob{Content: []byte("12"), MimeType: "a/b", Size: -1}},
		{"nothing to range over", says(416, "text/plain", "", "Content-Range: bytes */0"), rsclient.Blob{MimeType: "application/octet-stream", Last: true, Whole: true}},
	}
	var q rsclient.Query
	q.Set("connection_id", "cin_a1")
	for _, test := range tests {
		b, err := serve(t, test.h).Blob(t.Context(), "b/7", q, rsclient.Part{Most: 8})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if diff := cmp.Diff(&test.want, b); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.name, diff)
		}
	}
	for _, h := range []http.HandlerFunc{ranged("123456789"), chunked("123456789")} {
		for from, want := range map[int]rsclient.Blob{
			2: {Content: []byte("345")}, 6: {Content: []byte("789"), Last: true}, 7: {Content: []byte("89"), Last: true}, 9: {Last: true}, 12: {Last: true},
		} {
			b, err := serve(t, h).Blob(t.Context(), "b/7", q, rsclient.Part{From: from, Most: 3})
			if err != nil || string(b.Content) != string(want.Content) || b.Last != want.Last || b.Whole {
				t.Errorf("from %d: %+v, %v", from, b, err)
			}
		}
	}
	wrong := map[string]http.HandlerFunc{
		"upstream_invalid": says(206, "a/b", "34", "Content-Range: bytes 2-3/4"),
		"blob_not_found":   says(404, "application/json", `{"error":{"code":"blob_not_found","message":"m"}}`),
		"http_416":         says(416, "text/plain", "", "Content-Range: bytes */9"),
	}
	for code, h := range wrong {
		_, err := serve(t, h).Blob(t.Context(), "b", rsclient.Query{}, rsclient.Part{Most: 8})
		if e := failed(t, err); string(e.Code) != code {
			t.Errorf("%v, want %s", e, code)
		}
	}
}

// An endless blob is read as far as was asked.
func TestEndlessBlob(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		endless(w, r, "application/octet-stream", nil, []byte("x"))
	})
	b, err := c.Blob(t.Context(), "b", rsclient.Query{}, rsclient.Part{Most: 1 << 18})
	if err != nil || b.Whole || b.Size != -1 || !bytes.Equal(b.Content, bytes.Repeat([]byte("x"), 1<<18)) {
		t.Errorf("%d bytes, %v", len(b.Content), err)
	}
}

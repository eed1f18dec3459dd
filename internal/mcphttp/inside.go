package mcphttp

import (
	"bytes"
	"errors"
	"net/http"

	"pdpp/internal/auth"
)

// InMemory returns a function that makes a transport for a caller. v1 serves its requests
// in memory (H-53), by the same routes as requests from outside, with the caller in their
// context in place of a token.
func InMemory(v1 http.Handler) func(*auth.Caller) http.RoundTripper {
	return func(caller *auth.Caller) http.RoundTripper { return inside{v1, caller} }
}

type inside struct {
	v1     http.Handler
	caller *auth.Caller
}

// RoundTrip implements http.RoundTripper.
func (t inside) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		return nil, errors.New("only reads are made inside the process")
	}
	r = r.WithContext(auth.WithCaller(r.Context(), t.caller))
	w := &memoryWriter{header: make(http.Header, 8), status: http.StatusOK}
	t.v1.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: w.status, Header: w.header, ContentLength: int64(w.body.Len()), Body: &w.body, Request: r}, nil
}

// memoryWriter is an http.ResponseWriter that keeps the answer.
type memoryWriter struct {
	header http.Header
	status int
	body   memoryBody
}

// Header implements http.ResponseWriter.
func (w *memoryWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *memoryWriter) WriteHeader(status int) { w.status = status }

// Write implements http.ResponseWriter.
func (w *memoryWriter) Write(p []byte) (int, error) { return w.body.Write(p) }

// memoryBody is an io.ReadCloser for that answer. rsclient takes its bytes without a copy.
type memoryBody struct{ bytes.Buffer }

// Close implements io.Closer.
func (*memoryBody) Close() error { return nil }

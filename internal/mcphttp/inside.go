package mcphttp

import (
	"bytes"
	"errors"
	"net/http"

	"pdpp/internal/auth"
	"pdpp/internal/bufpool"
)

// InMemory returns transports whose requests v1 serves in memory (H-53). They pass the
// same router as requests from outside, with the caller in their context in place of a
// token.
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
	body := &memoryBody{buffer: w.buffer, all: w.body}
	body.Reset(w.body)
	if err := r.Context().Err(); err != nil {
		body.Free()
		return nil, err
	}
	return &http.Response{StatusCode: w.status, Header: w.header, ContentLength: int64(len(w.body)), Body: body, Request: r}, nil
}

var bodies bufpool.Pool

// memoryWriter keeps an answer.
type memoryWriter struct {
	header http.Header
	status int
	body   []byte
	buffer *bufpool.Buffer // of body; nil before the first write
}

func (w *memoryWriter) Header() http.Header { return w.header }

func (w *memoryWriter) WriteHeader(status int) { w.status = status }

func (w *memoryWriter) Write(p []byte) (int, error) {
	if w.buffer == nil {
		w.buffer = bodies.Get()
		w.body = w.buffer.Bytes()
	}
	w.body = append(w.body, p...)
	return len(p), nil
}

// memoryBody is the body of such an answer. A reader that knows the type can use the bytes
// without copying them, and return their buffer to the pool.
type memoryBody struct {
	bytes.Reader
	all    []byte
	buffer *bufpool.Buffer
}

// Bytes returns the whole body. It is valid until Free.
func (b *memoryBody) Bytes() []byte { return b.all }

// Free returns the buffer of the body to the pool. It may be called once, or never.
func (b *memoryBody) Free() {
	if b.buffer != nil {
		b.buffer.Put(b.all)
	}
	b.all, b.buffer = nil, nil
}

func (*memoryBody) Close() error { return nil }

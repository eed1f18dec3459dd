package rs

import (
	"bytes"
	"context"
	"errors"
	"net/http"
)

// Reads of the hosted endpoint are made inside the process (H-53).

type callerKey struct{}

func callerOf(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}

// RoundTrip implements http.RoundTripper: the way to the read routes of this server,
// in memory. The request passes the same router as one from outside.
func (c *Caller) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		return nil, errors.New("only reads are made inside the process")
	}
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
	w := &memoryWriter{header: make(http.Header, 8), status: http.StatusOK}
	c.server.inside.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: w.status, Header: w.header, ContentLength: int64(len(w.body)), Body: memoryBody{bytes.NewReader(w.body), w.body}, Request: r,
	}, nil
}

// memoryWriter keeps an answer.
type memoryWriter struct {
	header http.Header
	status int
	body   []byte
}

func (w *memoryWriter) Header() http.Header { return w.header }

func (w *memoryWriter) WriteHeader(status int) { w.status = status }

func (w *memoryWriter) Write(p []byte) (int, error) {
	w.body = append(w.body, p...)
	return len(p), nil
}

// memoryBody is the body of such an answer. Who knows it can have it whole.
type memoryBody struct {
	*bytes.Reader
	all []byte
}

// Bytes is the whole body.
func (b memoryBody) Bytes() []byte { return b.all }

func (memoryBody) Close() error { return nil }

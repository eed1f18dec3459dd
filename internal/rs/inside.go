package rs

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"pdpp/internal/bufpool"
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
	body := &memoryBody{lent: w.lent, all: w.body}
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
	lent   *bufpool.Buffer // that body stands in; nil before there is one
}

func (w *memoryWriter) Header() http.Header { return w.header }

func (w *memoryWriter) WriteHeader(status int) { w.status = status }

func (w *memoryWriter) Write(p []byte) (int, error) {
	if w.lent == nil {
		w.lent = bodies.Get()
		w.body = w.lent.Bytes()
	}
	w.body = append(w.body, p...)
	return len(p), nil
}

// memoryBody is the body of such an answer. Who knows it can have it whole, and give its
// room back.
type memoryBody struct {
	bytes.Reader
	all  []byte
	lent *bufpool.Buffer
}

// Bytes is the whole body, until Free.
func (b *memoryBody) Bytes() []byte { return b.all }

// Free ends the use of the body: another answer is written in its place. It may be
// called once, or never.
func (b *memoryBody) Free() {
	if b.lent != nil {
		b.lent.Put(b.all)
	}
	b.all, b.lent = nil, nil
}

func (*memoryBody) Close() error { return nil }

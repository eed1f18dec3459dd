package rs

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// Caller is who asks the hosted endpoint, found out by its token (H-41, steps 4 to 6).
// It makes reads inside the process with that token's rights and no others (H-53).
type Caller struct {
	server *Server
	hash   store.TokenHash
}

// Admit reads the bearer of a request to the hosted endpoint of an audience and judges
// it. Nothing is kept from one request to the next.
func (s *Server) Admit(r *http.Request, audience string) (*Caller, error) {
	token, err := bearer(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), readTimeout)
	defer cancel()
	c := &Caller{server: s, hash: store.HashToken(token)}
	now := s.Clock()
	err = s.view(ctx, func(v store.View) error {
		p, err := s.identify(v, r, token, now)
		if err != nil {
			return err
		}
		s.used.note(p, now)
		return judgeHosted(p, audience, now)
	})
	return c, err
}

// judgeHosted says whether a token opens the hosted endpoint (H-47 to H-49).
func judgeHosted(p store.Principal, audience string, now time.Time) error {
	if p.Kind == pdpp.TokenOwner {
		return &pdpp.Error{
			Code:     pdpp.CodePermission,
			Message:  "An owner token is not accepted here: this needs a grant-scoped client or MCP package token.",
			NextStep: "Connect again through the owner's browser, and let the owner choose what to grant.",
		}
	}
	if !slices.Contains(p.Audience, audience) {
		return pdpp.Errorf(pdpp.CodeInvalidToken, "This token was issued for another resource.")
	}
	return checkState(p, now)
}

// Limit counts the request against its token (H-67). After a nil error release is
// called once.
func (c *Caller) Limit() (release func(), err error) { return c.server.limit(c.key()) }

// key tells bearers apart.
func (c *Caller) key() pdpp.TokenID { return pdpp.TokenID(c.hash[:]) }

// principal looks the token up again, in the snapshot that is read: what was revoked
// meanwhile reads nothing.
func (c *Caller) principal(v store.View, now time.Time) (store.Principal, error) {
	p, err := c.server.lookUp(v, c.hash, now)
	if err != nil {
		return p, err
	}
	return p, checkState(p, now)
}

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

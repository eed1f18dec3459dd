package mcphttp

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"pdpp"
	"pdpp/internal/auth"
	"pdpp/internal/bufpool"
	"pdpp/internal/httpx"
	"pdpp/internal/mcpserve"
	"pdpp/internal/pkgreader"
	"pdpp/internal/query"
	"pdpp/internal/telemetry"
)

const bodyMax = 1 << 20 // bytes of a body (H-65)

// Config configures an endpoint.
type Config struct {
	Auth    *auth.Authenticator
	Limiter *httpx.Limiter // per token (H-67)
	Edge    *httpx.Edge
	Cursors *query.Sealer // seals the cursors of searches in packages
	Version string        // the version of the build
	Log     *slog.Logger
	Clock   func() time.Time

	// Transport returns the transport of a caller's reads at /v1 (H-53): InMemory over the
	// router of /v1.
	Transport func(*auth.Caller) http.RoundTripper

	Telemetry *telemetry.Telemetry // nil if it is off
}

// Endpoint serves /mcp. It is safe for concurrent use. Between requests it remembers only
// which members of a package failed (H-94).
type Endpoint struct {
	Config
	http.Handler
	memory     *pkgreader.Memory
	identities httpx.PerOrigin[*mcpserve.Identity]
}

// New returns the endpoint. Package server puts its middleware around it.
func New(c Config) *Endpoint {
	e := &Endpoint{Config: c, memory: new(pkgreader.Memory)}
	e.Handler = httpx.Handler(e.serve)
	return e
}

// serve does the steps of H-41 that begin with the bearer token: it authenticates the
// request before it does anything else with it.
func (e *Endpoint) serve(w http.ResponseWriter, r *http.Request) error {
	httpx.SetRoute(r.Context(), auth.MCP.Path)
	id, err := e.Auth.AuthenticateRequest(r, auth.MCP)
	if err == nil && r.Method != http.MethodPost {
		err = httpx.MethodNotAllowed(httpx.MethodsMCP)(w, r)
	}
	if err == nil {
		err = e.Limiter.Acquire(id.Caller.Key)
	}
	if err != nil {
		closeAfterRefusal(w, r)
		return err
	}
	defer e.Limiter.Release(id.Caller.Key)
	return e.serveMessage(w, r, id)
}

// serveMessage reads the body of an authenticated request and answers it (H-41, 8 to 10).
func (e *Endpoint) serveMessage(w http.ResponseWriter, r *http.Request, id *auth.Identity) error {
	buf := buffers.Get().(*buffer)
	defer buf.put()
	err := checkMedia(r.Header)
	if err == nil {
		err = buf.read(w, r)
	}
	if err != nil {
		closeAfterRefusal(w, r)
		return err
	}
	out, err := e.answer(r, id, buf)
	if err != nil {
		return err
	}
	return out.send(w)
}

// closeAfterRefusal makes net/http close the connection after it refused a request.
// Otherwise net/http would wait for the rest of the body before it sends the answer.
func closeAfterRefusal(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor == 1 && r.ContentLength != 0 {
		w.Header()["Connection"] = valueClose
	}
}

var valueClose = []string{"close"}

// buffer holds the body and the answer of a request.
type buffer struct {
	body bytes.Buffer
	text []byte // the body as compact JSON

	answer []byte
	pooled *bufpool.Buffer // owns answer; nil before there is one
}

var (
	buffers = sync.Pool{New: func() any { return new(buffer) }}
	answers bufpool.Pool
)

// start returns the empty buffer of the answer. It is taken from the pool only when the
// answer is written, so that a waiting request holds no buffer.
func (b *buffer) start() []byte {
	if b.pooled == nil {
		b.pooled = answers.Get()
	}
	return b.pooled.Bytes()
}

// put returns the buffers to their pools.
func (b *buffer) put() {
	if b.pooled != nil {
		b.pooled.Put(b.answer)
	}
	b.answer, b.pooled = nil, nil
	if b.body.Cap() <= bufpool.MaxKept && cap(b.text) <= bufpool.MaxKept {
		b.body.Reset()
		buffers.Put(b)
	}
}

// read reads the body of a request.
func (b *buffer) read(w http.ResponseWriter, r *http.Request) error {
	if r.ContentLength > bodyMax {
		return tooLarge()
	}
	if err := holdBody(r); err != nil {
		return err
	}
	if r.ContentLength > 0 {
		b.body.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	_, err := b.body.ReadFrom(http.MaxBytesReader(w, r.Body, bodyMax))
	if err == nil {
		return nil
	}
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return err
	}
	return &pdpp.Error{Code: pdpp.CodeInvalidRequest, Message: "The body of the request is incomplete, or took too long to arrive."}
}

// holdBody counts a large body, and its compact JSON, against the memory budget (H-69).
func holdBody(r *http.Request) error {
	size := int(r.ContentLength)
	if size < 0 {
		size = bodyMax
	}
	if size <= bufpool.MaxKept {
		return nil
	}
	return httpx.HoldOf(r.Context()).Reserve(2 * size)
}

func tooLarge() error {
	return pdpp.Errorf(pdpp.CodeResourceLimit, "The body of a request may have at most %d bytes.", bodyMax)
}

var valueJSON = []string{"application/json"}

// reply is the answer to a request.
type reply struct {
	status int
	body   []byte // nil if there is none
}

// accepted answers notifications (H-61).
var accepted = reply{status: http.StatusAccepted}

func (out reply) send(w http.ResponseWriter) error {
	if out.body == nil {
		w.WriteHeader(out.status)
		return nil
	}
	h := w.Header()
	h["Content-Type"] = valueJSON
	h["Content-Length"] = []string{strconv.Itoa(len(out.body))}
	w.WriteHeader(out.status)
	_, err := w.Write(out.body)
	return err
}

package mcphttp

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"pdpp"
	"pdpp/internal/bufpool"
	"pdpp/internal/httpx"
	"pdpp/internal/mcpserve"
	"pdpp/internal/pkgreader"
	"pdpp/internal/query"
	"pdpp/internal/rs"
	"pdpp/internal/telemetry"
)

const (
	path     = "/mcp"
	audience = "mcp"
	methods  = "POST, OPTIONS"
	bodyMax  = 1 << 20 // bytes of a request (H-65)
)

// Config is what an endpoint is made of.
type Config struct {
	RS      *rs.Server
	Edge    *httpx.Edge
	Cursors *query.Sealer // of searches through packages
	Version string        // of the build
	Log     *slog.Logger
	Clock   func() time.Time

	Telemetry *telemetry.Telemetry // nil: off

	// Around, when not nil, wraps the way to /v1: to watch what is read.
	Around func(http.RoundTripper) http.RoundTripper

	// Instead, when not nil, may answer a message in place of the surface, behind all
	// checks: for servers of other surfaces on the same endpoint.
	Instead func(*mcpserve.Message) http.Handler
}

// Endpoint serves /mcp. It is safe for concurrent use, and keeps nothing of a caller
// but which members of packages failed (H-94).
type Endpoint struct {
	Config
	memory     *pkgreader.Memory
	identities httpx.PerOrigin[*mcpserve.Identity]
}

// New makes the endpoint, to be served by rs.Server.Handler.
func New(c Config) rs.Endpoint {
	e := &Endpoint{Config: c, memory: new(pkgreader.Memory)}
	handler := httpx.Chain(httpx.Handler(e.serve), constant, c.Edge.IconLink, c.Edge.StrictCORS(methods), httpx.Version, c.Edge.Challenge(path))
	return rs.Endpoint{Path: path, Handler: handler}
}

var (
	valueNoStore = []string{"no-store"}
	valueVersion = []string{httpx.PDPPVersion}
)

// constant puts on every answer what all of them carry (H-64): it is kept out of
// caches, and a preflight too tells the version.
func constant(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Cache-Control"], h["Pdpp-Version"] = valueNoStore, valueVersion
		next.ServeHTTP(w, r)
	})
}

// serve goes through the steps of H-41 from the bearer on. Whatever they come to is
// answered only if the caller is confirmed.
func (e *Endpoint) serve(w http.ResponseWriter, r *http.Request) error {
	httpx.SetRoute(r.Context(), path)
	caller, err := e.RS.Admit(r, audience)
	if err != nil {
		hangUp(w, r)
		return err
	}
	buf := buffers.Get().(*buffer)
	defer buf.put()
	release, err := e.read(w, r, caller, buf)
	var out reply
	if err != nil {
		hangUp(w, r)
	} else {
		defer release()
		out, err = e.answer(r, caller, buf)
	}
	if refused := caller.Confirm(r); refused != nil {
		hangUp(w, r)
		w.Header().Del("Allow") // nothing shows of what would have been answered
		httpx.DropNotes(r.Context())
		return refused
	}
	switch {
	case err != nil:
		return err
	case out.handler != nil:
		out.handler.ServeHTTP(w, replay(r, buf.body.Bytes()))
		return nil
	}
	return out.send(w)
}

// read is steps 7 and 8. After a nil error release is called once.
func (e *Endpoint) read(w http.ResponseWriter, r *http.Request, caller *rs.Caller, buf *buffer) (release func(), err error) {
	if r.Method != http.MethodPost {
		return nil, httpx.MethodNotAllowed(methods)(w, r)
	}
	if release, err = caller.Limit(); err != nil {
		return nil, err
	}
	if err = checkMedia(r.Header); err == nil {
		err = buf.read(w, r)
	}
	if err != nil {
		release()
	}
	return release, err
}

// hangUp ends the connection of a refused request with its answer. Otherwise net/http
// would wait for the rest of the body before it sends a refusal that does not need it.
func hangUp(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor == 1 && r.ContentLength != 0 {
		w.Header()["Connection"] = valueClose
	}
}

var valueClose = []string{"close"}

// buffer is what a request needs for a while: its body, and its answer.
type buffer struct {
	body bytes.Buffer
	text []byte // the body as compact JSON

	answer []byte
	lent   *bufpool.Buffer // that answer stands in; nil before there is one
}

var (
	buffers = sync.Pool{New: func() any { return new(buffer) }}
	answers bufpool.Pool
)

// room gives the room for an answer. It is not held before: a request may wait.
func (b *buffer) room() []byte {
	if b.lent == nil {
		b.lent = answers.Get()
	}
	return b.lent.Bytes()
}

func (b *buffer) put() {
	if b.lent != nil {
		b.lent.Put(b.answer)
	}
	b.answer, b.lent = nil, nil
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
	return &pdpp.Error{Code: pdpp.CodeInvalidRequest, Message: "The body of the request did not arrive whole, or not in time."}
}

// holdBody counts a large body, and the same as compact JSON, against the memory of
// the server (H-69).
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
	return pdpp.Errorf(pdpp.CodeResourceLimit, "The body of a request may have %d bytes at most.", bodyMax)
}

var valueJSON = []string{"application/json"}

// reply is what a request is answered with.
type reply struct {
	status  int
	body    []byte       // nil: none
	handler http.Handler // answers in place of it
}

// accepted answers what needs no answer: notifications (H-61).
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

// replay is the request with its body as if it had not been read.
func replay(r *http.Request, body []byte) *http.Request {
	out := r.Clone(r.Context())
	out.Body = io.NopCloser(bytes.NewReader(body))
	out.ContentLength = int64(len(body))
	out.Header.Set("Accept", "application/json, text/event-stream")
	return out
}

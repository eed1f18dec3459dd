package mcpserve

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"pdpp/internal/bufpool"
	"pdpp/internal/rawjson"
)

// drainTimeout is how long running requests may take after the end of the input (MS-262).
const drainTimeout = 5 * time.Second

// session is the state of one client on stdio: the revision that it agreed on and the
// requests that are running.
type session struct {
	server   *Server
	out      *output
	revision string // agreed on by initialize; "" before that

	ctx    context.Context // the parent of all requests; canceled after drainTimeout
	cancel context.CancelFunc
	active sync.WaitGroup

	mu      sync.Mutex
	running map[string]*request // by id
}

// request is a running request.
type request struct {
	cancel    context.CancelFunc
	cancelled bool // by the client, which then expects no response
}

func newSession(ctx context.Context, s *Server, out *output) *session {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	return &session{server: s, out: out, ctx: ctx, cancel: cancel, running: make(map[string]*request)}
}

// receive handles lines until they end or ctx is done.
func (c *session) receive(ctx context.Context, lines <-chan line) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case l := <-lines:
			c.handleLine(l)
			if errors.Is(l.err, io.EOF) {
				return nil
			}
			if l.err != nil {
				return l.err
			}
		}
	}
}

// handleLine handles a message, or each message of a batch by itself (MS-268).
func (c *session) handleLine(l line) {
	if l.tooLong {
		c.refuse(nil, &Error{Code: CodeRequest, Message: "the message is too long"})
		return
	}
	if l.text = bytes.TrimSpace(l.text); len(l.text) == 0 {
		return
	}
	text, err := Compact(nil, l.text)
	switch {
	case err != nil:
		c.refuse(nil, err)
	case text[0] == '[' && len(text) > len("[]"):
		for message := range rawjson.Elements(text) {
			c.handleMessage(message)
		}
	default:
		c.handleMessage(text)
	}
}

func (c *session) handleMessage(text []byte) {
	m, ok := Parse(text)
	switch {
	case !ok:
		c.refuse(nil, &Error{Code: CodeParse, Message: "not a JSON-RPC message"})
	case m.NeedsAnswer():
		c.start(&m)
	case m.Method == "notifications/cancelled":
		c.cancelRequest(&m)
	}
}

// start starts a request, so that the next message is read while it runs. Only
// initialize is answered at once: the next message depends on it.
func (c *session) start(m *Message) {
	revision, err := c.revisionOf(m)
	if err != nil {
		c.refuse(m.ID, err)
		return
	}
	if m.Method == "initialize" {
		r := c.server.Do(c.ctx, m, revision)
		c.revision = cmp.Or(r.agreed, c.revision)
		c.respond(&r)
		return
	}
	ctx, cancel := context.WithCancel(c.ctx)
	req := &request{cancel: cancel}
	c.mu.Lock()
	c.running[string(m.ID)] = req
	c.mu.Unlock()
	c.active.Go(func() { c.run(ctx, req, m, revision) })
}

// revisionOf returns the revision that a request follows. From 2026-07-28 on, each request
// names its revision. Requests of earlier revisions use the one that initialize agreed on
// (MS-3).
func (c *session) revisionOf(m *Message) (string, *Error) {
	if m.Revision >= Modern { // revisions are dates
		return Modern, m.CheckMeta()
	}
	switch m.Method {
	case "initialize":
		if c.revision != "" {
			return "", &Error{Code: CodeRequest, Message: "initialize was sent twice"}
		}
	case "ping", "server/discover": // these work before initialize
	default:
		if c.revision == "" {
			return "", &Error{Code: CodeRequest, Message: "the first request must be initialize, or have the protocol version in _meta"}
		}
	}
	return cmp.Or(c.revision, Batches), nil
}

// run runs a request and writes its response unless the client has cancelled it.
func (c *session) run(ctx context.Context, req *request, m *Message, revision string) {
	defer req.cancel()
	r := c.server.Do(ctx, m, revision)
	c.mu.Lock()
	if c.running[string(m.ID)] == req { // a client may use an id twice
		delete(c.running, string(m.ID))
	}
	cancelled := req.cancelled
	c.mu.Unlock()
	if !cancelled {
		c.respond(&r)
	}
}

func (c *session) cancelRequest(m *Message) {
	id, _ := rawjson.Get(m.Params, "requestId")
	c.mu.Lock()
	defer c.mu.Unlock()
	if req := c.running[string(id)]; req != nil {
		req.cancelled = true
		req.cancel()
	}
}

var responses bufpool.Pool

func (c *session) respond(r *Response) {
	buf := responses.Get()
	text := append(r.Append(buf.Bytes()), '\n')
	c.out.write(text)
	buf.Put(text)
}

func (c *session) refuse(id []byte, err *Error) {
	c.out.write(append(AppendError(nil, id, err), '\n'))
}

// drain waits until no request is running. After drainTimeout it cancels them.
func (c *session) drain() {
	defer c.cancel()
	defer time.AfterFunc(drainTimeout, c.cancel).Stop()
	c.active.Wait()
}

package mcpserve

import (
	"context"
	"io"
	"sync"
	"time"

	"pdpp/internal/bufpool"
	"pdpp/internal/rawjson"
)

// calls are the requests of a session that are answered past the SDK: those of the
// surface, once it is clear which revision they follow. All others are the SDK's.
type calls struct {
	server *Server
	out    io.Writer
	ctx    context.Context // of the session
	cancel context.CancelFunc
	active sync.WaitGroup

	mu       sync.Mutex
	revision string // that initialize was answered with; "" before
	running  map[string]*running
}

// running is a call under way.
type running struct {
	cancel    context.CancelFunc
	cancelled bool // by the client, who wants no answer then
}

func newCalls(ctx context.Context, s *Server, out io.Writer) *calls {
	ctx, cancel := context.WithCancel(ctx)
	return &calls{server: s, out: out, ctx: ctx, cancel: cancel, running: make(map[string]*running)}
}

// agree notes the revision of a session with a handshake.
func (c *calls) agree(revision string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revision = revision
}

// take answers a message, or notes that a call of its own is cancelled; false when the
// message is for the SDK.
func (c *calls) take(m *Message) bool {
	if m.Method == "notifications/cancelled" {
		return c.stop(m)
	}
	if m.ID == nil || !isOfSurface(m.Method) {
		return false
	}
	c.mu.Lock()
	revision := c.revision
	if m.IsModern {
		revision = Modern
	}
	if revision == "" || m.Revision != "" && !m.IsModern || c.running[string(m.ID)] != nil {
		c.mu.Unlock()
		return false
	}
	ctx, cancel := context.WithCancel(c.ctx)
	call := &running{cancel: cancel}
	c.running[string(m.ID)] = call
	c.mu.Unlock()
	c.active.Go(func() { c.answer(ctx, m, revision, call) })
	return true
}

// isOfSurface reports a method that is answered from the surface. The others are the
// protocol's own, and in a session the SDK's.
func isOfSurface(method string) bool {
	switch method {
	case "tools/call", "tools/list", "resources/read", "resources/list", "resources/templates/list":
		return true
	}
	return false
}

// stop cancels a call.
func (c *calls) stop(m *Message) bool {
	id, _ := rawjson.Get(m.Params, "requestId")
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.running[string(id)]
	if call == nil {
		return false
	}
	call.cancelled = true
	call.cancel()
	return true
}

func (c *calls) answer(ctx context.Context, m *Message, revision string, call *running) {
	defer call.cancel()
	out := c.server.Do(ctx, m, revision)
	lent := answerBuffers.Get()
	answer := append(out.Append(lent.Bytes()), '\n')
	defer lent.Put(answer)
	c.mu.Lock()
	delete(c.running, string(m.ID))
	cancelled := call.cancelled
	c.mu.Unlock()
	if !cancelled {
		_, _ = c.out.Write(answer) // who does not read gets no answer
	}
}

var answerBuffers bufpool.Pool

// end waits until no call is under way, or for as long as they may take (MS-262).
func (c *calls) end() {
	late := time.AfterFunc(drain, c.cancel)
	defer late.Stop()
	c.active.Wait()
	c.cancel()
}

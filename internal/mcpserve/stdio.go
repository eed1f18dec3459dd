package mcpserve

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/rawjson"
)

// drain is how long running calls may take when no more come (MS-262).
const drain = 5 * time.Second

// Serve answers messages, one per line, until in ends or ctx does; then running calls
// have a while to end. Nothing but messages is written to out (MS-268). A line that
// is no message is answered with an error and forgotten.
func Serve(ctx context.Context, s *Server, in io.Reader, out io.Writer) error {
	w := &lockedWriter{w: out}
	calls := newCalls(context.WithoutCancel(ctx), s, w)
	session, err := s.SDK().Connect(context.WithoutCancel(ctx), &stdio{in: newLines(in, w, calls.take), out: w, stop: ctx, agreed: calls.agree}, nil)
	if err != nil {
		return err
	}
	err = session.Wait()
	calls.end()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// lockedWriter lets one message through at a time.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(p)
}

func (w *lockedWriter) Close() error { return nil }

// stdio is a transport whose connections end in good order. The contexts of single
// reads are the SDK's; stop is the end of the whole.
type stdio struct {
	in     io.ReadCloser
	out    io.WriteCloser
	stop   context.Context
	agreed func(revision string) // told what initialize was answered with
}

// Connect implements sdk.Transport.
func (t *stdio) Connect(ctx context.Context) (sdk.Connection, error) {
	inner, err := (&sdk.IOTransport{Reader: t.in, Writer: t.out, MaxLineLength: lineMax + 1}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &connection{Connection: inner, stop: t.stop, agreed: t.agreed, idle: make(chan struct{}, 1), running: map[jsonrpc.ID]bool{}}, nil
}

// connection knows the calls that are under way, by id: a second one with the same id is
// never answered. The SDK would cancel them when it
// sees the end; it is shown the end only when they are done, or late.
type connection struct {
	sdk.Connection
	stop   context.Context
	agreed func(revision string)
	idle   chan struct{} // told when the last call was answered

	mu      sync.Mutex
	running map[jsonrpc.ID]bool // true: it is initialize
}

// Read implements sdk.Connection.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	readCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.stop, cancel)()
	msg, err := c.Connection.Read(readCtx)
	if err != nil {
		c.wait(ctx)
		if c.stop.Err() != nil {
			err = io.EOF
		}
		return nil, err
	}
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
		c.mu.Lock()
		c.running[req.ID] = req.Method == "initialize"
		c.mu.Unlock()
	}
	return msg, nil
}

// Write implements sdk.Connection.
func (c *connection) Write(ctx context.Context, msg jsonrpc.Message) error {
	resp, ok := msg.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, msg)
	}
	err := c.Connection.Write(ctx, &jsonrpc.Response{ID: resp.ID, Result: resp.Result, Error: coded(resp.Error), Extra: resp.Extra})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running[resp.ID] && resp.Error == nil {
		revision, _ := rawjson.Get(resp.Result, "protocolVersion")
		if text, ok := rawjson.String(revision); ok {
			c.agreed(text)
		}
	}
	if delete(c.running, resp.ID); len(c.running) == 0 {
		select {
		case c.idle <- struct{}{}:
		default:
		}
	}
	return err
}

// coded gives an error a code, where the SDK would send 0: it found a message that it
// does not expect, or cannot read.
func coded(err error) error {
	var own *jsonrpc.Error
	if err == nil || errors.As(err, &own) && own.Code != 0 {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "invalid request: " + err.Error()}
}

// wait waits until no call is under way.
func (c *connection) wait(ctx context.Context) {
	late := time.NewTimer(drain)
	defer late.Stop()
	for {
		c.mu.Lock()
		running := len(c.running)
		c.mu.Unlock()
		if running == 0 {
			return
		}
		select {
		case <-c.idle:
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

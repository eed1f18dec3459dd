package mcpserve

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/mcp"
)

// The protocol revisions that matter by name: the first without a handshake, and the
// last with batches and without resource_link blocks.
const (
	Modern  = "2026-07-28"
	Batches = "2025-03-26"
)

// Versions are the protocol revisions that are served, the newest first (MS-3).
func Versions() []string { return []string{Modern, "2025-11-25", "2025-06-18", Batches} }

const (
	name  = "pdpp"
	title = "PDPP personal data (read-only)"
	// constantTTL is how long the answers that never change may be kept (MS-14).
	constantTTL = 300_000
)

// Config is what a server is made of.
type Config struct {
	Surface  *mcp.Surface
	Identity *Identity
	// RequestID is that of the request which is answered, for the log; "" where there
	// are none.
	RequestID string
	// Note, when not nil, is told what was called, for a log that has a line for the
	// request already.
	Note func(context.Context, ...slog.Attr)
	Log  *slog.Logger
	Now  func() time.Time
}

// Server answers the methods of MS-2: those of the surface are done by Do, and
// in a session the SDK does the rest. It keeps no state between calls.
type Server struct{ Config }

// New makes a server of the normal surface.
func New(c Config) *Server { return &Server{c} }

// Identity is who a server is (MS-1).
type Identity struct {
	sdk  sdk.Implementation
	info []byte // as JSON
}

// NewIdentity makes the identity of a build that serves a provider. icon is the URL of
// an SVG; "" for none.
func NewIdentity(provider, version, icon string) *Identity {
	id := &Identity{sdk: sdk.Implementation{Name: name, Title: title, Version: version, WebsiteURL: provider}}
	if icon != "" {
		id.sdk.Icons = []sdk.Icon{{Source: icon, MIMEType: "image/svg+xml", Sizes: []string{"any"}}}
	}
	var err error
	if id.info, err = json.Marshal(&id.sdk); err != nil {
		panic(err) // strings alone
	}
	return id
}

// capabilities are those of MS-2.
const capabilities = `{"resources":{},"tools":{}}`

// SDK makes the official SDK's server of the same surface.
func (s *Server) SDK() *sdk.Server {
	out := sdk.NewServer(&s.Identity.sdk, &sdk.ServerOptions{
		Instructions:              mcp.Instructions,
		Capabilities:              &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}},
		SupportedProtocolVersions: Versions(),
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) {
			c.TTLMs, c.CacheScope = constantTTL, "private"
		},
		// What the SDK logs can hold arguments (MS-268).
		Logger: slog.New(slog.DiscardHandler),
	})
	out.AddReceivingMiddleware(s.receive)
	return out
}

// receive answers what the surface answers and refuses what it does not serve (MS-2).
// A panic ends the call and nothing else (MS-46).
func (s *Server) receive(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.Log.Error("a method failed", "method", method, "cause", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
				res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
			}
		}()
		m := Message{Method: method}
		var meta sdk.Meta
		switch req := req.(type) {
		case *sdk.CallToolRequest:
			m.Name, m.Arguments, meta = req.Params.Name, req.Params.Arguments, req.Params.Meta
		case *sdk.ListToolsRequest:
			m.Cursor, meta = orEmpty(req.Params).Cursor, orEmpty(req.Params).Meta
		case *sdk.ListResourcesRequest:
			m.Cursor, meta = orEmpty(req.Params).Cursor, orEmpty(req.Params).Meta
		case *sdk.ListResourceTemplatesRequest:
			m.Cursor, meta = orEmpty(req.Params).Cursor, orEmpty(req.Params).Meta
		case *sdk.ReadResourceRequest:
			m.URI, meta = req.Params.URI, req.Params.Meta
		default:
			switch {
			case method == "initialize", method == "ping", method == "server/discover", strings.HasPrefix(method, "notifications/"):
				return next(ctx, method, req)
			}
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
		}
		return s.result(ctx, &m, revisionOf(req, meta))
	}
}

// result is the result of a method for the SDK.
func (s *Server) result(ctx context.Context, m *Message, revision string) (sdk.Result, error) {
	o := s.Do(ctx, m, revision)
	if o.failed != nil {
		return nil, o.failed
	}
	body := o.appendResult(nil)
	if !json.Valid(body) { // the SDK would not answer at all, and the client would wait for ever
		s.Log.Error("a result is not JSON")
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
	}
	return &result{body: body, modern: revision == Modern, hints: o.hints}, nil
}

// revisionOf is the revision that a request follows: those of 2026-07-28 say so
// themselves, one by one.
func revisionOf(req sdk.Request, meta sdk.Meta) string {
	if _, ok := meta[sdk.MetaKeyProtocolVersion]; ok {
		return Modern
	}
	if call, ok := req.(interface{ ProtocolVersion() string }); ok {
		return call.ProtocolVersion()
	}
	return ""
}

// orEmpty stands in for parameters that were left out.
func orEmpty[P any](p *P) *P {
	if p == nil {
		return new(P)
	}
	return p
}

package mcpserve

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/mcp"
)

// Versions are the protocol revisions that are served, the newest first (MS-3).
func Versions() []string { return []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"} }

// beforeLinks is the one revision that knows no resource_link blocks.
const beforeLinks = "2025-03-26"

const (
	name  = "pdpp"
	title = "PDPP personal data (read-only)"
	// constantTTL is how long the answers that never change may be kept (MS-14).
	constantTTL = 300_000
)

// Config is what a server is made of.
type Config struct {
	Surface *mcp.Surface
	Version string // of the build
	Log     *slog.Logger
	Now     func() time.Time
}

type server struct{ Config }

// New makes a server of the normal surface. It keeps no state between calls.
func New(c Config) *sdk.Server {
	s := &server{c}
	out := sdk.NewServer(
		&sdk.Implementation{Name: name, Title: title, Version: c.Version, WebsiteURL: c.Surface.RS.Provider()},
		&sdk.ServerOptions{
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
func (s *server) receive(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.Log.Error("a method failed", "method", method, "cause", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
				res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
			}
		}()
		switch req := req.(type) {
		case *sdk.CallToolRequest:
			return s.call(ctx, req)
		case *sdk.ListToolsRequest:
			p := orEmpty(req.Params)
			return list(mcp.ToolsList(), p.Cursor, p.Meta)
		case *sdk.ListResourcesRequest:
			p := orEmpty(req.Params)
			return list([]byte(`{"resources":[]}`), p.Cursor, p.Meta)
		case *sdk.ListResourceTemplatesRequest:
			p := orEmpty(req.Params)
			return list(mcp.Templates(), p.Cursor, p.Meta)
		case *sdk.ReadResourceRequest:
			return s.read(ctx, req)
		}
		switch {
		case method == "initialize", method == "ping", method == "server/discover", strings.HasPrefix(method, "notifications/"):
			return next(ctx, method, req)
		}
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
	}
}

// orEmpty stands in for parameters that were left out.
func orEmpty[P any](p *P) *P {
	if p == nil {
		return new(P)
	}
	return p
}

// list answers with one page of constant bytes.
func list(body []byte, cursor string, meta sdk.Meta) (sdk.Result, error) {
	if cursor != "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid cursor: the list has one page"}
	}
	return &result{body: body, modern: isModern(meta), cache: true, ttl: constantTTL}, nil
}

// isModern reports whether a request follows revision 2026-07-28: those say so
// themselves, one by one.
func isModern(meta sdk.Meta) bool {
	_, ok := meta[sdk.MetaKeyProtocolVersion]
	return ok
}

// call runs a tool (MS-12, MS-13).
func (s *server) call(ctx context.Context, req *sdk.CallToolRequest) (sdk.Result, error) {
	tool := mcp.Lookup(req.Params.Name)
	if tool == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", req.Params.Name)}
	}
	start := s.Now()
	res := s.Surface.Call(ctx, tool, req.Params.Arguments)
	body := appendCall(nil, res, req.ProtocolVersion() != beforeLinks)
	s.Log.Info("tool call", "tool", tool.Name, "failed", res.IsError, "ms", s.Now().Sub(start).Milliseconds(),
		"text_bytes", textBytes(res), "bytes", len(body))
	return &result{body: body, modern: isModern(req.Params.Meta)}, nil
}

func textBytes(res *mcp.Result) int {
	n := 0
	for _, b := range res.Content {
		n += len(b.Text)
	}
	return n
}

// codeNotFound is "resource not found" before revision 2026-07-28 (MS-204).
const codeNotFound = -32002

// read reads a resource. Nothing may keep what it gave: a grant can end at any moment
// (MS-14).
func (s *server) read(ctx context.Context, req *sdk.ReadResourceRequest) (sdk.Result, error) {
	modern := isModern(req.Params.Meta)
	start := s.Now()
	contents, failure := s.Surface.ReadResource(ctx, req.Params.URI)
	s.Log.Info("resource read", "failed", failure != nil, "ms", s.Now().Sub(start).Milliseconds())
	if failure == nil {
		return &result{body: appendContents(nil, contents), modern: modern, cache: true}, nil
	}
	code := int64(jsonrpc.CodeInternalError)
	switch {
	case failure.Kind == mcp.ResourceInvalid, failure.Kind == mcp.ResourceNotFound && modern:
		code = jsonrpc.CodeInvalidParams
	case failure.Kind == mcp.ResourceNotFound:
		code = codeNotFound
	}
	return nil, &jsonrpc.Error{Code: code, Message: failure.Message, Data: failure.Data}
}

package mcpserve

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/mcp"
	"pdpp/internal/rawjson"
)

// Answer appends the answer to a request, and tells the code of a JSON-RPC error, 0 for
// none. The revision is one of Versions. It writes what the SDK would write for the
// same request, decoding and encoding nothing twice.
func (s *Server) Answer(ctx context.Context, b []byte, m *Message, revision string) (answer []byte, code int64) {
	start := len(b)
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("a method failed", "method", m.Method, "cause", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			code = jsonrpc.CodeInternalError
			answer = AppendError(b[:start], m.ID, &jsonrpc.Error{Code: code, Message: "internal error"})
		}
	}()
	b = append(append(append(b, `{"jsonrpc":"2.0","id":`...), m.ID...), `,"result":`...)
	b, hints, failed := s.appendResult(ctx, b, m, revision)
	if failed != nil {
		return AppendError(b[:start], m.ID, failed), failed.Code
	}
	if revision == Modern {
		b = append(b[:len(b)-1], `,"resultType":"complete"`...)
		if hints.cache {
			b = hints.append(b)
		}
		b = append(append(b, `,"_meta":{"`+sdk.MetaKeyServerInfo+`":`...), s.Identity.info...)
		b = append(b, "}}"...)
	}
	return append(b, '}'), 0
}

// appendResult appends the result object of a method.
func (s *Server) appendResult(ctx context.Context, b []byte, m *Message, revision string) ([]byte, hints, *jsonrpc.Error) {
	constant := hints{cache: true, ttl: constantTTL}
	if m.Params != nil && rawjson.KindOf(m.Params) != rawjson.KindObject {
		return b, hints{}, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "params must be an object"}
	}
	switch m.Method {
	case "tools/call":
		b, err := s.appendCall(ctx, b, m.Name, m.Arguments, revision)
		return b, hints{}, err
	case "resources/read":
		b, err := s.appendRead(ctx, b, m.URI, revision == Modern)
		return b, hints{cache: true}, err
	case "tools/list":
		return append(b, mcp.ToolsList()...), constant, badCursor(m.Cursor)
	case "resources/list":
		return append(b, noResources...), constant, badCursor(m.Cursor)
	case "resources/templates/list":
		return append(b, mcp.Templates()...), constant, badCursor(m.Cursor)
	case "server/discover":
		if revision == Modern {
			return append(b, discovery...), constant, nil
		}
	case "initialize":
		if revision != Modern {
			return s.appendInitialized(b, m), hints{}, nil
		}
	case "ping":
		if revision != Modern {
			return append(b, "{}"...), hints{}, nil
		}
	}
	return b, hints{}, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
}

// discovery is the answer to server/discover (MS-3).
var discovery = func() string {
	b := append([]byte(`{"capabilities":`+capabilities+`,"instructions":`), rawjson.AppendString(nil, mcp.Instructions)...)
	for i, v := range Versions() {
		sep := `,`
		if i == 0 {
			sep = `,"supportedVersions":[`
		}
		b = append(b, sep+`"`+v+`"`...)
	}
	return string(append(b, "]}"...))
}()

// appendInitialized is the answer to a handshake: the revision that was asked for if
// it has handshakes and is served, else the newest such (MS-3).
func (s *Server) appendInitialized(b []byte, m *Message) []byte {
	asked, _ := rawjson.Get(m.Params, "protocolVersion")
	revision, _ := rawjson.String(asked)
	if served := Versions()[1:]; !slices.Contains(served, revision) {
		revision = served[0]
	}
	b = append(append(b, `{"capabilities":`+capabilities+`,"instructions":`...), rawjson.AppendString(nil, mcp.Instructions)...)
	b = rawjson.AppendString(append(b, `,"protocolVersion":`...), revision)
	return append(append(append(b, `,"serverInfo":`...), s.Identity.info...), '}')
}

// noResources is the list of resources: they are reached by templates alone (MS-2).
const noResources = `{"resources":[]}`

// hints are the cache hints of revision 2026-07-28 (MS-14).
type hints struct {
	cache bool // the method has them
	ttl   int
}

func (h hints) append(b []byte) []byte {
	b = append(b, `,"cacheScope":"private","ttlMs":`...)
	return strconv.AppendInt(b, int64(h.ttl), 10)
}

// badCursor refuses a cursor for a list that has one page; nil for none.
func badCursor(cursor string) *jsonrpc.Error {
	if cursor == "" {
		return nil
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid cursor: the list has one page"}
}

// appendCall runs a tool (MS-12, MS-13).
func (s *Server) appendCall(ctx context.Context, b []byte, name string, args []byte, revision string) ([]byte, *jsonrpc.Error) {
	tool := mcp.Lookup(name)
	if tool == nil {
		return b, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %.60q", name)}
	}
	start, before := s.Now(), len(b)
	res := s.Surface.Call(ctx, tool, args)
	b = appendToolResult(b, res, revision != Batches)
	s.told(ctx, "tool call", start, len(b)-before, slog.String("tool", tool.Name), slog.Bool("failed", res.IsError), slog.Int("text_bytes", textBytes(res)))
	res.Free()
	return b, nil
}

// told notes what was called, or writes a line of the log, with the id of the request
// (H-63).
func (s *Server) told(ctx context.Context, what string, start time.Time, bytes int, attrs ...slog.Attr) {
	if s.Note != nil {
		s.Note(ctx, attrs...)
		return
	}
	attrs = append(attrs, slog.Int64("ms", s.Now().Sub(start).Milliseconds()), slog.Int("bytes", bytes))
	if s.RequestID != "" {
		attrs = append(attrs, slog.String("request_id", s.RequestID))
	}
	s.Log.LogAttrs(ctx, slog.LevelInfo, what, attrs...)
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

// appendRead reads a resource. Nothing may keep what it gave: a grant can end at any
// moment (MS-14).
func (s *Server) appendRead(ctx context.Context, b []byte, uri string, isModern bool) ([]byte, *jsonrpc.Error) {
	start := s.Now()
	contents, failure := s.Surface.ReadResource(ctx, uri)
	before := len(b)
	if failure == nil {
		b = appendContents(b, contents)
	}
	s.told(ctx, "resource read", start, len(b)-before, slog.String("rpc_method", "resources/read"), slog.Bool("failed", failure != nil))
	if failure == nil {
		return b, nil
	}
	code := int64(jsonrpc.CodeInternalError)
	switch {
	case failure.Kind == mcp.ResourceInvalid, failure.Kind == mcp.ResourceNotFound && isModern:
		code = jsonrpc.CodeInvalidParams
	case failure.Kind == mcp.ResourceNotFound:
		code = codeNotFound
	}
	return b, &jsonrpc.Error{Code: code, Message: failure.Message, Data: failure.Data}
}

// AppendError appends a JSON-RPC error.
func AppendError(b, id []byte, e *jsonrpc.Error) []byte {
	if id == nil {
		id = []byte("null")
	}
	b = append(append(append(b, `{"jsonrpc":"2.0","id":`...), id...), `,"error":{"code":`...)
	b = strconv.AppendInt(b, e.Code, 10)
	b = rawjson.AppendString(append(b, `,"message":`...), e.Message)
	if len(e.Data) > 0 {
		b = append(append(b, `,"data":`...), e.Data...)
	}
	return append(b, "}}"...)
}

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

// Outcome is what came of a request, to be written once.
type Outcome struct {
	server   *Server
	message  *Message
	revision string
	start    time.Time // of a call or a read

	tool     *mcp.Result   // of tools/call
	contents []mcp.Content // of resources/read
	constant []byte        // of what is the same for all
	hints    hints
	failed   *jsonrpc.Error
}

// Do does what a request asks for. The revision is one of Versions. Nothing is written
// meanwhile, so that who waits for a read holds no room for its answer.
func (s *Server) Do(ctx context.Context, m *Message, revision string) (o Outcome) {
	o = Outcome{server: s, message: m, revision: revision, start: s.Now()}
	defer func() {
		if p := recover(); p != nil {
			o.defect(p)
		}
	}()
	o.do(ctx)
	return o
}

// defect makes the outcome what a client may know of a panic (MS-46).
func (o *Outcome) defect(p any) {
	o.server.Log.Error("a method failed", "method", o.message.Method, "cause", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
	o.failed = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
}

func (o *Outcome) do(ctx context.Context) {
	s, m, isModern := o.server, o.message, o.revision == Modern
	if m.Params != nil && rawjson.KindOf(m.Params) != rawjson.KindObject {
		o.failed = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "params must be an object"}
		return
	}
	switch {
	case m.Method == "tools/call":
		o.call(ctx)
	case m.Method == "resources/read":
		o.read(ctx)
	case m.Method == "tools/list":
		o.list(s.Surface.Registry().List())
	case m.Method == "resources/list":
		o.list(noResources)
	case m.Method == "resources/templates/list":
		o.list(mcp.Templates())
	case m.Method == "server/discover" && isModern:
		o.list(discovery)
	case m.Method == "initialize" && !isModern:
		o.constant = s.appendInitialized(nil, m)
	case m.Method == "ping" && !isModern:
		o.constant = []byte("{}")
	default:
		o.failed = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
	}
}

// list gives one of the lists that never change: it has one page.
func (o *Outcome) list(text []byte) {
	o.constant, o.hints = text, hints{cache: true, ttl: constantTTL}
	if o.message.Cursor != "" && o.message.Method != "server/discover" {
		o.failed = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid cursor: the list has one page"}
	}
}

// call runs a tool (MS-12, MS-13).
func (o *Outcome) call(ctx context.Context) {
	tool := o.server.Surface.Registry().Lookup(o.message.Name)
	if tool == nil {
		o.failed = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %.60q", o.message.Name)}
		return
	}
	o.tool = o.server.Surface.Call(ctx, tool, o.message.Arguments)
	o.told(ctx, "tool call", slog.String("tool", tool.Name), slog.Bool("failed", o.tool.IsError), slog.Int("text_bytes", textBytes(o.tool)))
}

// read reads a resource. Nothing may keep what it gave: a grant can end at any moment
// (MS-14).
func (o *Outcome) read(ctx context.Context) {
	contents, failure := o.server.Surface.ReadResource(ctx, o.message.URI)
	o.told(ctx, "resource read", slog.String("rpc_method", o.message.Method), slog.Bool("failed", failure != nil))
	if failure == nil {
		o.contents, o.hints = contents, hints{cache: true}
		return
	}
	o.failed = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: failure.Message, Data: failure.Data}
	switch {
	case failure.Kind == mcp.ResourceInvalid, failure.Kind == mcp.ResourceRefused, failure.Kind == mcp.ResourceNotFound && o.revision == Modern:
		o.failed.Code = jsonrpc.CodeInvalidParams
	case failure.Kind == mcp.ResourceNotFound:
		o.failed.Code = codeNotFound
	}
}

// told notes what was called, or writes a line of the log, with the id of the request
// (H-63).
func (o *Outcome) told(ctx context.Context, what string, attrs ...slog.Attr) {
	s := o.server
	if s.Note != nil {
		s.Note(ctx, attrs...)
		return
	}
	attrs = append(attrs, slog.Int64("ms", s.Now().Sub(o.start).Milliseconds()))
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

// Code is that of a JSON-RPC error; 0 for none.
func (o *Outcome) Code() int64 {
	if o.failed == nil {
		return 0
	}
	return o.failed.Code
}

// Append appends the answer. It is what the SDK would write for the same request,
// decoding and encoding nothing twice.
func (o *Outcome) Append(b []byte) (answer []byte) {
	start := len(b)
	defer func() {
		if p := recover(); p != nil {
			o.defect(p)
			answer = AppendError(b[:start], o.message.ID, o.failed)
		}
	}()
	if o.failed != nil {
		return AppendError(b, o.message.ID, o.failed)
	}
	b = append(append(append(b, `{"jsonrpc":"2.0","id":`...), o.message.ID...), `,"result":`...)
	b = o.appendResult(b)
	if o.revision == Modern {
		b = append(b[:len(b)-1], `,"resultType":"complete"`...)
		if o.hints.cache {
			b = o.hints.append(b)
		}
		b = append(append(b, `,"_meta":{"`+sdk.MetaKeyServerInfo+`":`...), o.server.Identity.info...)
		b = append(b, "}}"...)
	}
	return append(b, '}')
}

// appendResult appends the result object.
func (o *Outcome) appendResult(b []byte) []byte {
	switch {
	case o.tool != nil:
		b = appendToolResult(b, o.tool, o.revision != Batches)
		o.tool = nil
		return b
	case o.constant != nil:
		return append(b, o.constant...)
	}
	return appendContents(b, o.contents)
}

// discovery is the answer to server/discover (MS-3).
var discovery = func() []byte {
	b := append([]byte(`{"capabilities":`+capabilities+`,"instructions":`), rawjson.AppendString(nil, mcp.Instructions)...)
	for i, v := range Versions() {
		sep := `,`
		if i == 0 {
			sep = `,"supportedVersions":[`
		}
		b = append(b, sep+`"`+v+`"`...)
	}
	return append(b, "]}"...)
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
var noResources = []byte(`{"resources":[]}`)

// hints are the cache hints of revision 2026-07-28 (MS-14).
type hints struct {
	cache bool // the method has them
	ttl   int
}

func (h hints) append(b []byte) []byte {
	b = append(b, `,"cacheScope":"private","ttlMs":`...)
	return strconv.AppendInt(b, int64(h.ttl), 10)
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

package mcpserve

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/mcp"
	"pdpp/internal/rawjson"
)

// Response is the response to a request, before it is written.
type Response struct {
	server   *Server
	message  *Message
	revision string
	start    time.Time

	tool     *mcp.Result   // the result of tools/call
	contents []mcp.Content // the result of resources/read
	result   []byte        // the result of other methods: constant JSON
	cache    string        // the cache hints of revision 2026-07-28 (MS-14)
	agreed   string        // the revision that initialize agreed on
	err      *Error
}

// Do answers a request of the given revision, one of Versions. The response is written
// later, by Append, so that a request that waits for a read holds no buffer.
func (s *Server) Do(ctx context.Context, m *Message, revision string) (r Response) {
	r = Response{server: s, message: m, revision: revision, start: s.Now()}
	defer func() {
		if p := recover(); p != nil {
			r.failed(p)
		}
	}()
	r.do(ctx)
	return r
}

// failed turns a panic into an error that does not reveal its cause (MS-46).
func (r *Response) failed(p any) {
	r.server.Log.Error("a method failed", "method", r.message.Method, "cause", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
	r.err = &Error{Code: CodeInternal, Message: "internal error"}
}

func (r *Response) do(ctx context.Context) {
	m, isModern := r.message, r.revision == Modern
	if m.Params != nil && rawjson.KindOf(m.Params) != rawjson.KindObject {
		r.err = &Error{Code: CodeParams, Message: "params must be an object"}
		return
	}
	switch {
	case m.Method == "tools/call":
		r.call(ctx)
	case m.Method == "resources/read":
		r.read(ctx)
	case m.Method == "tools/list":
		r.list(r.server.Surface.Registry().List())
	case m.Method == "resources/list":
		r.list(noResources)
	case m.Method == "resources/templates/list":
		r.list(mcp.Templates())
	case m.Method == "server/discover" && isModern:
		r.result, r.cache = discovery, cacheConstant
	case m.Method == "initialize" && !isModern:
		r.initialize()
	case m.Method == "ping" && !isModern:
		r.result = []byte("{}")
	default:
		r.err = &Error{Code: CodeMethod, Message: "method not found"}
	}
}

// initialize agrees on the requested revision if this server supports it and it has a
// handshake. Otherwise it agrees on the newest supported revision with a handshake (MS-3).
func (r *Response) initialize() {
	requested, _ := rawjson.Get(r.message.Params, "protocolVersion")
	r.agreed, _ = rawjson.String(requested)
	if served := Versions()[1:]; !slices.Contains(served, r.agreed) {
		r.agreed = served[0]
	}
	w := rawjson.Writer(describe)
	w.Text("protocolVersion", r.agreed)
	w.Member("serverInfo", r.server.Identity.info)
	w.End("}")
	r.result = w
}

// list answers with a list that has one page and never changes.
func (r *Response) list(text []byte) {
	r.result, r.cache = text, cacheConstant
	if r.message.Cursor != "" {
		r.err = &Error{Code: CodeParams, Message: "invalid cursor: the list has one page"}
	}
}

// call calls a tool (MS-12, MS-13).
func (r *Response) call(ctx context.Context) {
	tool := r.server.Surface.Registry().Lookup(r.message.Name)
	if tool == nil {
		names := strings.Join(r.server.Surface.Registry().Names(), ", ")
		r.err = &Error{Code: CodeParams, Message: fmt.Sprintf("unknown tool %.60q; the tools are: %s", r.message.Name, names)}
		return
	}
	r.tool = r.server.Surface.Call(ctx, tool, r.message.Arguments)
	size := 0
	for _, block := range r.tool.Content {
		size += len(block.Text)
	}
	r.log(ctx, "tool call", slog.String("tool", tool.Name), slog.Bool("failed", r.tool.IsError), slog.Int("text_bytes", size))
}

// read reads a resource. Its result must not be cached: a grant can end at any moment
// (MS-14).
func (r *Response) read(ctx context.Context) {
	contents, failure := r.server.Surface.ReadResource(ctx, r.message.URI)
	r.log(ctx, "resource read", slog.String("rpc_method", r.message.Method), slog.Bool("failed", failure != nil))
	if failure == nil {
		r.contents, r.cache = contents, cacheNever
		return
	}
	r.err = &Error{Code: CodeInternal, Message: failure.Message, Data: failure.Data}
	switch {
	case failure.Kind == mcp.ResourceNotFound && r.revision != Modern:
		r.err.Code = CodeNotFound
	case failure.Kind != mcp.ResourceFailed:
		r.err.Code = CodeParams
	}
}

// log adds facts about a call to the log line of the request, or writes a line with the
// id of the request (H-63).
func (r *Response) log(ctx context.Context, what string, attrs ...slog.Attr) {
	s := r.server
	if s.Note != nil {
		s.Note(ctx, attrs...)
		return
	}
	attrs = append(attrs, slog.Int64("ms", s.Now().Sub(r.start).Milliseconds()))
	if s.RequestID != "" {
		attrs = append(attrs, slog.String("request_id", s.RequestID))
	}
	s.Log.LogAttrs(ctx, slog.LevelInfo, what, attrs...)
}

// Code returns the code of the JSON-RPC error; 0 if there is none.
func (r *Response) Code() int {
	if r.err == nil {
		return 0
	}
	return r.err.Code
}

// ToolError returns the error code of a tool call that failed; "" if there is none.
func (r *Response) ToolError() pdpp.Code {
	if r.tool == nil || !r.tool.IsError {
		return ""
	}
	object, _ := rawjson.Get(r.tool.Structured, "error")
	return pdpp.Code(rawjson.GetString(object, "code"))
}

// Append appends the response.
func (r *Response) Append(b []byte) (response []byte) {
	defer func() {
		if p := recover(); p != nil {
			r.failed(p)
			response = AppendError(b, r.message.ID, r.err)
		}
	}()
	if r.err != nil {
		return AppendError(b, r.message.ID, r.err)
	}
	w := beginResponse(b, r.message.ID)
	w.Key("result")
	r.writeResult(&w)
	if r.revision == Modern {
		w = w[:len(w)-1] // reopen the result
		w.Literal(`"resultType":"complete"`)
		w.Literal(r.cache)
		w.OpenObject("_meta")
		w.Member(metaServer, r.server.Identity.info)
		w.End("}}")
	}
	w.End("}")
	return w
}

// writeResult writes the result object.
func (r *Response) writeResult(w *rawjson.Writer) {
	switch {
	case r.tool != nil:
		writeToolResult(w, r.tool, r.revision != Batches)
	case r.result != nil:
		w.Raw(r.result)
	default:
		writeContents(w, r.contents)
	}
}

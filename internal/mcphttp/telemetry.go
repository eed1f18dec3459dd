package mcphttp

import (
	"context"
	"strconv"

	"pdpp/internal/auth"
	"pdpp/internal/mcpserve"
	"pdpp/internal/rawjson"
	"pdpp/internal/telemetry"
)

// respond handles a message and appends the answer to the buffer that start returns. It
// reports method, tool, duration and outcome to telemetry, but no content (H-28).
func (e *Endpoint) respond(ctx context.Context, s *mcpserve.Server, id *auth.Identity, start func() []byte, m *mcpserve.Message, revision string) ([]byte, int) {
	if via := countedAs(m); via != "" {
		id.BeginCall(via)
		defer e.Auth.EndCall(id)
	}
	if e.Telemetry == nil {
		out := s.Do(ctx, m, revision)
		return out.Append(start()), out.Code()
	}
	op := telemetry.Operation{Method: m.Method, Protocol: revision, TraceParent: text(m.Params, "_meta", "traceparent")}
	if m.Method == "tools/call" {
		op.Tool = m.Name
	}
	ctx, run := e.Telemetry.StartOperation(ctx, op)
	out := s.Do(ctx, m, revision)
	b := start()
	before := len(b)
	b = out.Append(b)
	run.End(errorType(b[before:], out.Code()), len(b)-before)
	return b, out.Code()
}

// errorType returns the error code of an answer, of JSON-RPC or of the tool; "" for a
// success.
func errorType(answer []byte, code int) string {
	if code != 0 {
		return strconv.Itoa(code)
	}
	result, _ := rawjson.Get(answer, "result")
	if failed, _ := rawjson.Get(result, "isError"); string(failed) != "true" {
		return ""
	}
	return text(result, "structuredContent", "error", "code")
}

// text returns the string at a path of member names; "" when it is missing.
func text(value []byte, names ...string) string {
	for _, name := range names {
		value, _ = rawjson.Get(value, name)
	}
	s, _ := rawjson.String(value)
	return s
}

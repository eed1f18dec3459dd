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
// counts what the message reads (H-196), and reports method, tool, duration and outcome to
// telemetry, but no content (H-28).
func (e *Endpoint) respond(ctx context.Context, s *mcpserve.Server, id *auth.Identity, start func() []byte, m *mcpserve.Message, revision string) ([]byte, int) {
	via := countedAs(m)
	if via != "" {
		id.BeginCall(via)
	}
	var run telemetry.Running // not measured without telemetry
	if e.Telemetry != nil {
		ctx, run = e.Telemetry.StartOperation(ctx, operation(m, revision))
	}
	out := s.Do(ctx, m, revision)
	if via != "" {
		e.Auth.EndCall(id, via, out.ToolError())
	}
	b := start()
	before := len(b)
	b = out.Append(b)
	run.End(errorType(&out), len(b)-before)
	return b, out.Code()
}

func operation(m *mcpserve.Message, revision string) telemetry.Operation {
	op := telemetry.Operation{Method: m.Method, Protocol: revision, TraceParent: text(m.Params, "_meta", "traceparent")}
	if m.Method == "tools/call" {
		op.Tool = m.Name
	}
	return op
}

// errorType returns the error code of a response, of JSON-RPC or of the tool; "" for a
// success.
func errorType(r *mcpserve.Response) string {
	if code := r.Code(); code != 0 {
		return strconv.Itoa(code)
	}
	return string(r.ToolError())
}

// text returns the string at a path of member names; "" when it is missing.
func text(value []byte, names ...string) string {
	for _, name := range names {
		value, _ = rawjson.Get(value, name)
	}
	s, _ := rawjson.String(value)
	return s
}

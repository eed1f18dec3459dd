package mcphttp

import (
	"context"
	"strconv"

	"pdpp/internal/mcpserve"
	"pdpp/internal/rawjson"
	"pdpp/internal/telemetry"
)

// answered does what a message asks for and appends the answer to room. It tells
// telemetry which method and tool, how long, how it ended, and nothing of what was asked
// or answered (H-28).
func (e *Endpoint) answered(ctx context.Context, s *mcpserve.Server, room func() []byte, m *mcpserve.Message, revision string) ([]byte, int64) {
	if e.Telemetry == nil {
		out := s.Do(ctx, m, revision)
		return out.Append(room()), out.Code()
	}
	op := telemetry.Operation{Method: m.Method, Protocol: revision, TraceParent: text(m.Params, "_meta", "traceparent")}
	if m.Method == "tools/call" {
		op.Tool = m.Name
	}
	ctx, run := e.Telemetry.StartOperation(ctx, op)
	out := s.Do(ctx, m, revision)
	b := room()
	start := len(b)
	b = out.Append(b)
	run.End(errorType(b[start:], out.Code()), len(b)-start)
	return b, out.Code()
}

// errorType is how an answer failed: the code of JSON-RPC, or that of the tool; "" for
// one that did not.
func errorType(answer []byte, code int64) string {
	if code != 0 {
		return strconv.FormatInt(code, 10)
	}
	result, _ := rawjson.Get(answer, "result")
	if failed, _ := rawjson.Get(result, "isError"); string(failed) != "true" {
		return ""
	}
	return text(result, "structuredContent", "error", "code")
}

// text finds a text by the names of members on the way to it; "" when there is none.
func text(value []byte, names ...string) string {
	for _, name := range names {
		value, _ = rawjson.Get(value, name)
	}
	s, _ := rawjson.String(value)
	return s
}

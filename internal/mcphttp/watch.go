package mcphttp

import (
	"context"
	"strconv"

	"pdpp/internal/mcpserve"
	"pdpp/internal/rawjson"
	"pdpp/internal/telemetry"
)

// watched is Answer of a server, told to telemetry: which method and tool, how long, how
// it ended, and nothing of what was asked or answered (H-28).
func (e *Endpoint) watched(ctx context.Context, s *mcpserve.Server, b []byte, m *mcpserve.Message, revision string) ([]byte, int64) {
	if e.Telemetry == nil {
		return s.Answer(ctx, b, m, revision)
	}
	op := telemetry.Operation{Method: m.Method, Protocol: revision, TraceParent: text(m.Params, "_meta", "traceparent")}
	if m.Method == "tools/call" {
		op.Tool = m.Name
	}
	start := len(b)
	ctx, run := e.Telemetry.StartOperation(ctx, op)
	b, code := s.Answer(ctx, b, m, revision)
	run.End(errorType(b[start:], code), len(b)-start)
	return b, code
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

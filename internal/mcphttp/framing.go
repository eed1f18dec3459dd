package mcphttp

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"pdpp/internal/auth"
	"pdpp/internal/httpx"
	"pdpp/internal/mcpserve"
	"pdpp/internal/rawjson"
)

const batchMax = 20 // messages of a batch (H-61)

// answer answers a message, or a batch if the revision has batches: steps 9 and 10 of H-41.
func (e *Endpoint) answer(r *http.Request, id *auth.Identity, buf *buffer) (reply, error) {
	text, refusal := mcpserve.Compact(buf.text[:0], buf.body.Bytes())
	buf.text = text
	if refusal != nil {
		return refuse(nil, refusal), nil
	}
	if text[0] == '[' {
		return e.batch(r, id, buf, text)
	}
	m, ok := mcpserve.Parse(text)
	if !ok || m.NullID {
		return refuse(nil, &mcpserve.Error{Code: mcpserve.CodeRequest, Message: "the body is not a JSON-RPC message"}), nil
	}
	revision, refusal := revisionOf(r.Header, &m)
	if refusal != nil {
		return refuse(m.ID, refusal), nil
	}
	if !m.NeedsAnswer() {
		return accepted, nil
	}
	ctx := r.Context()
	if m.Method == "tools/call" || m.Method == "resources/read" { // only these read data
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, httpx.RequestTimeout)
		defer cancel()
	}
	var code int
	buf.answer, code = e.respond(ctx, e.server(r, id, httpx.Note), id, buf.start, &m, revision)
	return reply{status: statusOf(code, revision), body: buf.answer}, nil
}

// batch answers the messages of an array one by one. Only revision 2025-03-26 has batches.
func (e *Endpoint) batch(r *http.Request, id *auth.Identity, buf *buffer, text []byte) (reply, error) {
	invalid := func(message string) (reply, error) {
		return refuse(nil, &mcpserve.Error{Code: mcpserve.CodeRequest, Message: message}), nil
	}
	revision, refusal := revisionOf(r.Header, &mcpserve.Message{})
	switch {
	case refusal != nil:
		return refuse(nil, refusal), nil
	case revision != mcpserve.Batches:
		return invalid("a batch needs revision " + mcpserve.Batches)
	}
	var list []mcpserve.Message
	for raw := range rawjson.Elements(text) {
		m, ok := mcpserve.Parse(raw)
		if !ok || m.NullID || m.Method == "initialize" {
			return invalid("an entry of the batch is not a JSON-RPC message, or is initialize")
		}
		if _, refusal := revisionOf(r.Header, &m); refusal != nil {
			return refuse(m.ID, refusal), nil
		}
		list = append(list, m)
	}
	if len(list) == 0 || len(list) > batchMax {
		return invalid("a batch has 1 to 20 messages")
	}
	for range list[1:] { // each message counts as a request (H-67)
		if err := e.Limiter.Acquire(id.Caller.Key); err != nil {
			return reply{}, err
		}
		e.Limiter.Release(id.Caller.Key)
	}
	ctx, cancel := context.WithTimeout(r.Context(), httpx.RequestTimeout)
	defer cancel()
	server := e.server(r, id, nil) // each message has a log line of its own
	out := []byte{'['}
	for i := range list {
		if m := &list[i]; m.NeedsAnswer() {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out, _ = e.respond(ctx, server, id, func() []byte { return out }, m, revision)
		}
	}
	if len(out) == 1 {
		return accepted, nil
	}
	return reply{status: http.StatusOK, body: append(out, ']')}, nil
}

// refuse returns an answer with a JSON-RPC error.
func refuse(id []byte, e *mcpserve.Error) reply {
	return reply{status: http.StatusBadRequest, body: mcpserve.AppendError(nil, id, e)}
}

// statusOf returns the HTTP status of an answer. Only revision 2026-07-28 has statuses for
// errors.
func statusOf(code int, revision string) int {
	if revision == mcpserve.Modern {
		switch code {
		case mcpserve.CodeMethod:
			return http.StatusNotFound
		case mcpserve.CodeParams, mcpserve.CodeUnsupported, mcpserve.CodeHeaders:
			return http.StatusBadRequest
		}
	}
	return http.StatusOK
}

// revisionOf returns the revision that a message follows, and checks the headers of the
// request against the message (H-60).
func revisionOf(h http.Header, m *mcpserve.Message) (string, *mcpserve.Error) {
	named := headerValue(h, "Mcp-Protocol-Version")
	switch {
	case named == "" && m.Revision == "":
		return mcpserve.Batches, nil
	case named == "" && slices.Contains(mcpserve.Versions(), m.Revision):
		return "", mismatch("the header MCP-Protocol-Version is missing")
	case named == "":
		return "", mcpserve.Unsupported(m.Revision)
	case !slices.Contains(mcpserve.Versions(), named):
		return "", mcpserve.Unsupported(named)
	case named != mcpserve.Modern:
		if m.Revision != "" && m.Revision != named {
			return "", mismatch("the header MCP-Protocol-Version differs from the version in _meta")
		}
		return named, nil
	}
	return named, checkModern(h, m)
}

// headerValue returns a header as proxies combine it. A repeated header becomes a list with
// commas, which differs from the value in the body.
func headerValue(h http.Header, name string) string { return strings.Join(h[name], ", ") }

// checkModern compares the headers that revision 2026-07-28 requires with the message.
func checkModern(h http.Header, m *mcpserve.Message) *mcpserve.Error {
	if m.Method == "" {
		return nil
	}
	if err := compare("Mcp-Method", "the method", headerValue(h, "Mcp-Method"), m.Method); err != nil {
		return err
	}
	if err := checkName(h, m); err != nil {
		return err
	}
	switch {
	case m.ID == nil && m.Revision == "":
		return nil // notifications need no _meta
	case m.Revision != "" && m.Revision != mcpserve.Modern:
		return mismatch("the header MCP-Protocol-Version differs from the version in _meta")
	}
	return m.CheckMeta()
}

// checkName compares the header that repeats the name of a tool or the URI of a resource.
// Some clients do not send it if the arguments have a number beyond float64. Then the
// error names the number as the cause.
func checkName(h http.Header, m *mcpserve.Message) *mcpserve.Error {
	sent := decodedHeader(headerValue(h, "Mcp-Name"))
	switch m.Method {
	case "resources/read":
		return compare("Mcp-Name", "the URI of the resource", sent, m.URI)
	case "tools/call":
		err := compare("Mcp-Name", "the name of the tool", sent, m.Name)
		if err != nil && sent == "" && len(rawjson.QuoteHuge(m.Arguments)) > len(m.Arguments) {
			err.Message += ". The arguments contain a number larger than float64 allows, which some clients cannot send. Pass it as a string of digits"
		}
		return err
	}
	return nil
}

// compare checks that a header is present and repeats a value of the message.
func compare(header, what, sent, want string) *mcpserve.Error {
	switch {
	case sent == "":
		return mismatch("the header " + header + " is missing; it repeats " + what)
	case sent != want:
		return mismatch("the header " + header + " differs from " + what + " in the body")
	}
	return nil
}

// decodedHeader decodes a header value. Values with characters that headers cannot contain
// are sent in base64.
func decodedHeader(value string) string {
	encoded, ok := strings.CutPrefix(value, "=?base64?")
	if !ok {
		return value
	}
	if encoded, ok = strings.CutSuffix(encoded, "?="); !ok {
		return value
	}
	text, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return value
	}
	return string(text)
}

func mismatch(message string) *mcpserve.Error {
	return &mcpserve.Error{Code: mcpserve.CodeHeaders, Message: message}
}

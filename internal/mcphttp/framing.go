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

// answer is steps 9 and 10: one message, or a batch of them where the revision has
// batches.
func (e *Endpoint) answer(r *http.Request, id *auth.Identity, buf *buffer) (reply, error) {
	text, fault := mcpserve.Compact(buf.text[:0], buf.body.Bytes())
	buf.text = text
	if fault != nil {
		return refuse(nil, fault), nil
	}
	if text[0] == '[' {
		return e.batch(r, id, buf, text)
	}
	m, ok := mcpserve.Parse(text)
	if !ok || m.NullID {
		return refuse(nil, &mcpserve.Error{Code: mcpserve.CodeRequest, Message: "the body is not a JSON-RPC message"}), nil
	}
	revision, fault := revisionOf(r.Header, &m)
	if fault != nil {
		return refuse(m.ID, fault), nil
	}
	if !m.NeedsAnswer() {
		return accepted, nil
	}
	ctx := r.Context()
	if m.Method == "tools/call" || m.Method == "resources/read" { // the others read nothing
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, httpx.RequestTimeout)
		defer cancel()
	}
	var code int
	buf.answer, code = e.answered(ctx, e.server(r, id, httpx.Note), buf.start, &m, revision)
	return reply{status: statusOf(code, revision), body: buf.answer}, nil
}

// batch answers the messages of an array one by one, as revision 2025-03-26 has it.
func (e *Endpoint) batch(r *http.Request, id *auth.Identity, buf *buffer, text []byte) (reply, error) {
	invalid := func(message string) (reply, error) {
		return refuse(nil, &mcpserve.Error{Code: mcpserve.CodeRequest, Message: message}), nil
	}
	revision, fault := revisionOf(r.Header, &mcpserve.Message{})
	switch {
	case fault != nil:
		return refuse(nil, fault), nil
	case revision != mcpserve.Batches:
		return invalid("a batch needs revision " + mcpserve.Batches)
	}
	var list []mcpserve.Message
	for raw := range rawjson.Elements(text) {
		m, ok := mcpserve.Parse(raw)
		if !ok || m.NullID || m.Method == "initialize" {
			return invalid("the batch has an entry that is no JSON-RPC message, or initialize")
		}
		if _, fault := revisionOf(r.Header, &m); fault != nil {
			return refuse(m.ID, fault), nil
		}
		list = append(list, m)
	}
	if len(list) == 0 || len(list) > batchMax {
		return invalid("a batch has 1 to 20 messages")
	}
	for range list[1:] { // each message counts as a request (H-67)
		if err := e.RS.Limiter.Acquire(id.Caller.Key); err != nil {
			return reply{}, err
		}
		e.RS.Limiter.Release(id.Caller.Key)
	}
	ctx, cancel := context.WithTimeout(r.Context(), httpx.RequestTimeout)
	defer cancel()
	server := e.server(r, id, nil) // a line of the log for each
	out := []byte{'['}
	for i := range list {
		if m := &list[i]; m.NeedsAnswer() {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out, _ = e.answered(ctx, server, func() []byte { return out }, m, revision)
		}
	}
	if len(out) == 1 {
		return accepted, nil
	}
	return reply{status: http.StatusOK, body: append(out, ']')}, nil
}

// refuse answers with a JSON-RPC error.
func refuse(id []byte, e *mcpserve.Error) reply {
	return reply{status: http.StatusBadRequest, body: mcpserve.AppendError(nil, id, e)}
}

// statusOf is the HTTP status of an answer: revision 2026-07-28 has some for errors.
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

// revisionOf finds the revision that a message follows and holds it against its
// headers (H-60).
func revisionOf(h http.Header, m *mcpserve.Message) (string, *mcpserve.Error) {
	named := value(h, "Mcp-Protocol-Version")
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

// value is a header as those on the way see it: one that was sent twice is a list, and
// equals nothing in the body.
func value(h http.Header, name string) string { return strings.Join(h[name], ", ") }

// checkModern compares the headers of revision 2026-07-28 with the body.
func checkModern(h http.Header, m *mcpserve.Message) *mcpserve.Error {
	if m.Method == "" {
		return nil
	}
	if fault := compared("Mcp-Method", "the method", value(h, "Mcp-Method"), m.Method); fault != nil {
		return fault
	}
	if fault := checkName(h, m); fault != nil {
		return fault
	}
	switch {
	case m.ID == nil && m.Revision == "":
		return nil // notifications need no _meta
	case m.Revision != "" && m.Revision != mcpserve.Modern:
		return mismatch("the header MCP-Protocol-Version differs from the version in _meta")
	}
	return m.CheckMeta()
}

// checkName compares the header that repeats what a message is about. A client that
// cannot read its own arguments because of a number beyond float64 does not send it: then
// the number is what its user must know of.
func checkName(h http.Header, m *mcpserve.Message) *mcpserve.Error {
	sent := decodedHeader(value(h, "Mcp-Name"))
	switch m.Method {
	case "resources/read":
		return compared("Mcp-Name", "the URI of the resource", sent, m.URI)
	case "tools/call":
		fault := compared("Mcp-Name", "the name of the tool", sent, m.Name)
		if fault != nil && sent == "" && len(rawjson.QuoteHuge(m.Arguments)) > len(m.Arguments) {
			fault.Message += ". The arguments have a number beyond float64, which not every client can send: give it as a string of its digits"
		}
		return fault
	}
	return nil
}

// compared checks that a header is there and repeats what the body says.
func compared(header, what, sent, want string) *mcpserve.Error {
	switch {
	case sent == "":
		return mismatch("the header " + header + " is missing; it repeats " + what)
	case sent != want:
		return mismatch("the header " + header + " differs from " + what + " in the body")
	}
	return nil
}

// decodedHeader is a header value that may be encoded, because it has characters that
// no header can have.
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

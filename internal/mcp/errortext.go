package mcp

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/mcp/schematext"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// errorText returns the text of an error: what went wrong and what to do, one fact per
// line, in the order of MS-42, within limits.ErrorTextMax bytes.
func (c *call) errorText(object []byte, status int, requestID string, next *nextCall) string {
	e := errorObject(object)
	head := "error " + quote.Code(e.text("code"))
	if status != 0 {
		head += " (HTTP " + strconv.Itoa(status) + ")"
	}
	t := errorLines{}
	t.add(head + ": " + quote.Text(e.text("message")))
	t.labelled("param=", e.text("param"))
	t.labelled("field=", e.text("field"))
	if string(e.raw("needs_broader_grant")) == "true" {
		t.add("needs_broader_grant=true: only the owner can extend the grant; do not retry")
	}
	t.labelled("retry_with ", rsclient.RetryWith(object))
	hint := e.text("hint")
	if hint == "" {
		hint = e.text("next_step")
	}
	t.labelled("hint ", hint)
	foot := errorLines{}
	const digits = 20 // digits of a plausible number
	if s := e.raw("retry_after_s"); rawjson.KindOf(s) == rawjson.KindNumber && len(s) <= digits {
		foot.add("retry_after_s=" + string(s))
	}
	if step := c.step(e, status); step != "" {
		foot.add(step)
	}
	if next != nil {
		// A call is written whole or not at all; half of the text is for the error.
		if line := "next: " + next.Tool + " " + quote.EscapeHidden(string(next.Args)); len(line) <= limits.ErrorTextMax/2 {
			foot.add(line)
		}
	}
	foot.labelled("request_id=", quote.First(requestID, limits.TitleChars))
	return t.withConnections(e, foot, c.choice(e))
}

// choice returns, for an ambiguity error, a function that builds the same call for one of
// the listed connections; nil for other errors.
func (c *call) choice(e errorObject) func(connection string) *nextCall {
	switch e.code() {
	case pdpp.CodeAmbiguousConnection, pdpp.CodeAmbiguousSchemaDetail:
		return c.onConnection
	}
	return nil
}

// onConnection returns the same call on one connection, named by the handle where that is
// possible.
func (c *call) onConnection(connection string) *nextCall {
	argument := member{"connection_id", []byte(quote.ID(connection))}
	if h := c.args.handle; h.Record != "" {
		if r := refer(Handle{connection, h.Stream, h.Record}); r.connectionArg == "" {
			return &nextCall{c.tool.Name, c.args.JSON(member{"id", []byte(quote.ID(r.id))}, member{"connection_id", nil})}
		}
	}
	return &nextCall{c.tool.Name, c.args.JSON(argument)}
}

// errorLines collect lines.
type errorLines struct{ lines []string }

func (t *errorLines) add(line string) { t.lines = append(t.lines, line) }

func (t *errorLines) labelled(label, value string) {
	if value != "" {
		t.add(label + quote.Text(value))
	}
}

// withConnections returns the lines of t, as many connections as fit, and then the lines of
// foot. choice builds the call for a connection.
func (t errorLines) withConnections(e errorObject, foot errorLines, choice func(string) *nextCall) string {
	tail := strings.Join(foot.lines, "\n")
	text := quote.CutBytes(strings.Join(t.lines, "\n"), limits.ErrorTextMax-len(tail)-1)
	left := limits.ErrorTextMax - len(text) - len(tail) - 2
	lines, cut := e.connections(left, choice)
	for _, l := range lines {
		text += "\n" + l
	}
	if cut != "" {
		text += "\n" + cut
	}
	if tail != "" {
		text += "\n" + tail
	}
	return text
}

// errorObject is the error object of a result.
type errorObject []byte

func (e errorObject) raw(name string) []byte {
	v, _ := rawjson.Get(e, name)
	return v
}

func (e errorObject) text(name string) string {
	s, _ := rawjson.String(e.raw(name))
	return s
}

func (e errorObject) code() pdpp.Code { return pdpp.Code(e.text("code")) }

// connections returns the lines for the connections that an error lists, each followed by
// its call. cut is the line that counts them when not all fit.
func (e errorObject) connections(space int, choice func(string) *nextCall) (lines []string, cut string) {
	const rest = 80 // bytes for the line about the others
	shown, listed := 0, 0
	for _, list := range []struct{ name, label string }{
		{"available_connections", "connection"}, {"unavailable_connections", "unavailable"},
	} {
		v := e.raw(list.name)
		if rawjson.KindOf(v) != rawjson.KindArray {
			continue
		}
		for item := range rawjson.Elements(v) {
			line := connectionLine(list.label, item)
			if list.label == "connection" {
				listed++
				line += choiceLine(rsclient.ConnectionOf(item), choice)
			}
			if space -= len(line) + 1; space < rest {
				continue
			}
			lines = append(lines, line)
			if list.label == "connection" {
				shown++
			}
		}
	}
	total := listed
	if n, err := strconv.Atoi(string(e.raw("available_connection_count"))); err == nil {
		total = max(total, n)
	}
	if shown < total {
		cut = "available_connections: shown=" + strconv.Itoa(shown) + " total=" + strconv.Itoa(total) + "; call schema {} for the full index"
	}
	return lines, cut
}

// choiceLine returns the call on a connection, below the line about it. It returns "" when
// there is none, or it is so long that few choices would fit.
func choiceLine(connection string, choice func(string) *nextCall) string {
	if choice == nil || connection == "" || strings.ContainsRune(connection, 0) {
		return ""
	}
	n := choice(connection)
	line := "\nnext: " + n.Tool + " " + quote.EscapeHidden(string(n.Args))
	if len(line) > limits.ErrorTextMax/4 {
		return ""
	}
	return line
}

// withNextStep returns the error object with a next_step if no call would help, for clients
// that do not read the text.
func (c *call) withNextStep(object []byte, status int) []byte {
	step := c.step(object, status)
	if _, given := rawjson.Get(object, "next_step"); given || step == "" {
		return object
	}
	w := rawjson.Reopen(object)
	w.Text("next_step", strings.ReplaceAll(step, "\n", "; "))
	return append(w, '}')
}

// step returns what to do about an error that is not about the arguments (MS-49); "" for
// all others.
func (s *Surface) step(e errorObject, status int) string {
	code := e.code()
	if lost := s.lostAuthorization(code, status); lost != "" {
		return lost
	}
	switch code {
	case pdpp.CodePermission, pdpp.CodeInsufficientScope:
		return "ask the owner for access to this; do not retry"
	case pdpp.CodeResourceLimit:
		return "ask for less: a smaller limit, or fewer fields"
	case pdpp.CodeUnsupportedVersion:
		return "the owner must update this adapter or the server; do not retry"
	}
	if code == pdpp.CodeAdapterInternal || status >= http.StatusInternalServerError && e.raw("retry_after_s") == nil {
		return "try again once; if it fails again, tell the owner the request_id"
	}
	return ""
}

// lostAuthorization returns the advice when the grant or token is no longer valid (MS-49).
func (s *Surface) lostAuthorization(code pdpp.Code, status int) string {
	lost := slices.Contains([]pdpp.Code{pdpp.CodeInvalidToken, pdpp.CodeGrantRevoked, pdpp.CodeGrantExpired, pdpp.CodeGrantInvalid, pdpp.CodeOwnerCredential}, code)
	if !lost && status != http.StatusUnauthorized {
		return ""
	}
	advice := "the owner must connect again; do not retry"
	if s.Reconnect != "" {
		advice += "\nrun: " + s.Reconnect
	}
	return advice
}

// stream returns the stream that the call names, or "".
func (c *call) stream() string {
	if s := c.args.Text("stream"); s != "" {
		return s
	}
	if list := c.args.List("streams"); len(list) == 1 {
		return list[0]
	}
	return c.args.handle.Stream
}

// connection returns the connection that the call names, by argument or handle, or "".
func (c *call) connection() string {
	if s := c.args.Text("connection_id"); s != "" {
		return s
	}
	return c.args.handle.Connection
}

func schemaArgs(stream, connection string) []byte {
	return schematext.Scope{Stream: stream, Connection: connection}.Args()
}

package pkgreader

import (
	"context"
	"net/http"
	"strconv"

	"pdpp"
	"pdpp/internal/rsclient"
)

// Sentences of errors.
const (
	endedMessage = "The approval of this source has ended."
	approveAgain = "Ask the owner to approve this source again, or choose another connection."
)

// refusal is an error that the package makes itself.
type refusal struct {
	code    pdpp.Code
	message string
	param   string
	choices bool // the answer is to choose a connection
	stream  string
}

var (
	severalConnections = refusal{
		code: pdpp.CodeAmbiguousConnection, param: "connection_id", choices: true,
		message: "Several connections match. Repeat the call with one connection_id.",
	}
	unknownConnection = refusal{
		code: pdpp.CodeConnectionNotFound, param: "connection_id", choices: true,
		message: "There is no such connection here. Repeat the call with one connection_id of the list.",
	}
	severalSchemas = refusal{
		code: pdpp.CodeAmbiguousSchemaDetail, param: "connection_id", choices: true,
		message: "Several connections have this stream. Repeat the call with one connection_id.",
	}
	schemaOfAll = refusal{
		code: pdpp.CodeInvalidRequest, param: "detail",
		message: "The full schema is of one stream: ask with stream, connection_id and detail=full.",
	}
)

// status is the HTTP status of the code; 403 for a code of another server, which
// only a grant that cannot be read has.
func (r refusal) status() int {
	if status := r.code.Status(); status != 0 {
		return status
	}
	return http.StatusForbidden
}

// open begins the error object.
func (r refusal) open() object {
	var o object
	o.text("type", pdpp.ErrorType(r.status()))
	o.text("code", string(r.code))
	o.text("message", r.message)
	o.text("param", r.param)
	if r.choices {
		o.text("retry_with", "connection_id")
	}
	return o
}

func (r refusal) close(o object, requestID string) *rsclient.Error {
	o.text("request_id", requestID)
	return &rsclient.Error{
		Status: r.status(), Code: r.code, Message: r.message, Object: o.close(), RequestID: requestID,
	}
}

func (p *Package) refuse(ctx context.Context, r refusal) *rsclient.Error {
	return r.close(r.open(), p.requestID(ctx))
}

// choice is an error that lists the connections to choose from (H-88).
func (p *Package) choice(ctx context.Context, r refusal, members []*Member) *rsclient.Error {
	o := r.open()
	var list array
	shown, total := 0, 0
	now := p.Clock()
	for _, m := range members {
		if p.Memory.lost(p.ID, m.GrantID, now) != nil {
			continue // it is among the unavailable
		}
		if total++; total > pdpp.MaxListedConnections {
			continue
		}
		shown++
		entry := m.describe()
		entry.text("stream", r.stream)
		entry.text("display_name", m.DisplayName)
		list.add(entry.close())
	}
	o.raw("available_connections", list.close())
	o.int("available_connection_count", total)
	if shown < total {
		o.raw("available_connections_truncated", []byte("true"))
		o.int("available_connections_omitted", total-shown)
	}
	p.addUnavailable(&o)
	if shown < total {
		o.text("discovery_hint", "Call schema (GET /v1/schema?view=compact) for the full index of connections.")
	}
	return r.close(o, p.requestID(ctx))
}

// describe begins an object that names a member.
func (m *Member) describe() object {
	var o object
	o.text("connection_id", m.Connection)
	o.text("connector_key", m.ConnectorKey)
	o.text("grant_id", m.GrantID)
	return o
}

// addUnavailable adds the members that cannot be read to an object, and how many there
// are when it lists not all of them (H-89).
func (p *Package) addUnavailable(o *object) {
	list, n := p.unavailable()
	if n > 0 {
		o.raw("unavailable_connections", list)
	}
	if n > pdpp.MaxListedConnections {
		o.int("unavailable_connection_count", n)
	}
}

// unavailable lists the members that cannot be read: their stored grant has ended,
// or their server said so a moment ago. n is how many there are.
func (p *Package) unavailable() (_ []byte, n int) {
	var list array
	now := p.Clock()
	for i := range p.Members {
		m := &p.Members[i]
		code, message := m.Unusable, endedMessage
		if code == "" {
			lost := p.Memory.lost(p.ID, m.GrantID, now)
			if lost == nil {
				continue
			}
			code, message = lost.Code, lost.Message
		}
		if n++; n > pdpp.MaxListedConnections {
			continue
		}
		var why object
		why.text("code", string(code))
		why.text("message", message)
		entry := m.describe()
		entry.text("status", "unusable")
		entry.raw("error", why.close())
		list.add(entry.close())
	}
	return list.close(), n
}

func (p *Package) withUnavailable(e *rsclient.Error) *rsclient.Error {
	list, n := p.unavailable()
	if n > 0 {
		e = with(e, "unavailable_connections", list)
	}
	if n > pdpp.MaxListedConnections {
		e = with(e, "unavailable_connection_count", strconv.AppendInt(nil, int64(n), 10))
	}
	return e
}

// with is an error with a member of its object.
func with(e *rsclient.Error, name string, value []byte) *rsclient.Error {
	more := *e
	more.Object = setMember(e.Object, name, value)
	return &more
}

package pkgreader

import (
	"context"
	"net/http"
	"strconv"

	"pdpp"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// Messages that several errors share.
const (
	endedMessage = "The grant for this source is no longer valid."
	approveAgain = "Ask the owner to approve this source again, or choose another connection."
)

// refusal is an error of the package itself.
type refusal struct {
	code    pdpp.Code
	message string
	param   string
	choices bool // the caller can choose a connection
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
		message: "The full schema describes one stream. Send stream, connection_id and detail=full.",
	}
)

// status returns the HTTP status of the code. An unknown code, which only a remembered
// failure of another server has, gets 403.
func (r refusal) status() int {
	if status := r.code.Status(); status != 0 {
		return status
	}
	return http.StatusForbidden
}

// open begins the error object.
func (r refusal) open() rawjson.Writer {
	o := rawjson.Writer("{")
	o.Optional("type", pdpp.ErrorType(r.status()))
	o.Optional("code", string(r.code))
	o.Optional("message", r.message)
	o.Optional("param", r.param)
	if r.choices {
		o.Text("retry_with", "connection_id")
	}
	return o
}

func (r refusal) close(o rawjson.Writer, requestID string) *rsclient.Error {
	o.Optional("request_id", requestID)
	return &rsclient.Error{
		Status: r.status(), Code: r.code, Message: r.message, Object: []byte(append(o, '}')), RequestID: requestID,
	}
}

func (p *Package) refuse(ctx context.Context, r refusal) *rsclient.Error {
	return r.close(r.open(), p.requestID(ctx))
}

// choice returns an error that lists the connections to choose from (H-88).
func (p *Package) choice(ctx context.Context, r refusal, members []*Member) *rsclient.Error {
	o := r.open()
	list := rawjson.Writer("[")
	shown, total := 0, 0
	now := p.Clock()
	for _, m := range members {
		if p.Memory.lost(p.ID, m.GrantID, now) != nil {
			continue // it is listed as unavailable
		}
		if total++; total > pdpp.MaxListedConnections {
			continue
		}
		shown++
		entry := m.describe()
		entry.Optional("stream", r.stream)
		entry.Optional("display_name", m.DisplayName)
		list.Raw(append(entry, '}'))
	}
	o.Member("available_connections", append(list, ']'))
	o.Number("available_connection_count", total)
	if shown < total {
		o.Flag("available_connections_truncated", true)
		o.Number("available_connections_omitted", total-shown)
	}
	p.addUnavailable(&o)
	if shown < total {
		o.Text("discovery_hint", "Call schema (GET /v1/schema?view=compact) for the full index of connections.")
	}
	return r.close(o, p.requestID(ctx))
}

// describe begins an object that names a member.
func (m *Member) describe() rawjson.Writer {
	o := rawjson.Writer("{")
	o.Optional("connection_id", m.Connection)
	o.Optional("connector_key", m.ConnectorKey)
	o.Optional("grant_id", m.GrantID)
	return o
}

// addUnavailable adds to o a list of the members that cannot be read and, if the list
// is cut, their number (H-89).
func (p *Package) addUnavailable(o *rawjson.Writer) {
	list, n := p.unavailable()
	if n > 0 {
		o.Member("unavailable_connections", list)
	}
	if n > pdpp.MaxListedConnections {
		o.Number("unavailable_connection_count", n)
	}
}

// unavailable returns a list of the members that cannot be read, because their stored
// grant has ended or a recent read was refused. n is their total number.
func (p *Package) unavailable() (_ []byte, n int) {
	list := rawjson.Writer("[")
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
		entry := m.describe()
		entry.Text("status", "unusable")
		entry.OpenObject("error")
		entry.Optional("code", string(code))
		entry.Optional("message", message)
		entry.End("}}")
		list.Raw(entry)
	}
	return append(list, ']'), n
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

// with returns a copy of e with a member added to its object.
func with(e *rsclient.Error, name string, value []byte) *rsclient.Error {
	more := *e
	more.Object = setMember(e.Object, name, value)
	return &more
}

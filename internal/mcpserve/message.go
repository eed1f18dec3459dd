package mcpserve

import "pdpp/internal/rawjson"

// The members of _meta that revision 2026-07-28 defines.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaClient       = "io.modelcontextprotocol/clientInfo"
	metaServer       = "io.modelcontextprotocol/serverInfo"
)

// Message is a parsed JSON-RPC message. A member of the wrong type counts as missing.
// All fields alias the text that was parsed.
type Message struct {
	ID     []byte // as it was sent; nil: a notification
	NullID bool   // the id is null, which MCP does not allow
	Method string // "": a response
	Params []byte // nil if missing or null

	Name      string // the name of a tool
	Arguments []byte // its arguments; nil if there are none
	URI       string // the URI of a resource
	Cursor    string

	Revision string // the protocol version in _meta; "" if there is none
	hasMeta  bool   // _meta has the other members that revision 2026-07-28 requires
}

// Compact appends a message as compact JSON. Both transports use it. A message is UTF-8
// with at most rawjson.MaxDepth levels; of repeated members the first counts.
func Compact(dst, message []byte) ([]byte, *Error) {
	text, err := rawjson.CompactRelayed(dst, message)
	if err != nil {
		return dst, &Error{Code: CodeParse, Message: "the message is not valid JSON in UTF-8, or it is nested too deeply"}
	}
	return text, nil
}

// Parse parses compact JSON; ok is false if it is not a JSON-RPC message.
func Parse(text []byte) (m Message, ok bool) {
	var members [8]rawjson.Member
	obj := rawjson.Object(rawjson.Index(members[:0], text))
	if string(obj.Get("jsonrpc")) != `"2.0"` {
		return m, false
	}
	switch id := obj.Get("id"); rawjson.KindOf(id) {
	case rawjson.KindString, rawjson.KindNumber:
		m.ID = id
	case rawjson.KindNone:
	case rawjson.KindNull:
		m.NullID = true
	default:
		return m, false
	}
	m.Method, _ = rawjson.String(obj.Get("method"))
	if params := obj.Get("params"); rawjson.KindOf(params) != rawjson.KindNull {
		m.Params = params
		m.parseParams()
	}
	return m, m.Method != "" || obj.Get("result") != nil || obj.Get("error") != nil
}

func (m *Message) parseParams() {
	var members [8]rawjson.Member
	obj := rawjson.Object(rawjson.Index(members[:0], m.Params))
	m.Name, _ = rawjson.String(obj.Get("name"))
	m.Arguments = obj.Get("arguments")
	m.URI, _ = rawjson.String(obj.Get("uri"))
	m.Cursor, _ = rawjson.String(obj.Get("cursor"))
	meta := obj.Get("_meta")
	if rawjson.KindOf(meta) != rawjson.KindObject {
		return
	}
	revision, _ := rawjson.Get(meta, metaVersion)
	m.Revision, _ = rawjson.String(revision)
	capabilities, _ := rawjson.Get(meta, metaCapabilities)
	client, named := rawjson.Get(meta, metaClient)
	m.hasMeta = rawjson.KindOf(capabilities) == rawjson.KindObject && (!named || rawjson.KindOf(client) == rawjson.KindObject)
}

// CheckMeta checks the _meta that revision 2026-07-28 requires of a request (MS-3).
func (m *Message) CheckMeta() *Error {
	switch {
	case m.Revision == "":
		return &Error{Code: CodeParams, Message: "the protocol version is missing in _meta"}
	case m.Revision != Modern:
		return Unsupported(m.Revision)
	case !m.hasMeta:
		return &Error{Code: CodeParams, Message: "the client capabilities are missing in _meta, or the client info is not an object"}
	}
	return nil
}

// NeedsAnswer reports whether the message is a request. Notifications and responses
// are not answered.
func (m *Message) NeedsAnswer() bool { return m.ID != nil && m.Method != "" }

package mcpserve

import (
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/rawjson"
)

// Message is a JSON-RPC message, taken apart and not checked further.
type Message struct {
	ID     []byte // as it came; nil: a notification
	BadID  bool   // it has an id that is none
	Method string // "" for the answer to a request
	Params []byte // nil: none

	Name      string // of a tool
	Arguments []byte // nil: none
	URI       string // of a resource
	Cursor    string

	// Revision is the one that _meta names, as revision 2026-07-28 has it; "" for
	// none. IsModern says that all of its members are there that must be.
	Revision string
	IsModern bool
}

// Compact appends a message as compact JSON. Every transport reads messages by this one
// rule: UTF-8, at most rawjson.MaxDepth levels, and of members that are repeated the first
// counts.
func Compact(dst, message []byte) ([]byte, *Fault) {
	text, err := rawjson.CompactRelayed(dst, message)
	if err != nil {
		return dst, &Fault{Code: CodeParse, Message: "the message is not JSON in UTF-8, or it is nested too deep"}
	}
	return text, nil
}

// appendFirsts appends a compact value with the first of repeated members only, for
// readers that would take the last. The arguments of a tool stay as they are: the tool
// refuses repeated names, whichever way a call comes to it.
func appendFirsts(dst, value []byte) []byte {
	switch rawjson.KindOf(value) {
	case rawjson.KindObject:
		seen := make(map[string]bool)
		dst = append(dst, '{')
		for name, at := range rawjson.Places(value) {
			if seen[string(name)] {
				continue
			}
			if len(seen) > 0 {
				dst = append(dst, ',')
			}
			seen[string(name)] = true
			dst = append(dst, value[at.Start:at.Value]...)
			if string(name) == "arguments" {
				dst = append(dst, value[at.Value:at.End]...)
			} else {
				dst = appendFirsts(dst, value[at.Value:at.End])
			}
		}
		return append(dst, '}')
	case rawjson.KindArray:
		dst = append(dst, '[')
		first := true
		for element := range rawjson.Elements(value) {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = appendFirsts(dst, element)
		}
		return append(dst, ']')
	}
	return append(dst, value...)
}

// Parse takes a compact JSON text apart; false when it is no JSON-RPC message. What is
// not of the kind that it should be counts as left out.
func Parse(text []byte) (m Message, ok bool) {
	var room [8]rawjson.Member
	obj := rawjson.Object(rawjson.Index(room[:0], text))
	if string(obj.Get("jsonrpc")) != `"2.0"` {
		return m, false
	}
	switch id := obj.Get("id"); rawjson.KindOf(id) {
	case rawjson.KindString, rawjson.KindNumber:
		m.ID = id
	case rawjson.KindNone:
	default:
		m.BadID = true
	}
	m.Method, _ = rawjson.String(obj.Get("method"))
	if m.Params = obj.Get("params"); m.Params != nil {
		m.readParams()
	}
	return m, m.Method != "" || obj.Get("result") != nil || obj.Get("error") != nil
}

func (m *Message) readParams() {
	var room [8]rawjson.Member
	obj := rawjson.Object(rawjson.Index(room[:0], m.Params))
	m.Name, _ = rawjson.String(obj.Get("name"))
	m.Arguments = obj.Get("arguments")
	m.URI, _ = rawjson.String(obj.Get("uri"))
	m.Cursor, _ = rawjson.String(obj.Get("cursor"))
	meta := obj.Get("_meta")
	if rawjson.KindOf(meta) != rawjson.KindObject {
		return
	}
	revision, _ := rawjson.Get(meta, sdk.MetaKeyProtocolVersion)
	m.Revision, _ = rawjson.String(revision)
	capabilities, _ := rawjson.Get(meta, sdk.MetaKeyClientCapabilities)
	info, named := rawjson.Get(meta, sdk.MetaKeyClientInfo)
	m.IsModern = m.Revision == Modern && rawjson.KindOf(capabilities) == rawjson.KindObject &&
		(!named || rawjson.KindOf(info) == rawjson.KindObject)
}

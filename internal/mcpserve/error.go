package mcpserve

import (
	"encoding/json"

	"pdpp/internal/rawjson"
)

// Error is a JSON-RPC error.
type Error struct {
	Code    int
	Message string
	Data    []byte // JSON; nil if there is none
}

// The error codes: those of JSON-RPC, then those of MCP.
const (
	CodeParse    = -32700
	CodeRequest  = -32600
	CodeMethod   = -32601
	CodeParams   = -32602
	CodeInternal = -32603

	CodeNotFound    = -32002 // resource not found, before revision 2026-07-28 (MS-204)
	CodeHeaders     = -32020 // headers that differ from the body
	CodeUnsupported = -32022 // a protocol revision that is not served
)

// Unsupported returns the error for a revision that is not served (MS-3).
func Unsupported(revision string) *Error {
	data, err := json.Marshal(map[string]any{"supported": Versions(), "requested": revision})
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return &Error{Code: CodeUnsupported, Message: "unsupported protocol version", Data: data}
}

// AppendError appends an error response. A nil id, as for a message that cannot be parsed,
// is written as null.
func AppendError(b, id []byte, e *Error) []byte {
	if id == nil {
		id = []byte("null")
	}
	w := beginResponse(b, id)
	w.OpenObject("error")
	w.Number("code", e.Code)
	w.Text("message", e.Message)
	if len(e.Data) > 0 {
		w.Member("data", e.Data)
	}
	w.End("}}")
	return w
}

// beginResponse begins a response, which stays open for its result or error.
func beginResponse(b, id []byte) rawjson.Writer {
	w := rawjson.Writer(append(b, `{"jsonrpc":"2.0"`...))
	w.Member("id", id)
	return w
}

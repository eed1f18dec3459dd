package mcpserve

import "github.com/modelcontextprotocol/go-sdk/jsonrpc"

// Fault is a JSON-RPC error.
type Fault = jsonrpc.Error

// The codes of faults, those of JSON-RPC first.
const (
	CodeParse   = jsonrpc.CodeParseError
	CodeRequest = jsonrpc.CodeInvalidRequest
	CodeMethod  = jsonrpc.CodeMethodNotFound
	CodeParams  = jsonrpc.CodeInvalidParams

	CodeHeaders     = -32020 // headers that differ from the body
	CodeUnsupported = -32022 // a protocol revision that is not served
)

package mcp

import "pdpp/internal/rawjson"

// structured returns the structured output of a call that returned data (MS-40), followed
// by extra members, each after a comma.
func (c *call) structured(data []byte, requestID string, extra ...byte) []byte {
	b := append([]byte(`{"data":`), data...)
	b = append(b, extra...)
	b = append(b, `,"provider_url":`...)
	b = rawjson.AppendString(b, c.RS.Provider())
	b = append(b, `,"request_id":`...)
	return append(appendOrNull(b, requestID), '}')
}

// appendNext appends a call as a member of structured output.
func appendNext(b []byte, next *nextCall) []byte { return next.append(append(b, `,"next":`...)) }

package mcp

import "pdpp/internal/rawjson"

// structured returns the structured output of a call that returned data (MS-40), followed
// by extra members, each after a comma.
func (c *call) structured(data []byte, requestID string, extra ...byte) []byte {
	b := append([]byte(`{"data":`), data...)
	return c.appendEnd(append(b, extra...), requestID)
}

// appendEnd appends the members that end structured output (MS-40), and its brace.
func (s *Surface) appendEnd(b []byte, requestID string) []byte {
	w := rawjson.Writer(b)
	w.Text("provider_url", s.RS.Provider())
	w.TextOrNull("request_id", requestID)
	return append(w, '}')
}

// appendNext appends a call as a member of structured output.
func appendNext(b []byte, next *nextCall) []byte { return next.append(append(b, `,"next":`...)) }

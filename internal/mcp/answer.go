package mcp

import "pdpp/internal/rawjson"

// begin returns structured output that begins with a member, in a buffer with space for
// extra bytes.
func begin(name string, value []byte, extra int) rawjson.Writer {
	w := append(make(rawjson.Writer, 0, len(value)+extra), '{')
	w.Member(name, value)
	return w
}

// structured returns the structured output of a call that returned data (MS-40), followed
// by extra members.
func (c *call) structured(data []byte, requestID string, extra ...byte) []byte {
	const ends = 256
	w := begin("data", data, len(extra)+ends)
	w.Raw(extra)
	return c.appendEnd(w, requestID)
}

// appendEnd appends the members that end structured output (MS-40), and its brace.
func (s *Surface) appendEnd(w rawjson.Writer, requestID string) []byte {
	w.Text("provider_url", s.RS.Provider())
	w.TextOrNull("request_id", requestID)
	return append(w, '}')
}

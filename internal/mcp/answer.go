package mcp

import "pdpp/internal/rawjson"

// structured is the structured output of a call that gave data (MS-40); extra members,
// each after a comma, stand behind it.
func (c *call) structured(data []byte, requestID string, extra ...byte) []byte {
	b := append([]byte(`{"data":`), data...)
	b = append(b, extra...)
	b = append(b, `,"provider_url":`...)
	b = rawjson.AppendString(b, c.RS.Provider())
	b = append(b, `,"request_id":`...)
	return append(appendOrNull(b, requestID), '}')
}

// textMember is a string member of an object; "" when there is none.
func textMember(obj []byte, name string) string {
	v, _ := rawjson.Get(obj, name)
	s, _ := rawjson.String(v)
	return s
}

func isTrue(obj []byte, name string) bool {
	v, _ := rawjson.Get(obj, name)
	return string(v) == "true"
}

package mcp

import (
	"bytes"
	"encoding/json"

	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// compactBody is an answer without insignificant white space: what rawjson reads, and
// what is spliced into structured output. Numbers, key order and duplicate keys stay
// as they came (MS-36).
func compactBody(body []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, body); err != nil || rawjson.KindOf(b.Bytes()) != rawjson.KindObject {
		return nil, &Failure{Code: rsclient.CodeInvalid, Message: "The resource server answered with something that is not a JSON object."}
	}
	return b.Bytes(), nil
}

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

package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// Position returns the place, counted from 1, of a syntax error that encoding/json reports
// for a text. For truncated input that is the end.
func Position(raw []byte, err error) (line, column int) {
	end := len(raw)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && syntax.Offset > 0 && int(syntax.Offset) <= len(raw) {
		end = int(syntax.Offset) - 1
	}
	before := raw[:end]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

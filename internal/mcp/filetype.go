package mcp

import (
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// decoding returns the encoding of a charset: nil for UTF-8 and for none, which is read as
// UTF-8; false for an unknown charset. A byte order mark overrides the declaration.
func decoding(charset string, head []byte) (encoding.Encoding, bool) {
	switch {
	case strings.HasPrefix(string(head), "\xff\xfe"), strings.HasPrefix(string(head), "\xfe\xff"):
		charset = "utf-16"
	case strings.HasPrefix(string(head), utf8Mark), charset == "":
		return nil, true
	}
	if strings.EqualFold(charset, "us-ascii") || strings.EqualFold(charset, "utf-8") || strings.EqualFold(charset, "utf8") {
		return nil, true
	}
	e, err := htmlindex.Get(charset)
	if err != nil {
		return nil, false
	}
	if name, err := htmlindex.Name(e); err == nil && strings.HasPrefix(name, "utf-16") {
		e = utf16Encoding(name == "utf-16be")
	}
	return e, true
}

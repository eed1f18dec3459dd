package mcp

import (
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// textTypes are media types that are text although their names do not say so (MS-177).
var textTypes = map[string]bool{
	"application/json": true, "application/x-ndjson": true, "application/jsonl": true, "application/xml": true,
	"application/yaml": true, "application/x-yaml": true, "application/toml": true, "application/csv": true,
	"application/javascript": true, "application/sql": true, "application/x-sh": true, "application/mbox": true,
	"message/rfc822": true, "message/global": true,
}

// isTextType reports a media type, without parameters, whose content can be read as
// text.
func isTextType(t string) bool {
	t = strings.ToLower(t)
	return strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "+json") || strings.HasSuffix(t, "+xml") || textTypes[t]
}

// mayBeText reports the media type of a reference whose file is text or, as the
// reference does not say what it is, may be: to read it tells.
func mayBeText(t string) bool { return t == "" || isTextType(t) }

// decoding finds how a charset is decoded: nil for UTF-8, and for none, which is taken
// for UTF-8; false when it is not known here. A byte order mark is more certain than a
// declaration.
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

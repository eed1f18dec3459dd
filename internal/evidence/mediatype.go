package evidence

import "strings"

// textTypes are media types of text that their names do not identify as such (MS-177).
var textTypes = map[string]bool{
	"application/json": true, "application/x-ndjson": true, "application/jsonl": true, "application/xml": true,
	"application/yaml": true, "application/x-yaml": true, "application/toml": true, "application/csv": true,
	"application/javascript": true, "application/sql": true, "application/x-sh": true, "application/mbox": true,
	"message/rfc822": true, "message/global": true,
}

// IsTextType reports whether the content of a media type, without parameters, can be
// read as text.
func IsTextType(t string) bool {
	t = strings.ToLower(t)
	return strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "+json") || strings.HasSuffix(t, "+xml") || textTypes[t]
}

// MayBeText reports whether the content of a media type is text, or unknown. In the
// latter case reading the file decides.
func MayBeText(t string) bool { return t == "" || IsTextType(t) }

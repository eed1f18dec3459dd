package evidence

import "strings"

// textTypes are media types of text that their names do not identify as such (MS-177).
var textTypes = map[string]bool{
	"application/json": true, "application/x-ndjson": true, "application/jsonl": true, "application/xml": true,
	"application/yaml": true, "application/x-yaml": true, "application/toml": true, "application/csv": true,
	"application/javascript": true, "application/sql": true, "application/x-sh": true, "application/mbox": true,
	"message/rfc822": true, "message/global": true,
}

// IsTextType reports a media type, without parameters, whose content can be read as text.
func IsTextType(t string) bool {
	t = strings.ToLower(t)
	return strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "+json") || strings.HasSuffix(t, "+xml") || textTypes[t]
}

// MayBeText reports a media type whose content is text, or unknown: reading the file
// decides then.
func MayBeText(t string) bool { return t == "" || IsTextType(t) }

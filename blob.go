package pdpp

import (
	"path"
	"strings"
)

// BlobID names the content of a blob (B-1). Ids of this server contain the SHA-256 of the
// content. Records may contain ids of another form; they refer to no blob of this server.
type BlobID string

const blobPrefix = "blob_sha256_"

// BlobIDOf returns the id of the content with the given SHA-256, written as 64
// lower-case hexadecimal digits.
func BlobIDOf(sha256 string) BlobID { return BlobID(blobPrefix + sha256) }

// SHA256 returns the hash that the id contains, or false when the id has another form.
func (id BlobID) SHA256() (string, bool) {
	hash, ok := strings.CutPrefix(string(id), blobPrefix)
	if !ok || len(hash) != 64 {
		return "", false
	}
	for i := range len(hash) {
		if c := hash[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", false
		}
	}
	return hash, true
}

// DefaultMediaType is the type of content whose type is unknown.
const DefaultMediaType = "application/octet-stream"

// ParseMediaType returns s as a media type in lower case, without its parameters
// (B-9). It returns false when s is not a media type (RFC 6838 §4.2).
func ParseMediaType(s string) (string, bool) {
	s, _, _ = strings.Cut(s, ";")
	s = strings.Trim(s, " \t")
	kind, subtype, ok := strings.Cut(s, "/")
	return strings.ToLower(s), ok && isTypeName(kind) && isTypeName(subtype)
}

func isTypeName(s string) bool {
	if s == "" || len(s) > 127 || strings.IndexByte("!#$&-^_.+", s[0]) >= 0 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte("!#$&-^_.+", c) < 0 {
			return false
		}
	}
	return true
}

// mediaTypes maps file extensions to media types. Package mime reads tables of the
// operating system, which differ; this table is the same on every machine.
var mediaTypes = map[string]string{
	".avif": "image/avif", ".bmp": "image/bmp", ".gif": "image/gif", ".heic": "image/heic", ".ico": "image/x-icon",
	".jpeg": "image/jpeg", ".jpg": "image/jpeg", ".png": "image/png", ".svg": "image/svg+xml", ".tif": "image/tiff",
	".tiff": "image/tiff", ".webp": "image/webp",
	".aac": "audio/aac", ".flac": "audio/flac", ".m4a": "audio/mp4", ".mp3": "audio/mpeg", ".ogg": "audio/ogg",
	".opus": "audio/ogg", ".wav": "audio/wav",
	".mkv": "video/matroska", ".mov": "video/quicktime", ".mp4": "video/mp4", ".webm": "video/webm",
	".csv": "text/csv", ".htm": "text/html", ".html": "text/html", ".ics": "text/calendar", ".md": "text/markdown",
	".txt": "text/plain", ".vcf": "text/vcard", ".xml": "application/xml",
	".eml": "message/rfc822", ".epub": "application/epub+zip", ".gz": "application/gzip", ".json": "application/json",
	".pdf": "application/pdf", ".rtf": "application/rtf", ".tar": "application/x-tar", ".zip": "application/zip",
	".doc": "application/msword", ".xls": "application/vnd.ms-excel", ".ppt": "application/vnd.ms-powerpoint",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".odt":  "application/vnd.oasis.opendocument.text", ".ods": "application/vnd.oasis.opendocument.spreadsheet",
}

// MediaTypeByName returns the media type for the extension of a file name.
func MediaTypeByName(name string) string {
	if t, ok := mediaTypes[strings.ToLower(path.Ext(name))]; ok {
		return t
	}
	return DefaultMediaType
}

package evidence

import (
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/rawjson"
)

// The kinds of binary values (EX-8).
const (
	KindBlobReference  = "blob_reference"
	KindEmbeddedObject = "embedded_object"
	KindBase64Text     = "base64_text"
)

// Binary holds the facts about a binary value (EX-8). Empty strings and a negative size
// mean unknown.
type Binary struct {
	Kind      string
	MimeType  string // lower case, without parameters
	SizeBytes int64
	SHA256    string // 64 hexadecimal digits, lower case
}

// sizeGrade returns small, medium or large, or "" when the size is unknown.
func (b Binary) sizeGrade() string {
	switch {
	case b.SizeBytes < 0:
		return ""
	case b.SizeBytes < 64<<10:
		return "small"
	case b.SizeBytes < 1<<20:
		return "medium"
	}
	return "large"
}

// AppendMembers appends the known facts as members of a JSON object, without braces,
// because callers add other members.
func (b Binary) AppendMembers(dst []byte) []byte {
	w := rawjson.Writer(dst)
	w.Text("kind", b.Kind)
	w.Optional("mime_type", b.MimeType)
	if b.SizeBytes >= 0 {
		w.Key("size_bytes")
		w.Int(b.SizeBytes)
		w.Text("size_grade", b.sizeGrade())
	}
	w.Optional("sha256", b.SHA256)
	return w
}

// DetectBinary reports whether a compact JSON value is binary, and returns its facts
// (EX-8). declared says that the manifest declares the field as a blob reference. Then
// an object with a blob_id is binary, and so is an array of such objects (M-9). Only the
// own members of an object count: an object that contains a binary object is not binary.
func DetectBinary(value []byte, declared bool) (Binary, bool) {
	switch rawjson.KindOf(value) {
	case rawjson.KindString:
		content, _ := rawjson.Content(value)
		if len(content) < minBinaryChars {
			return Binary{}, false
		}
		var p probe
		if !p.feed(content) {
			return Binary{}, false
		}
		return p.result()
	case rawjson.KindObject:
		return detectObject(value, declared)
	case rawjson.KindArray:
		if declared {
			return detectList(rawjson.Elements(value))
		}
	}
	return Binary{}, false
}

func detectObject(obj []byte, declared bool) (Binary, bool) {
	f := gather(obj)
	switch {
	case declared && f.blobID:
		f.Kind = KindBlobReference
	case f.MimeType != "" && f.sized:
		f.Kind = KindEmbeddedObject
	default:
		return Binary{}, false
	}
	return f.Binary, true
}

// detectList summarizes an array of blob references: their common type and total size.
// It skips nulls, which a nullable item allows.
func detectList(elements iter.Seq[[]byte]) (Binary, bool) {
	var all Binary
	n := 0
	for e := range elements {
		if rawjson.KindOf(e) == rawjson.KindNull {
			continue
		}
		f := gather(e)
		if !f.blobID {
			return Binary{}, false
		}
		if n == 0 {
			all = f.Binary
		} else {
			all = join(all, f.Binary)
		}
		n++
	}
	all.Kind = KindBlobReference
	return all, n > 0
}

func join(a, b Binary) Binary {
	if a.MimeType != b.MimeType {
		a.MimeType = ""
	}
	if a.SizeBytes < 0 || b.SizeBytes < 0 || a.SizeBytes > math.MaxInt64-b.SizeBytes {
		a.SizeBytes = -1
	} else {
		a.SizeBytes += b.SizeBytes
	}
	a.SHA256 = ""
	return a
}

// facts holds the members of an object that decide whether it is binary.
type facts struct {
	Binary
	blobID bool // has a blob_id
	sized  bool // has a size, a digest or a fetch_url
}

func gather(obj []byte) facts {
	f := facts{Binary: Binary{SizeBytes: -1}}
	for name, value := range rawjson.Members(obj) {
		switch string(name) {
		case "blob_id":
			s, _ := rawjson.String(value)
			f.blobID = s != ""
		case "mime_type", "mimeType", "content_type":
			if f.MimeType == "" {
				f.MimeType = mimeType(value)
			}
		case "size_bytes", "size":
			n, err := strconv.ParseInt(string(value), 10, 64)
			if err == nil && n >= 0 && (f.SizeBytes < 0 || len(name) > len("size")) {
				f.SizeBytes, f.sized = n, true
			}
		case "sha256", "digest":
			s, _ := rawjson.String(value)
			f.sized = f.sized || s != ""
			if f.SHA256 == "" {
				f.SHA256 = sha256Hex(s)
			}
		case "fetch_url":
			s, _ := rawjson.String(value)
			f.sized = f.sized || s != ""
		}
	}
	return f
}

// mimeType returns the MIME type in a JSON string, or "". Members called content_type
// often contain something else, such as "article".
func mimeType(value []byte) string {
	s, _ := rawjson.String(value)
	return parseMimeType(s)
}

// parseMimeType returns a media type in the form of B-9, or "" when s is not one.
func parseMimeType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	media, ok := pdpp.ParseMediaType(strings.TrimSpace(s))
	if !ok {
		return ""
	}
	return media
}

// sha256Hex returns a hexadecimal SHA-256 digest without the optional name of the
// algorithm before it, or "" for any other digest.
func sha256Hex(s string) string {
	s = strings.ToLower(s)
	for _, prefix := range []string{"sha256:", "sha256-", "sha-256:"} {
		s = strings.TrimPrefix(s, prefix)
	}
	isHex := func(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }
	if len(s) != 64 || slices.ContainsFunc([]byte(s), func(c byte) bool { return !isHex(c) }) {
		return ""
	}
	return s
}

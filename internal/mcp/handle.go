package mcp

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"pdpp"
	"pdpp/internal/rawjson"
)

// Handle names a record. It grants no access (MS-55): a client that sends it reads with its
// own token.
type Handle struct {
	Connection string // "" when it is unknown
	Stream     string
	Record     string
}

const recordURI = "pdpp://record/"

// parseHandle reads a grammar id, connection/stream:record, a legacy id,
// stream:record, or a pdpp://record URI (MS-50, MS-53). Nothing is trimmed, folded
// or normalized.
func parseHandle(s string) (Handle, error) {
	if strings.HasPrefix(s, "pdpp://") {
		return parseRecordURI(s)
	}
	var h Handle
	rest := s
	conn, after, scoped := strings.Cut(s, "/")
	if scoped {
		h.Connection, rest = conn, after
	}
	var ok bool
	h.Stream, h.Record, ok = strings.Cut(rest, ":")
	if !ok || scoped && !isSegment(h.Connection) || !isSegment(h.Stream) || !isSegment(h.Record) {
		return Handle{}, badHandle()
	}
	return h, nil
}

func badHandle() error {
	return &adapterError{
		Code: pdpp.CodeInvalidID, Param: "id",
		Message: "id must be connection_id/stream:record_id, stream:record_id, or pdpp://record/…, exactly as a result showed it.",
	}
}

// isSegment reports whether a string can be a part of an id (MS-50).
func isSegment(s string) bool {
	return s != "" && s != "." && !strings.ContainsAny(s, `/\`) && !strings.Contains(s, "..") && !hasControl(s) && utf8.ValidString(s)
}

// String returns the handle as results show it (MS-52), or "" if no handle can name the
// record. embedded is true if connection_id does not have to be passed with it, because the
// handle contains the connection or the connection is unknown.
func (h Handle) String() (id string, embedded bool) {
	var buf [256]byte
	b, embedded := h.append(buf[:0])
	return string(b), embedded
}

// append appends the handle as String returns it.
func (h Handle) append(b []byte) (id []byte, embedded bool) {
	if isPlainName(h.Connection) && isPlainName(h.Stream) && isPlainName(h.Record) { // most are
		b = append(append(append(b, h.Connection...), '/'), h.Stream...)
		return append(append(b, ':'), h.Record...), true
	}
	if !h.isNamed() {
		return b, false
	}
	if !isSegment(h.Stream) || strings.Contains(h.Stream, ":") || !isSegment(h.Record) {
		return h.appendURI(b), true
	}
	isSeparate := h.Connection != "" && (!isSegment(h.Connection) || strings.Contains(h.Connection, ":"))
	if h.Connection != "" && !isSeparate {
		b = append(append(b, h.Connection...), '/')
	}
	return append(append(append(b, h.Stream...), ':'), h.Record...), !isSeparate
}

// isPlainName reports whether a name consists of letters, digits, hyphens and underscores,
// so that it is valid anywhere.
func isPlainName(s string) bool {
	for i := range len(s) {
		if !plainNameBytes[s[i]] {
			return false
		}
	}
	return s != ""
}

// plainNameBytes are the bytes that a plain name may contain, as a table.
var plainNameBytes = func() (all [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") {
		all[c] = true
	}
	return all
}()

// URI returns the pdpp://record form, which can contain any name (MS-53).
func (h Handle) URI() string {
	var buf [256]byte
	return string(h.appendURI(buf[:0]))
}

func (h Handle) appendURI(b []byte) []byte {
	var buf [512]byte
	payload := appendIdentity(append(buf[:0], `{"v":1,"kind":"record"`...), h)
	return appendURI(b, recordURI, append(payload, '}'))
}

func appendURI(b []byte, prefix string, payload []byte) []byte {
	return base64.RawURLEncoding.AppendEncode(append(b, prefix...), payload)
}

func appendIdentity(b []byte, h Handle) []byte {
	b = appendMember(b, "connection_id", h.Connection)
	b = appendMember(b, "stream", h.Stream)
	return appendMember(b, "record_id", h.Record)
}

// appendMember appends ,"name":"value"; nothing when the value is empty.
func appendMember(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...) // names are ours
	return rawjson.AppendString(b, value)
}

// parseRecordURI reads both forms of a record URI: the template expanded with the id of a
// result (RFC 6570 escapes its separators, and base64url has none), or the form that can
// contain any name (MS-53).
func parseRecordURI(s string) (Handle, error) {
	if escaped := strings.TrimPrefix(s, recordURI); strings.ContainsAny(escaped, "%:") {
		id, err := url.PathUnescape(escaped)
		if err != nil || strings.HasPrefix(id, "pdpp:") {
			return Handle{}, badHandle()
		}
		return parseHandle(id)
	}
	d, ok := decodeURI(s, recordURI, "record", "connection_id", "stream", "record_id")
	h := Handle{d.texts["connection_id"], d.texts["stream"], d.texts["record_id"]}
	if !ok || !h.isNamed() || h.URI() != s {
		return Handle{}, badHandle()
	}
	return h, nil
}

// isNamed reports whether a handle can name the record (MS-53).
func (h Handle) isNamed() bool {
	for _, s := range []string{h.Stream, h.Record} {
		if s == "" || s == "." || s == ".." || !isCarried(s) {
			return false
		}
	}
	return isCarried(h.Connection)
}

// isCarried reports whether a name can be encoded in the JSON of a URI without loss.
func isCarried(s string) bool { return !strings.ContainsRune(s, 0) && utf8.ValidString(s) }

// decoded is the payload of a pdpp:// URI.
type decoded struct {
	texts map[string]string
	ints  map[string]int
}

func (d decoded) number(name string) given {
	n, ok := d.ints[name]
	return given{n, ok}
}

// decodeURI reads the payload of a pdpp:// URI: the named members only, strings or whole
// numbers. The caller compares s with the URI of the result, so that every resource has
// one URI (MS-53).
func decodeURI(s, prefix, kind string, names ...string) (decoded, bool) {
	d := decoded{map[string]string{}, map[string]int{}}
	text, ok := strings.CutPrefix(s, prefix)
	if !ok || strings.ContainsAny(text, "\r\n") {
		return d, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return d, false
	}
	compact, err := rawjson.Compact(nil, raw)
	if err != nil || rawjson.KindOf(compact) != rawjson.KindObject {
		return d, false
	}
	known := map[string]bool{"v": true, "kind": true}
	for _, n := range names {
		known[n] = true
	}
	for name, value := range rawjson.Members(compact) {
		n := string(name)
		if !known[n] {
			return d, false
		}
		if text, ok := rawjson.String(value); ok {
			d.texts[n] = text
			continue
		}
		number, err := strconv.Atoi(string(value))
		if err != nil {
			return d, false
		}
		d.ints[n] = number
	}
	return d, d.ints["v"] == 1 && d.texts["kind"] == kind
}

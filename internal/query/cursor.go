package query

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"strings"
	"sync"
	"time"

	"pdpp"
)

// Cursors are tokens: a prefix that names their space, then base64url of payload
// and HMAC-SHA-256 over prefix and payload (C-37).
const (
	recordCursor    = "pc1."
	maxCursor       = 2048
	recordCursorAge = 24 * time.Hour
)

// Sealer makes and reads cursors. It is safe for concurrent use.
type Sealer struct{ macs sync.Pool }

// NewSealer derives the cursor key from the instance key (H-4).
func NewSealer(instanceKey []byte) (*Sealer, error) {
	key, err := hkdf.Key(sha256.New, instanceKey, nil, "pdpp cursors", 32)
	if err != nil {
		return nil, err
	}
	return &Sealer{macs: sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}}, nil
}

// Scope is what a page cursor is bound to: subject, grant, path, the request
// without its limit, count and cursor (C-38), and the order its position is in.
type Scope [16]byte

// ScopeOf computes a scope. grant is "" for an owner; order is OrderName's.
func ScopeOf(subject pdpp.SubjectID, grant pdpp.GrantID, path, order string, p *Params) Scope {
	h := sha256.New()
	write := func(s string) {
		var n [4]byte
		binary.BigEndian.PutUint32(n[:], uint32(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	write(string(subject))
	write(string(grant))
	write(path)
	write(order)
	for _, part := range p.without("limit", "count", "cursor", "changes_since") {
		write(part)
	}
	return Scope(h.Sum(nil)[:16])
}

// Seal makes the cursor that continues a record list after a position.
func (s *Sealer) Seal(scope Scope, at Position, now time.Time) string {
	payload := make([]byte, 0, 256)
	payload = binary.BigEndian.AppendUint64(payload, uint64(now.UnixMilli()))
	payload = append(payload, scope[:]...)
	payload = append(payload, byte(len(at.Connection)))
	payload = append(payload, at.Connection...)
	payload = append(payload, at.Key...)
	payload = s.tag(payload, recordCursor, payload)
	return recordCursor + base64.RawURLEncoding.EncodeToString(payload)
}

// Open reads a cursor of a record list. Anything that was not sealed here, for
// this scope, is invalid_cursor; what is older than a day is cursor_expired.
func (s *Sealer) Open(scope Scope, cursor string, now time.Time) (*Position, error) {
	payload, ok := s.verify(recordCursor, cursor)
	if !ok || len(payload) < 8+16+1 || Scope(payload[8:24]) != scope {
		return nil, invalidCursor()
	}
	made := time.UnixMilli(int64(binary.BigEndian.Uint64(payload)))
	rest := payload[25:]
	n := int(payload[24])
	if len(rest) < n {
		return nil, invalidCursor()
	}
	if now.Sub(made) > recordCursorAge {
		return nil, &pdpp.Error{
			Code: pdpp.CodeCursorExpired, Param: "cursor",
			Message: "This cursor is more than a day old. Start again without a cursor.",
		}
	}
	return &Position{Connection: pdpp.ConnectionID(rest[:n]), Key: rest[n:]}, nil
}

func invalidCursor() error {
	return &pdpp.Error{
		Code: pdpp.CodeInvalidCursor, Param: "cursor",
		Message: "This cursor does not belong to this request. Repeat the request it came from with cursor added, or start again without one.",
	}
}

// verify decodes a cursor and checks its tag.
func (s *Sealer) verify(prefix, cursor string) ([]byte, bool) {
	text, ok := strings.CutPrefix(cursor, prefix)
	if !ok || len(cursor) > maxCursor || strings.ContainsAny(text, "\r\n") { // which base64 would skip
		return nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < sha256.Size {
		return nil, false
	}
	payload, tag := raw[:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
	return payload, hmac.Equal(tag, s.tag(nil, prefix, payload))
}

// tag appends the tag of prefix and payload to dst.
func (s *Sealer) tag(dst []byte, prefix string, payload []byte) []byte {
	mac := s.macs.Get().(hash.Hash)
	defer s.macs.Put(mac)
	mac.Reset()
	mac.Write([]byte(prefix))
	mac.Write(payload)
	return mac.Sum(dst)
}

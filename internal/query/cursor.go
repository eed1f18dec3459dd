package query

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"strings"
	"sync"
	"time"

	"pdpp"
)

// A cursor is a prefix that names its space, followed by the base64url of payload and
// HMAC-SHA-256 over prefix and payload (C-37).
const (
	maxCursor = 2 << 10
	// MaxPackageCursor is larger: it has a position in the list of every member (H-91).
	MaxPackageCursor = 8 << 10
)

// Space is a kind of cursor. A cursor of one space is not accepted in another.
type Space struct {
	prefix    string
	age       time.Duration // after which a cursor is too old
	param     string        // the parameter it comes in
	ifExpired string        // what to do after an expired cursor
	ifInvalid string        // what to do after an invalid cursor
	limit     int           // characters
}

// repeat is how a page cursor is used.
const repeat = "Repeat the request it came from with cursor added, or start again without one."

// The spaces (C-37, C-39).
var (
	RecordPages  = Space{"pc1.", 24 * time.Hour, "cursor", "Start again without a cursor.", repeat, maxCursor}
	ChangePages  = Space{"cc1.", 24 * time.Hour, "cursor", "Start again from the last bookmark or from beginning.", repeat, maxCursor}
	Bookmarks    = Space{"cs1.", 180 * 24 * time.Hour, "changes_since", "Restart from beginning.", bookmarkForms, maxCursor}
	LexicalPages = Space{"sl1.", time.Hour, "cursor", "Start again without a cursor.", repeat, maxCursor}
	PackagePages = Space{"ps1.", time.Hour, "cursor", "Start again without a cursor.", repeat, MaxPackageCursor}
)

// bookmarkForms names both forms of changes_since (REC-33).
const bookmarkForms = "changes_since is either beginning or the last next_changes_since of this grant and stream."

// Sealer makes and reads cursors. It is safe for concurrent use.
type Sealer struct {
	macs    sync.Pool
	numbers cipher.Block // hides numbers
}

// NewSealer derives the cursor keys from the instance key (H-4).
func NewSealer(instanceKey []byte) (*Sealer, error) {
	key, err := hkdf.Key(sha256.New, instanceKey, nil, "pdpp cursors", 32)
	if err != nil {
		return nil, err
	}
	hiding, err := hkdf.Key(sha256.New, instanceKey, nil, "pdpp cursor numbers", 32)
	if err != nil {
		return nil, err
	}
	numbers, err := aes.NewCipher(hiding)
	if err != nil {
		return nil, err
	}
	return &Sealer{macs: sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}, numbers: numbers}, nil
}

// HiddenSize is the length of a hidden number.
const HiddenSize = aes.BlockSize

// Hide appends n encrypted, because the number would reveal how much data is outside the
// grant. A block contains n and random bytes, so that equal numbers look different
// (C-37).
func (s *Sealer) Hide(dst []byte, n int64) []byte {
	var b [HiddenSize]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	rand.Read(b[8:]) // never fails
	s.numbers.Encrypt(b[:], b[:])
	return append(dst, b[:]...)
}

// Reveal reads what Hide wrote, from a payload that Open has authenticated.
func (s *Sealer) Reveal(hidden []byte) (int64, bool) {
	if len(hidden) != HiddenSize {
		return 0, false
	}
	var b [HiddenSize]byte
	s.numbers.Decrypt(b[:], hidden)
	return int64(binary.BigEndian.Uint64(b[:])), true
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

// Seal returns a cursor of a space for a scope.
func (s *Sealer) Seal(space Space, scope Scope, payload []byte, now time.Time) string {
	raw := make([]byte, 0, 8+len(scope)+len(payload)+sha256.Size)
	raw = binary.BigEndian.AppendUint64(raw, uint64(now.UnixMilli()))
	raw = append(raw, scope[:]...)
	raw = append(raw, payload...)
	raw = s.tag(raw, space.prefix, raw)
	return space.prefix + base64.RawURLEncoding.EncodeToString(raw)
}

// Open returns the payload of a cursor. A cursor that was not sealed here, in this space
// and for this scope, is invalid_cursor; one older than the space allows is
// cursor_expired.
func (s *Sealer) Open(space Space, scope Scope, cursor string, now time.Time) ([]byte, error) {
	payload, ok := s.verify(space, cursor)
	if !ok || len(payload) < 8+len(scope) || Scope(payload[8:24]) != scope {
		return nil, space.Invalid()
	}
	if made := time.UnixMilli(int64(binary.BigEndian.Uint64(payload))); now.Sub(made) > space.age {
		return nil, space.Expired()
	}
	return payload[8+len(scope):], nil
}

// Has reports whether a cursor has the prefix of this space.
func (sp Space) Has(cursor string) bool { return strings.HasPrefix(cursor, sp.prefix) }

// Age returns how long a cursor of the space is valid.
func (sp Space) Age() time.Duration { return sp.age }

// Invalid returns the error for a cursor that does not belong to its request.
func (sp Space) Invalid() error {
	return &pdpp.Error{
		Code: pdpp.CodeInvalidCursor, Param: sp.param,
		Message: "This cursor does not belong to this request. " + sp.ifInvalid,
	}
}

// Expired returns the error for a cursor that is too old.
func (sp Space) Expired() error {
	return &pdpp.Error{
		Code: pdpp.CodeCursorExpired, Param: sp.param,
		Message: "This cursor is too old. " + sp.ifExpired,
	}
}

// SealPosition returns the cursor that continues a record list after a position.
func (s *Sealer) SealPosition(scope Scope, at Position, now time.Time) string {
	return s.Seal(RecordPages, scope, appendPosition(nil, &at), now)
}

// OpenPosition reads a cursor of a record list.
func (s *Sealer) OpenPosition(scope Scope, cursor string, now time.Time) (*Position, error) {
	payload, err := s.Open(RecordPages, scope, cursor, now)
	if err != nil {
		return nil, err
	}
	at := position(payload)
	if at == nil {
		return nil, RecordPages.Invalid()
	}
	return at, nil
}

func appendPosition(dst []byte, at *Position) []byte {
	dst = append(dst, byte(len(at.Connection)))
	dst = append(dst, at.Connection...)
	return append(dst, at.Key...)
}

// position reads what appendPosition wrote; nil for anything else.
func position(payload []byte) *Position {
	if len(payload) == 0 || len(payload) < 1+int(payload[0]) {
		return nil
	}
	n := 1 + int(payload[0])
	return &Position{Connection: pdpp.ConnectionID(payload[1:n]), Key: payload[n:]}
}

// verify decodes a cursor and checks its tag.
func (s *Sealer) verify(space Space, cursor string) ([]byte, bool) {
	text, ok := strings.CutPrefix(cursor, space.prefix)
	if !ok || len(cursor) > space.limit || strings.ContainsAny(text, "\r\n") { // base64 ignores line breaks
		return nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < sha256.Size {
		return nil, false
	}
	payload, tag := raw[:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
	return payload, hmac.Equal(tag, s.tag(nil, space.prefix, payload))
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

package as

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"time"

	"pdpp/internal/secret"
	"pdpp/internal/store"
)

const codeLife = 60 * time.Second

// codeBody is the body of an EntryCode, whose key is the hash of the code and whose parent is
// the request.
type codeBody struct {
	params
	Access    access    `json:"access"`
	ExpiresAt time.Time `json:"expires_at"`
	Used      bool      `json:"used,omitempty"`
	Family    string    `json:"family,omitempty"` // of the tokens that were issued for it
}

// newCode issues a code for an approved request. It returns the code and its key.
func newCode(tx store.Tx, o *openRequest, now time.Time) (code, key string, err error) {
	code = secret.Token("pdpp_ac_")
	key = secret.Hash(code)
	end := now.Add(codeLife)
	return code, key, write(tx, store.Entry{
		Kind: store.EntryCode, Key: key, Subject: o.entry.Subject, Parent: o.entry.Key, CreatedAt: now, DeleteAfter: end.Add(keepEnded),
	}, codeBody{params: o.body.params, Access: o.body.Access, ExpiresAt: end})
}

// redemption is the request of a client for the tokens of a code.
type redemption struct {
	code, verifier, redirectURI string
	client                      *Client
	requested                   []string // audiences
}

var errCode = invalidGrant("The code is unknown, expired, already used, or of another request. Ask the owner to approve again.")

// redeem issues the tokens of a code (H-161). The first use of a code spends it, whatever the
// result; a second use revokes what the first one was given. A refusal is not returned as err,
// because the changes of a refused request must be committed.
func (s *Server) redeem(tx store.Tx, in redemption) (answer *tokenAnswer, refused, err error) {
	now := s.now()
	e, c, err := read[codeBody](tx, store.EntryCode, secret.Hash(in.code))
	if isMissing(err) {
		return nil, errCode, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if c.Used {
		s.Log.Warn("a code was used twice; its tokens are revoked", "client", string(c.Client), "access", c.Access.id())
		return nil, errCode, endReused(tx, c, now)
	}
	c.Used = true
	if refused = c.check(in, now); refused != nil {
		return nil, refused, write(tx, e, c)
	}
	audience, refused := narrowed(c.Audience, in.requested)
	if refused != nil {
		return nil, refused, write(tx, e, c)
	}
	r, err := c.Access.load(tx, e.Subject, now)
	if errors.Is(err, errEnded) {
		return nil, errCode, write(tx, e, c)
	}
	if err != nil {
		return nil, nil, err
	}
	f := &family{access: c.Access, Client: c.Client, Audience: c.Audience, NoRenew: !in.client.allows(grantRefresh)}
	if err := newFamily(tx, e.Subject, f, now); err != nil {
		return nil, nil, err
	}
	c.Family = f.entry.Key
	if err := write(tx, e, c); err != nil {
		return nil, nil, err
	}
	answer, err = f.issue(tx, r, audience, 1, now)
	return answer, nil, err
}

// check compares a code with the request for its tokens.
func (c *codeBody) check(in redemption, now time.Time) error {
	isOwn := c.Client == in.client.ID && c.RedirectURI == in.redirectURI
	// A client document may have dropped the redirect URI since (H-155).
	isRegistered := matchRedirect(in.client.RedirectURIs, c.RedirectURI)
	if !isOwn || !isRegistered || !now.Before(c.ExpiresAt) || !isVerifier(in.verifier) || !verifies(in.verifier, c.Challenge) {
		return errCode
	}
	return nil
}

// verifies reports whether a code verifier belongs to an S256 challenge (RFC 7636 §4.6).
func verifies(verifier, challenge string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}

// endReused revokes what was issued for a code that is used again.
func endReused(tx store.Tx, c *codeBody, now time.Time) error {
	if c.Family == "" {
		return nil
	}
	f, err := findFamily(tx, c.Family)
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.endWithAccess(tx, EndedByReuse, now)
}

// codeUnused reports whether a code has not been used yet and has not expired.
func codeUnused(v store.Entries, key string, now time.Time) (bool, error) {
	_, c, err := read[codeBody](v, store.EntryCode, key)
	if isMissing(err) {
		return false, nil
	}
	return err == nil && !c.Used && now.Before(c.ExpiresAt), err
}

package as

import (
	"errors"
	"time"

	"pdpp"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

// The rules of rotation.
const (
	// replayWindow is how long after its rotation a refresh token may be presented again, at
	// most maxReplays times, while no successor has been used (H-164).
	replayWindow = 30 * time.Second
	maxReplays   = 2

	// supersededLife is how long a superseded refresh token is remembered, to recognize it.
	supersededLife = 30 * 24 * time.Hour
)

// refreshBody is the body of an EntryRefresh, whose key is the hash of the token and whose
// parent is its family.
type refreshBody struct {
	Generation int       `json:"generation"`
	ExpiresAt  time.Time `json:"expires_at"`
	RotatedAt  time.Time `json:"rotated_at,omitzero"` // zero: current
	Replays    int       `json:"replays,omitempty"`
}

var (
	errRefresh = invalidGrant("The refresh token is unknown, expired or revoked. Ask the owner to approve again.")
	errReplay  = &oauthError{
		status: errRefresh.status, code: errRefresh.code, failure: true, fresh: true,
		description: "The refresh token was used before, so all tokens of this authorization were revoked. Ask the owner to approve again.",
	}
)

// refresh rotates a refresh token (H-163, H-164). A refusal is not returned as err,
// because the changes of a refused request must be committed.
func (s *Server) refresh(tx store.Tx, token string, client pdpp.ClientID, requested []string) (answer *tokenAnswer, refused, err error) {
	now := s.now()
	e, t, err := read[refreshBody](tx, store.EntryRefresh, secret.Hash(token))
	if isMissing(err) {
		return nil, errRefresh, nil
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := findFamily(tx, e.Parent)
	switch {
	case isMissing(err):
		return nil, errRefresh, nil
	case err != nil:
		return nil, nil, err
	case f.Client != client || !now.Before(t.ExpiresAt):
		return nil, errRefresh, nil
	case f.Ended == EndedByReplay:
		return nil, errReplay, nil
	case f.Ended != "":
		return nil, errRefresh, nil
	}
	audience, err := narrowed(f.Audience, requested)
	if err != nil {
		return nil, err, nil
	}
	if !t.mayRotate(f, now) {
		s.Log.Warn("a superseded refresh token was used; its tokens are revoked", "client", string(f.Client), "access", f.id())
		return nil, errReplay, f.end(tx, EndedByReplay, now)
	}
	if err := s.countRefresh(f); err != nil {
		return nil, nil, err
	}
	r, err := f.load(tx, f.entry.Subject, now)
	if errors.Is(err, errEnded) || err == nil && !r.continuous {
		return nil, errRefresh, f.end(tx, EndedByRevocation, now)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := rotate(tx, e, t, now); err != nil {
		return nil, nil, err
	}
	f.Used = max(f.Used, t.Generation)
	if err := f.save(tx, now); err != nil {
		return nil, nil, err
	}
	answer, err = f.issue(tx, r, audience, t.Generation+1, now)
	return answer, nil, err
}

// countRefresh limits how often a family is renewed, like the use of a token (H-67): each
// time adds rows, which are kept for weeks.
func (s *Server) countRefresh(f *family) error {
	key := pdpp.TokenID(f.entry.Key)
	if err := s.Limiter.Acquire(key); err != nil {
		return err
	}
	s.Limiter.Release(key)
	return nil
}

// mayRotate reports whether a refresh token is current, or may be presented once more
// (H-164).
func (t *refreshBody) mayRotate(f *family, now time.Time) bool {
	if t.RotatedAt.IsZero() {
		return true
	}
	return f.Used == t.Generation && now.Sub(t.RotatedAt) <= replayWindow && t.Replays < maxReplays
}

// rotate marks a refresh token as superseded, or counts its replay.
func rotate(tx store.Tx, e store.Entry, t *refreshBody, now time.Time) error {
	if t.RotatedAt.IsZero() {
		t.RotatedAt = now
		e.DeleteAfter = now.Add(supersededLife)
	} else {
		t.Replays++
	}
	return write(tx, e, t)
}

package signin

import (
	"context"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// passwordBody is the body of a password entry. Its key is the id of the owner.
type passwordBody struct {
	Hash string `json:"hash"`
}

// errWrong is the answer to a wrong password, and to the name of an unknown owner.
var errWrong = &pdpp.Error{
	Code: pdpp.CodeAuthentication, Param: "password", Message: "The name or the password is wrong. Check both, and try again.",
}

// Password signs an owner in by name and password. The name may be empty if there is only
// one owner. It returns the value of the session cookie, and the number of failed attempts
// since the last sign-in. A wrong name or password is CodeAuthentication; too many guesses
// are CodeRateLimited, and too many at once CodeOverloaded, both with RetryAfter (H-177).
func (s *Service) Password(ctx context.Context, name, password string, v Visitor) (cookie string, failures int, err error) {
	subject, err := s.ownerNamed(ctx, name)
	if err != nil {
		return "", 0, err
	}
	hash, err := s.guess(ctx, guesserOf(subject, name, v), password)
	if err != nil {
		return "", 0, err
	}
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		if err := s.confirmGuess(tx, guesserOf(subject, name, v), hash); err != nil {
			return err
		}
		cookie, failures, err = s.startSession(tx, subject, v, ByPassword)
		return err
	})
	if err != nil {
		return "", 0, err
	}
	return cookie, failures, nil
}

// ownerNamed returns the owner with a name, or the only one; "" when there is none.
func (s *Service) ownerNamed(ctx context.Context, name string) (found pdpp.SubjectID, err error) {
	err = s.Store.View(ctx, func(v store.View) error {
		owners, err := v.Subjects()
		for _, o := range owners {
			if o.Name == name || name == "" && len(owners) == 1 {
				found = o.ID
			}
		}
		return err
	})
	return found, err
}

// guess verifies a password, and returns its stored hash. It does the same work and returns
// the same error when there is no such owner or no password.
func (s *Service) guess(ctx context.Context, g guesser, password string) (hash string, err error) {
	if err := s.hashes.enter(ctx); err != nil {
		return "", err
	}
	defer s.hashes.leave()
	if err := s.countGuess(ctx, g); err != nil {
		return "", err
	}
	err = s.Store.View(ctx, func(v store.View) error {
		hash, err = passwordHash(v, g.subject)
		return err
	})
	if err != nil {
		return "", err
	}
	try := hash
	if try == "" {
		try = s.noPassword
	}
	right, err := verifyPassword(password, try)
	if err != nil {
		return "", err
	}
	if !right || hash == "" {
		s.Log.Info("a sign-in failed", "owner", string(g.subject))
		return "", errWrong
	}
	return hash, nil
}

// confirmGuess forgives a guess that was right, unless the password was changed meanwhile.
func (s *Service) confirmGuess(tx store.Tx, g guesser, hash string) error {
	current, err := passwordHash(tx, g.subject)
	if err != nil {
		return err
	}
	if current != hash {
		return errWrong
	}
	return s.forgiveGuess(tx, g, s.Clock())
}

// passwordHash returns the hash of an owner's password; "" when there is none.
func passwordHash(v store.Entries, subject pdpp.SubjectID) (string, error) {
	b, _, err := load[passwordBody](v, store.EntryPassword, string(subject))
	return b.Hash, err
}

func putPassword(tx store.Tx, subject pdpp.SubjectID, hash string, now time.Time) error {
	return put(tx, store.Entry{Kind: store.EntryPassword, Key: string(subject), Subject: subject, CreatedAt: now}, passwordBody{hash})
}

// HasPassword reports whether an owner has a password.
func (s *Service) HasPassword(ctx context.Context, subject pdpp.SubjectID) (has bool, err error) {
	err = s.Store.View(ctx, func(v store.View) error {
		hash, err := passwordHash(v, subject)
		has = hash != ""
		return err
	})
	return has, err
}

// CanSignIn reports whether an owner has a password or a passkey. Otherwise only a code of
// the first run, a link or Reset lets the owner in (H-13).
func (s *Service) CanSignIn(ctx context.Context, subject pdpp.SubjectID) (can bool, err error) {
	err = s.Store.View(ctx, func(v store.View) error {
		can, err = canSignIn(v, subject)
		return err
	})
	return can, err
}

// FirstRunOwners returns the owners for whom CanSignIn is false.
func FirstRunOwners(ctx context.Context, st store.Store) (list []store.Subject, err error) {
	err = st.View(ctx, func(v store.View) error {
		owners, err := v.Subjects()
		if err != nil {
			return err
		}
		for _, o := range owners {
			can, err := canSignIn(v, o.ID)
			if err != nil {
				return err
			}
			if !can {
				list = append(list, o)
			}
		}
		return nil
	})
	return list, err
}

func canSignIn(v store.View, subject pdpp.SubjectID) (bool, error) {
	hash, err := passwordHash(v, subject)
	if err != nil || hash != "" {
		return err == nil, err
	}
	passkeys, err := v.EntriesOf(store.EntryPasskey, subject)
	return len(passkeys) > 0, err
}

// SetFirstPassword sets the password of an owner who cannot sign in yet. Otherwise it
// changes nothing and returns false.
func (s *Service) SetFirstPassword(ctx context.Context, subject pdpp.SubjectID, password string) (set bool, err error) {
	hash, err := s.hashes.hash(ctx, password)
	if err != nil {
		return false, err
	}
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		can, err := canSignIn(tx, subject)
		if err != nil || can {
			return err
		}
		set = true
		return putPassword(tx, subject, hash, s.Clock())
	})
	return set && err == nil, err
}

const recentSignIn = 10 * time.Minute

// IsRecent reports whether the owner signed in during the last ten minutes.
func (s *Service) IsRecent(in *Session) bool { return s.Clock().Before(in.CreatedAt.Add(recentSignIn)) }

// Confirm checks, before a change that outlives the session, that the owner is present: by
// the password or, for an owner without one, by a recent sign-in (IsRecent). Guesses
// count as in Password.
func (s *Service) Confirm(ctx context.Context, in *Session, password string, v Visitor) error {
	has, err := s.HasPassword(ctx, in.Subject)
	if err != nil {
		return err
	}
	if !has {
		if s.IsRecent(in) {
			return nil
		}
		return pdpp.Errorf(pdpp.CodePermission, "You signed in too long ago for this. Sign out, sign in again, and repeat it.")
	}
	g := guesserOf(in.Subject, "", v)
	hash, err := s.guess(ctx, g, password)
	if err == errWrong {
		return &pdpp.Error{Code: pdpp.CodeAuthentication, Param: "current", Message: "The current password is wrong. Try again."}
	}
	if err != nil {
		return err
	}
	return s.Store.Update(ctx, func(tx store.Tx) error { return s.confirmGuess(tx, g, hash) })
}

// ChangePassword sets another password, after Confirm with the current one, and ends all
// other sessions of the owner (H-179). An owner without a password gets one in this way.
func (s *Service) ChangePassword(ctx context.Context, in *Session, current, next string, v Visitor) error {
	if err := CheckPassword(next); err != nil {
		return err
	}
	if err := s.Confirm(ctx, in, current, v); err != nil {
		return err
	}
	hash, err := s.hashes.hash(ctx, next)
	if err != nil {
		return err
	}
	return s.Store.Update(ctx, func(tx store.Tx) error {
		if err := putPassword(tx, in.Subject, hash, s.Clock()); err != nil {
			return err
		}
		if _, err := deleteAll(tx, store.EntryLink, in.Subject); err != nil {
			return err
		}
		_, err := endSessions(tx, in.Subject, func(b sessionBody) bool { return b.ID != in.ID })
		return err
	})
}

// ResetResult is what Reset ended and left.
type ResetResult struct {
	Sessions        int // that were ended
	RemovedPasskeys int
	Passkeys        int // that are left
}

// Reset sets the password of an owner who is locked out. It ends all sessions and links of
// the owner and forgets failed attempts; it removes passkeys if asked. It is for commands,
// which have the store but no Service.
func Reset(ctx context.Context, st store.Store, subject pdpp.SubjectID, password string, removePasskeys bool, now time.Time) (r ResetResult, err error) {
	if err := CheckPassword(password); err != nil {
		return r, err
	}
	hash := hashPassword(password)
	err = st.Update(ctx, func(tx store.Tx) error {
		r = ResetResult{}
		if err := putPassword(tx, subject, hash, now); err != nil {
			return err
		}
		if r.Sessions, err = deleteAll(tx, store.EntrySession, subject); err != nil {
			return err
		}
		for _, kind := range []store.EntryKind{store.EntryLink, store.EntryThrottle, store.EntryCeremony} {
			if _, err := deleteAll(tx, kind, subject); err != nil {
				return err
			}
		}
		if removePasskeys {
			r.RemovedPasskeys, err = deleteAll(tx, store.EntryPasskey, subject)
			return err
		}
		left, err := tx.EntriesOf(store.EntryPasskey, subject)
		r.Passkeys = len(left)
		return err
	})
	return r, err
}

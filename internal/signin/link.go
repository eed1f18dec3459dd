package signin

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"time"

	"pdpp"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

// A LinkPurpose is what a one-time link is for.
type LinkPurpose string

// The purposes of links.
const (
	// LinkFirstRun sets the first password of an owner who cannot sign in yet (H-13).
	LinkFirstRun LinkPurpose = "first run"
	// LinkSignIn signs an owner in.
	LinkSignIn LinkPurpose = "sign in"
)

// FirstRunLife is how long the code of a first run is valid (H-13).
const FirstRunLife = 60 * time.Minute

const linkBytes = 16

// linkBody is the body of a link entry. Its key is the hash of the code.
type linkBody struct {
	Purpose   LinkPurpose `json:"purpose"`
	ExpiresAt time.Time   `json:"expires_at"`
}

// errNoLink is the answer to a code that cannot be used. It does not say why.
var errNoLink = pdpp.Errorf(pdpp.CodeNotFound, "This link has been used or has expired. The server prints a new one when it starts.")

// NewLink returns the code of a new one-time link that signs an owner in. An owner has one
// link of each purpose: the former one is no longer valid.
func (s *Service) NewLink(ctx context.Context, subject pdpp.SubjectID, purpose LinkPurpose, ttl time.Duration) (code string, err error) {
	code = base64.RawURLEncoding.EncodeToString(secret.Key(linkBytes))
	now := s.Clock()
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		err := each(tx, store.EntryLink, subject, func(former store.Entry, b linkBody) error {
			if b.Purpose != purpose {
				return nil
			}
			return tx.DeleteEntry(store.EntryLink, former.Key)
		})
		if err != nil {
			return err
		}
		ends := now.Add(ttl)
		return put(tx, store.Entry{
			Kind: store.EntryLink, Key: secret.Hash(code), Subject: subject, CreatedAt: now, DeleteAfter: ends,
		}, linkBody{purpose, ends})
	})
	return code, err
}

// CheckLink returns the owner of a code that can be used now, without using it;
// CodeNotFound for any other code.
func (s *Service) CheckLink(ctx context.Context, code string, purpose LinkPurpose) (subject pdpp.SubjectID, err error) {
	err = s.Store.View(ctx, func(v store.View) error {
		subject, err = findLink(v, code, purpose, s.Clock())
		return err
	})
	return subject, err
}

// findLink returns the owner of a valid code. The code of a first run is valid only while
// the owner cannot sign in otherwise.
func findLink(v store.View, code string, purpose LinkPurpose, now time.Time) (pdpp.SubjectID, error) {
	e, err := v.Entry(store.EntryLink, secret.Hash(code))
	if pdpp.CodeOf(err) == pdpp.CodeNotFound {
		return "", errNoLink
	}
	if err != nil {
		return "", err
	}
	var b linkBody
	if err := json.Unmarshal(e.Body, &b); err != nil {
		return "", err
	}
	if b.Purpose != purpose || !now.Before(b.ExpiresAt) {
		return "", errNoLink
	}
	if purpose == LinkFirstRun {
		if can, err := canSignIn(v, e.Subject); err != nil || can {
			return "", orNoLink(err)
		}
	}
	return e.Subject, nil
}

func orNoLink(err error) error {
	if err != nil {
		return err
	}
	return errNoLink
}

// takeLink finds a link like findLink and removes it, so that it works once.
func takeLink(tx store.Tx, code string, purpose LinkPurpose, now time.Time) (pdpp.SubjectID, error) {
	subject, err := findLink(tx, code, purpose, now)
	if err != nil {
		return "", err
	}
	return subject, tx.DeleteEntry(store.EntryLink, secret.Hash(code))
}

// UseLink signs the owner of a link in, once. It returns the value of the session cookie.
func (s *Service) UseLink(ctx context.Context, code string, v Visitor) (cookie string, subject pdpp.SubjectID, err error) {
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		if subject, err = takeLink(tx, code, LinkSignIn, s.Clock()); err != nil {
			return err
		}
		cookie, _, err = s.startSession(tx, subject, v, ByLink)
		return err
	})
	if err != nil {
		return "", "", err
	}
	return cookie, subject, nil
}

// FirstRun sets the first password of an owner with the code that the server printed, and
// signs the owner in (H-13). A password that is refused does not use the code up.
func (s *Service) FirstRun(ctx context.Context, code, password string, v Visitor) (cookie string, err error) {
	if _, err := s.CheckLink(ctx, code, LinkFirstRun); err != nil { // a hash is expensive
		return "", err
	}
	hash, err := s.hashes.hash(ctx, password)
	if err != nil {
		return "", err
	}
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		subject, err := takeLink(tx, code, LinkFirstRun, s.Clock())
		if err != nil {
			return err
		}
		if err := putPassword(tx, subject, hash, s.Clock()); err != nil {
			return err
		}
		cookie, _, err = s.startSession(tx, subject, v, ByFirstRun)
		return err
	})
	if err != nil {
		return "", err
	}
	return cookie, nil
}

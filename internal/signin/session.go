package signin

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

// The life of a session (H-175).
const (
	sessionIdle  = 24 * time.Hour
	sessionLife  = 7 * 24 * time.Hour
	seenInterval = time.Minute // the use of a session is written at most this often
)

const maxUserAgent = 200 // characters

// A Method is a way to sign in.
type Method string

// The ways to sign in.
const (
	ByPassword Method = "password"
	ByPasskey  Method = "passkey"
	ByFirstRun Method = "first run"
	ByLink     Method = "link"
)

// Session is a browser in which an owner is signed in.
type Session struct {
	ID        string // not the value of the cookie; it may be shown
	Subject   pdpp.SubjectID
	Owner     string // the name of the owner
	CreatedAt time.Time
	SeenAt    time.Time // to the minute
	Address   string
	UserAgent string
	Method    Method
}

// sessionBody is the body of a session entry.
type sessionBody struct {
	ID        string    `json:"id"`
	SeenAt    time.Time `json:"seen_at"`
	Address   string    `json:"address"`
	UserAgent string    `json:"user_agent"`
	Method    Method    `json:"method"`
}

// isLive reports whether a session has not expired.
func isLive(e store.Entry, b sessionBody, now time.Time) bool {
	return now.Before(e.CreatedAt.Add(sessionLife)) && now.Before(b.SeenAt.Add(sessionIdle))
}

func sessionOf(e store.Entry, b sessionBody, owner string) *Session {
	return &Session{
		ID: b.ID, Subject: e.Subject, Owner: owner, CreatedAt: e.CreatedAt, SeenAt: b.SeenAt,
		Address: b.Address, UserAgent: b.UserAgent, Method: b.Method,
	}
}

// errNoSession is the answer to a cookie without a session, whether it never had one or the
// session has ended.
var errNoSession = pdpp.Errorf(pdpp.CodeAuthentication, "You are not signed in, or your session has ended. Sign in again.")

// startSession signs an owner in and returns the value of a new session cookie, and the
// number of failed attempts since the last sign-in. The value never comes from the browser,
// so that nobody can prepare a session for somebody else.
func (s *Service) startSession(tx store.Tx, subject pdpp.SubjectID, v Visitor, m Method) (cookie string, failures int, err error) {
	now := s.Clock()
	if failures, err = s.recordSignIn(tx, guesserOf(subject, "", v), now); err != nil {
		return "", 0, err
	}
	cookie = secret.Token("")
	body := sessionBody{ID: secret.ID("ses_"), SeenAt: now, UserAgent: cleanText(v.UserAgent, maxUserAgent), Method: m}
	if v.Address.IsValid() {
		body.Address = v.Address.String()
	}
	e := store.Entry{
		Kind: store.EntrySession, Key: secret.Hash(cookie), Subject: subject, CreatedAt: now, DeleteAfter: now.Add(sessionLife),
	}
	return cookie, failures, put(tx, e, body)
}

// Session returns the session of a cookie, and records that it is used; CodeAuthentication
// when there is none.
func (s *Service) Session(ctx context.Context, cookie string) (*Session, error) {
	if cookie == "" {
		return nil, errNoSession
	}
	now := s.Clock()
	var found *Session
	err := s.Store.View(ctx, func(v store.View) (err error) {
		found, err = findSession(v, cookie, now)
		return err
	})
	if err != nil || now.Before(found.SeenAt.Add(seenInterval)) {
		return found, err
	}
	if err := s.touch(ctx, cookie, now); err != nil {
		// The session is valid; without the record it only ends earlier.
		s.Log.Warn("the use of a session was not recorded", "session", found.ID, "code", string(pdpp.CodeOf(err)))
	}
	return found, nil
}

// findSession finds the live session of a cookie; errNoSession when there is none.
func findSession(v store.View, cookie string, now time.Time) (*Session, error) {
	e, err := v.Entry(store.EntrySession, secret.Hash(cookie))
	if pdpp.CodeOf(err) == pdpp.CodeNotFound {
		return nil, errNoSession
	}
	if err != nil {
		return nil, err
	}
	var b sessionBody
	if err := json.Unmarshal(e.Body, &b); err != nil {
		return nil, err
	}
	if !isLive(e, b, now) {
		return nil, errNoSession
	}
	owner, _, err := ownerBy(v, func(o store.Subject) bool { return o.ID == e.Subject })
	return sessionOf(e, b, owner.Name), err
}

// touch records the use of a session that still exists.
func (s *Service) touch(ctx context.Context, cookie string, now time.Time) error {
	return s.Store.Update(ctx, func(tx store.Tx) error {
		e, err := tx.Entry(store.EntrySession, secret.Hash(cookie))
		if pdpp.CodeOf(err) == pdpp.CodeNotFound {
			return nil // it has just ended
		}
		if err != nil {
			return err
		}
		var b sessionBody
		if err := json.Unmarshal(e.Body, &b); err != nil {
			return err
		}
		b.SeenAt = now
		return put(tx, e, b)
	})
}

// SignOut ends the session of a cookie. It is no error if there is none.
func (s *Service) SignOut(ctx context.Context, cookie string) error {
	return s.Store.Update(ctx, func(tx store.Tx) error { return tx.DeleteEntry(store.EntrySession, secret.Hash(cookie)) })
}

// Sessions lists the live sessions of an owner, the last used first.
func (s *Service) Sessions(ctx context.Context, subject pdpp.SubjectID) ([]Session, error) {
	var list []Session
	err := s.Store.View(ctx, func(v store.View) error {
		owner, _, err := ownerBy(v, func(o store.Subject) bool { return o.ID == subject })
		if err != nil {
			return err
		}
		return each(v, store.EntrySession, subject, func(e store.Entry, b sessionBody) error {
			if isLive(e, b, s.Clock()) {
				list = append(list, *sessionOf(e, b, owner.Name))
			}
			return nil
		})
	})
	slices.SortStableFunc(list, func(a, b Session) int { return b.SeenAt.Compare(a.SeenAt) })
	return list, err
}

// EndSession ends a session of an owner; CodeNotFound when the owner has no such session.
func (s *Service) EndSession(ctx context.Context, subject pdpp.SubjectID, id string) error {
	ended := 0
	err := s.Store.Update(ctx, func(tx store.Tx) (err error) {
		ended, err = endSessions(tx, subject, func(b sessionBody) bool { return b.ID == id })
		return err
	})
	if err == nil && ended == 0 {
		err = pdpp.Errorf(pdpp.CodeNotFound, "There is no such session, or it has already ended. Reload the page to see the others.")
	}
	return err
}

// endSessions ends the sessions of an owner that match, and returns how many.
func endSessions(tx store.Tx, subject pdpp.SubjectID, match func(sessionBody) bool) (ended int, err error) {
	err = each(tx, store.EntrySession, subject, func(e store.Entry, b sessionBody) error {
		if !match(b) {
			return nil
		}
		ended++
		return tx.DeleteEntry(store.EntrySession, e.Key)
	})
	return ended, err
}

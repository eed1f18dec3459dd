package signin

import (
	"context"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// The limits of password guessing (H-177).
const (
	freeFailures  = 5 // of one owner from one address
	failureMemory = 15 * time.Minute
	firstWait     = 30 * time.Second
	longestWait   = 15 * time.Minute
	ownerFailures = 50 // of one owner from all addresses that are not known
	ownerWindow   = time.Hour
	knownFor      = 30 * 24 * time.Hour // after a sign-in from an address
)

// guessesOfAddress limits the failures of one address, whatever names it tries: every guess
// costs a hash.
var guessesOfAddress = Limit{Name: "guesses", Max: 60, Window: 15 * time.Minute}

// guesser is an address that tries passwords of one owner.
type guesser struct {
	owner   string         // the id of the owner, or the name of an unknown one
	subject pdpp.SubjectID // "" for an unknown one
	address string
}

func guesserOf(subject pdpp.SubjectID, name string, v Visitor) guesser {
	g := guesser{owner: "id " + string(subject), subject: subject, address: AddressKey(v.Address)}
	if subject == "" {
		g.owner = "name " + name
	}
	return g
}

// addressGuesses is the body of the entry that counts failures of an owner from one address.
type addressGuesses struct {
	attempts
	Forget time.Time `json:"forget"` // when the count is forgotten
}

// ownerGuesses is the body of the entry that counts failures of an owner.
type ownerGuesses struct {
	attempts
	Failures int `json:"failures"` // since the last sign-in, from all addresses
}

// countGuess counts a guess as a failure, before it is known whether it is one. It fails
// with CodeRateLimited, and counts nothing, while this address or all addresses have to wait.
func (s *Service) countGuess(ctx context.Context, g guesser) error {
	now := s.Clock()
	return s.Store.Update(ctx, func(tx store.Tx) error {
		known, err := s.isKnown(tx, g, now)
		if err != nil {
			return err
		}
		if err := s.count(tx, guessesOfAddress, g.address); err != nil {
			return err
		}
		if err := s.countAtAddress(tx, g, now); err != nil {
			return err
		}
		return s.countAtOwner(tx, g, now, known)
	})
}

// countAtAddress counts a guess of one address at the password of one owner. The fifth failure
// causes a wait, and every further one doubles it. The count is forgotten after 15 minutes
// without a guess or a wait.
func (s *Service) countAtAddress(tx store.Tx, g guesser, now time.Time) error {
	id := s.throttleID("password", g.owner, g.address)
	a, _, err := load[addressGuesses](tx, store.EntryThrottle, id)
	if err != nil {
		return err
	}
	if !now.Before(a.Forget) {
		a = addressGuesses{}
	}
	if now.Before(a.Until) {
		return tooMany(a.Until.Sub(now))
	}
	a.Count++
	a.Until = now
	if over := a.Count - freeFailures; over >= 0 {
		a.Until = now.Add(min(longestWait, firstWait<<min(over, 10)))
	}
	a.Forget = a.Until.Add(failureMemory)
	return put(tx, store.Entry{Kind: store.EntryThrottle, Key: id, Subject: g.subject, CreatedAt: now, DeleteAfter: a.Forget}, a)
}

// countAtOwner counts a guess at the password of one owner from any address. The limit does
// not apply to addresses from
// which the owner has signed in, so that others cannot lock the owner out.
func (s *Service) countAtOwner(tx store.Tx, g guesser, now time.Time, known bool) error {
	id := s.throttleID("owner", g.owner)
	o, _, err := load[ownerGuesses](tx, store.EntryThrottle, id)
	if err != nil {
		return err
	}
	if !now.Before(o.Until) {
		o.attempts = attempts{Until: now.Add(ownerWindow)}
	}
	if !known && o.Count >= ownerFailures {
		return tooMany(o.Until.Sub(now))
	}
	if !known {
		o.Count++
	}
	o.Failures++
	return s.putOwnerGuesses(tx, g, o, now)
}

func (s *Service) putOwnerGuesses(tx store.Tx, g guesser, o ownerGuesses, now time.Time) error {
	e := store.Entry{Kind: store.EntryThrottle, Key: s.throttleID("owner", g.owner), Subject: g.subject, CreatedAt: now}
	if g.subject == "" {
		e.DeleteAfter = o.Until // an owner has one entry, but the number of tried names is unbounded
	}
	return put(tx, e, o)
}

// isKnown reports whether the owner has signed in from the address in the last 30 days.
func (s *Service) isKnown(tx store.Tx, g guesser, now time.Time) (bool, error) {
	e, err := tx.Entry(store.EntryThrottle, s.throttleID("known", g.owner, g.address))
	if pdpp.CodeOf(err) == pdpp.CodeNotFound {
		return false, nil
	}
	return now.Before(e.DeleteAfter), err
}

// forgiveGuess takes back a guess that was right, and forgets the failures of the address.
func (s *Service) forgiveGuess(tx store.Tx, g guesser, now time.Time) error {
	if err := s.uncount(tx, guessesOfAddress, g.address); err != nil {
		return err
	}
	if err := tx.DeleteEntry(store.EntryThrottle, s.throttleID("password", g.owner, g.address)); err != nil {
		return err
	}
	known, err := s.isKnown(tx, g, now)
	if err != nil {
		return err
	}
	o, _, err := load[ownerGuesses](tx, store.EntryThrottle, s.throttleID("owner", g.owner))
	if err != nil {
		return err
	}
	o.Failures = max(0, o.Failures-1)
	if !known {
		o.Count = max(0, o.Count-1)
	}
	return s.putOwnerGuesses(tx, g, o, now)
}

// recordSignIn records a sign-in: the address is known from now on, and the count of failures
// begins again. It returns the number of failures since the last sign-in.
func (s *Service) recordSignIn(tx store.Tx, g guesser, now time.Time) (failures int, err error) {
	o, _, err := load[ownerGuesses](tx, store.EntryThrottle, s.throttleID("owner", g.owner))
	if err != nil {
		return 0, err
	}
	failures, o.Failures = o.Failures, 0
	if err := s.putOwnerGuesses(tx, g, o, now); err != nil {
		return 0, err
	}
	return failures, put(tx, store.Entry{
		Kind: store.EntryThrottle, Key: s.throttleID("known", g.owner, g.address), Subject: g.subject, CreatedAt: now, DeleteAfter: now.Add(knownFor),
	}, struct{}{})
}

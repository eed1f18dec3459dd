package auth

import (
	"context"
	"errors"
	"net/http"
	"time"

	"pdpp"
	"pdpp/internal/activity"
	"pdpp/internal/httpx"
	"pdpp/internal/store"
)

// Config configures an Authenticator.
type Config struct {
	Store    store.Store
	Edge     *httpx.Edge // finds the address of a client
	Clock    func() time.Time
	Activity *activity.Recorder // records the use of tokens and refusals
}

// Authenticator authenticates the bearer tokens of all resources of a server. It is safe
// for concurrent use.
type Authenticator struct {
	Config
	throttle *httpx.Throttle
	reaches  reachCache
}

// New returns an Authenticator.
func New(cfg Config) *Authenticator {
	return &Authenticator{Config: cfg, throttle: httpx.NewThrottle(cfg.Clock)}
}

// Identity is the result of authenticating a token: its principal and what it may read.
type Identity struct {
	store.Principal
	Reach   *Reach   // what its grant or its owner can read; nil for a package
	Members []Member // members of a package, in their order
	Caller  *Caller  // identifies this request for reads inside the process; nil at /v1
}

// HolderKey returns a key that identifies who holds the token: a client of a subject, or
// the owner.
func (id *Identity) HolderKey() string {
	client := pdpp.ClientID("")
	switch {
	case id.Package != nil:
		client = id.Package.Client
	case id.Grant != nil:
		client = id.Grant.Client
	}
	return string(id.Subject) + " " + string(client)
}

// Authenticate authenticates the bearer of a request for a resource, in the order of
// C-20 and H-41: token, kind, audience and grant. An invalid token counts against the
// address of the client (H-68).
func (a *Authenticator) Authenticate(v store.View, r *http.Request, b Bearer, res *Resource) (Identity, error) {
	p, err := a.Token(v, b)
	if err != nil {
		a.refuseBearer(r, p, err)
		return Identity{}, a.throttled(r, err)
	}
	httpx.SetTokenID(r.Context(), p.ID)
	now := a.Clock()
	if err := res.check(p, now); err != nil {
		a.refuse(r, p, res, err)
		return Identity{}, res.mapError(err)
	}
	a.Activity.Use(p, now)
	id := Identity{Principal: p}
	if p.Package != nil {
		id.Members, err = a.members(v, p, b)
	} else {
		id.Reach, err = a.reach(v, p)
	}
	if err != nil {
		a.refuse(r, p, res, err)
	}
	return id, res.mapError(err)
}

// AuthenticateRequest authenticates a request for a resource in a snapshot of its own. A
// failure of the store says nothing about the token, so it is answered with 503, never
// 401 (H-44).
func (a *Authenticator) AuthenticateRequest(r *http.Request, res *Resource) (*Identity, error) {
	b, err := ParseBearer(r.Header)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), httpx.ReadTimeout)
	defer cancel()
	var id Identity
	var refused error
	err = a.Store.View(ctx, func(v store.View) error {
		id, refused = a.Authenticate(v, r, b, res)
		return refused
	})
	switch {
	case err == nil:
		id.Caller = &Caller{Bearer: b}
		return &id, nil
	case isAnswer(refused):
		return nil, refused
	case ctx.Err() != nil:
		return nil, err
	}
	return nil, uncheckedError(err)
}

// Token looks a bearer up and checks that the token is valid.
func (a *Authenticator) Token(v store.View, b Bearer) (store.Principal, error) {
	if !b.isWellFormed() {
		return store.Principal{}, errInvalid
	}
	p, err := v.Token(b.hash)
	switch {
	case pdpp.CodeOf(err) == pdpp.CodeNotFound:
		return p, errInvalid
	case err != nil:
		return p, &pdpp.Error{
			Code: pdpp.CodeUnavailable, RetryAfter: 1, Op: "token look-up", Err: err,
			Message: "The token could not be checked. Try again.",
		}
	case !p.Live(a.Clock()):
		return p, errInvalid
	}
	return p, nil
}

// throttled counts an invalid token against the address of the client. An address that
// is blocked for too many of them gets 429 instead (H-68).
func (a *Authenticator) throttled(r *http.Request, err error) error {
	if pdpp.CodeOf(err) != pdpp.CodeInvalidToken {
		return err
	}
	addr := a.Edge.ClientAddr(r)
	if blocked := a.throttle.Blocked(addr); blocked != nil {
		return blocked
	}
	a.throttle.Failed(addr)
	return err
}

// isAnswer reports whether err is an answer about the token: a pdpp.Error, but not that
// of a busy store.
func isAnswer(err error) bool {
	var e *pdpp.Error
	return errors.As(err, &e) && e.Code != pdpp.CodeBusy
}

// uncheckedError returns the 503 for a failure of the store during authentication.
func uncheckedError(err error) error {
	return &pdpp.Error{
		Code: pdpp.CodeUnavailable, RetryAfter: 1, Op: "authentication", Err: err,
		Message: "The rights of this token could not be checked. Try again.",
	}
}

package credential

import (
	"context"
	"time"

	"pdpp"
	"pdpp/internal/oauth"
)

// Exchanger obtains the tokens of one member of the held package by token exchange (H-165,
// H-186). They are kept in memory only. It is safe for concurrent use.
type Exchanger struct {
	holder *Holder
	member pdpp.GrantID

	lock    chan struct{} // a mutex for the fields below that can wait for a context
	token   string
	expires time.Time // zero: unknown
	gone    bool      // the provider refused this member with a valid token of the package
}

// Exchange returns the source of tokens for a member of the held package.
func (h *Holder) Exchange(member pdpp.GrantID) *Exchanger {
	return &Exchanger{holder: h, member: member, lock: make(chan struct{}, 1)}
}

func (e *Exchanger) acquire(ctx context.Context) error {
	select {
	case e.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *Exchanger) release() { <-e.lock }

// IsGone reports whether the grant of the member has ended.
func (e *Exchanger) IsGone(ctx context.Context) bool {
	if e.acquire(ctx) != nil {
		return false
	}
	defer e.release()
	return e.gone
}

// Token returns the token for the next read. The error is CodeGrantRevoked when the grant
// of the member has ended, or that of the package's credential.
func (e *Exchanger) Token(ctx context.Context) (string, error) {
	if err := e.acquire(ctx); err != nil {
		return "", err
	}
	defer e.release()
	now := e.holder.cache.Now()
	if e.token != "" && (e.expires.IsZero() || now.Add(renewAhead).Before(e.expires)) {
		return e.token, nil
	}
	err := e.obtain(ctx)
	if err != nil && (e.token == "" || !now.Before(e.expires)) {
		return "", err
	}
	return e.token, nil
}

// Renew returns another token after the server rejected stale. ok is false when there is
// none.
func (e *Exchanger) Renew(ctx context.Context, stale string) (token string, ok bool, err error) {
	if err := e.acquire(ctx); err != nil {
		return "", false, err
	}
	defer e.release()
	if e.token == stale {
		e.token = ""
		if err := e.obtain(ctx); err != nil {
			return "", false, ctx.Err()
		}
	}
	return e.token, e.token != "", nil
}

// obtain exchanges the token of the package. A refusal may be about either of them: it
// counts for the member only with a token of the package that was just renewed.
func (e *Exchanger) obtain(ctx context.Context) error {
	if e.gone {
		return e.ended()
	}
	cred, err := e.holder.fresh(ctx)
	if err != nil {
		return err
	}
	t, err := e.request(ctx, cred)
	if oauth.IsRefusal(err, "invalid_grant") {
		if cred, err = e.holder.renewed(ctx, cred.Token); err != nil {
			return err
		}
		if t, err = e.request(ctx, cred); oauth.IsRefusal(err, "invalid_grant") {
			e.gone, e.token = true, ""
			return e.ended()
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := cred.checkToken(t, err); err != nil {
		return err
	}
	e.token, e.expires = t.AccessToken, expiryOf(t, e.holder.cache.Now())
	return nil
}

func (e *Exchanger) request(ctx context.Context, cred *Credential) (*oauth.Token, error) {
	return e.holder.cache.oauth().Exchange(ctx, cred.TokenEndpoint, cred.ClientID, cred.Token, e.member)
}

func (e *Exchanger) ended() error {
	return pdpp.Errorf(pdpp.CodeGrantRevoked, "The grant %s of the package has ended. Connect again to ask for a new one.", e.member)
}

// renewed returns the credential with another token than stale.
func (h *Holder) renewed(ctx context.Context, stale string) (*Credential, error) {
	if err := h.acquire(ctx); err != nil {
		return nil, err
	}
	defer h.release()
	if h.current.Token == stale {
		if err := h.renew(ctx, stale); err != nil {
			return nil, err
		}
	}
	return h.current, nil
}

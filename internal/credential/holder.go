package credential

import (
	"context"
	"slices"

	"pdpp"
)

// Holder is the credential that a running program reads a provider with. It is
// chosen once, renewed as needed, and chosen again after a read was refused, so that
// a new connect counts without a restart (MS-267). It is safe for concurrent use.
type Holder struct {
	cache           *Cache
	provider, grant string

	turn    chan struct{} // holds the one right to look at what follows
	current *Credential
	doubted bool
	owners  []string // tokens that the provider says are an owner's
}

// Hold chooses the credential of a provider, or of one of its grants.
func (c *Cache) Hold(provider, grant string) (*Holder, error) {
	cred, err := c.Choose(provider, grant)
	if err != nil {
		return nil, err
	}
	h := &Holder{cache: c, provider: provider, grant: grant, turn: make(chan struct{}, 1), current: cred}
	return h, nil
}

// take waits for the turn, or for the end of ctx.
func (h *Holder) take(ctx context.Context) error {
	select {
	case h.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *Holder) give() { <-h.turn }

// Current names the credential: its grant and its file.
func (h *Holder) Current(ctx context.Context) (id, path string, err error) {
	if err := h.take(ctx); err != nil {
		return "", "", err
	}
	defer h.give()
	return h.current.ID, h.current.Path, nil
}

// Token is the access token for the next read.
func (h *Holder) Token(ctx context.Context) (string, error) {
	if err := h.take(ctx); err != nil {
		return "", err
	}
	defer h.give()
	if err := h.choose(); err != nil {
		return "", err
	}
	if !h.current.due(h.cache) {
		return h.current.Token, nil
	}
	err := h.renew(ctx, h.current.Token)
	if err != nil && h.current.over(h.cache) {
		return "", err
	}
	return h.current.Token, nil
}

// Package is the credential for the next read when it is a package's, whose members
// have tokens of their own. ok is false when it is not, or cannot be used; then Token
// says why.
func (h *Holder) Package(ctx context.Context) (cred *Credential, ok bool) {
	if h.take(ctx) != nil {
		return nil, false
	}
	defer h.give()
	if h.current.isPackage() && h.current.over(h.cache) {
		h.doubted = true // nothing renews it, but another may have been saved
	}
	if h.choose() != nil || !h.current.isPackage() {
		return nil, false
	}
	return h.current, true
}

// choose makes the choice again when the last one is in doubt.
func (h *Holder) choose() error {
	if !h.doubted {
		return nil
	}
	cred, err := h.cache.Choose(h.provider, h.grant)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(h.owners, cred.holds) {
		return ownerRefused("The provider says that the credential " + cred.Path + " is an owner's.")
	}
	h.current, h.doubted = cred, false
	return nil
}

// RefuseOwner makes the holder refuse a token that the provider reports as an owner's
// (D5), and marks its file, so that later starts refuse it too. An error means that the
// file could not be marked; the holder refuses the token in any case.
func (h *Holder) RefuseOwner(ctx context.Context, token string) error {
	if err := h.take(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	defer h.give()
	h.owners, h.doubted = append(h.owners, token), true
	return h.cache.markOwner(context.WithoutCancel(ctx), h.current.Path, token)
}

// Renew gives another token after the server did not accept stale. ok is false when
// there is none; then the server's refusal stands.
func (h *Holder) Renew(ctx context.Context, stale string) (token string, ok bool, err error) {
	if err := h.take(ctx); err != nil {
		return "", false, err
	}
	defer h.give()
	if h.current.Token == stale {
		err = h.renew(ctx, stale)
	}
	switch {
	case ctx.Err() != nil:
		return "", false, ctx.Err()
	case err != nil:
		return "", false, nil
	}
	return h.current.Token, true, nil
}

// renew replaces the credential that is held; one that is over is chosen anew.
func (h *Holder) renew(ctx context.Context, stale string) error {
	cred, err := h.cache.Renew(ctx, h.current, stale)
	if err != nil {
		h.doubted = h.doubted || pdpp.CodeOf(err) != pdpp.CodeProviderUnreachable
		return err
	}
	h.current = cred
	return nil
}

// Doubt makes the next call choose again, because the server refused a read.
func (h *Holder) Doubt(ctx context.Context) {
	if h.take(ctx) == nil {
		h.doubted = true
		h.give()
	}
}

package credential

import (
	"context"
	"slices"

	"pdpp"
)

// Holder holds the credential with which a running program reads a provider. The
// credential is chosen once, renewed as needed, and chosen again after a read was
// rejected, so that a new credential is used without a restart (MS-267). It is safe for
// concurrent use.
type Holder struct {
	cache           *Cache
	provider, grant string

	lock    chan struct{} // a mutex for the fields below that can wait for a context
	current *Credential
	recheck bool     // choose again before the next use
	owners  []string // tokens that the provider reports as owner tokens
}

// Hold chooses the credential of a provider, or of one of its grants.
func (c *Cache) Hold(provider, grant string) (*Holder, error) {
	cred, err := c.Choose(provider, grant)
	if err != nil {
		return nil, err
	}
	h := &Holder{cache: c, provider: provider, grant: grant, lock: make(chan struct{}, 1), current: cred}
	return h, nil
}

// acquire waits for the lock or for the end of ctx.
func (h *Holder) acquire(ctx context.Context) error {
	select {
	case h.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *Holder) release() { <-h.lock }

// Current returns the grant and the file of the credential.
func (h *Holder) Current(ctx context.Context) (id, path string, err error) {
	if err := h.acquire(ctx); err != nil {
		return "", "", err
	}
	defer h.release()
	return h.current.ID, h.current.Path, nil
}

// Token returns the access token for the next read.
func (h *Holder) Token(ctx context.Context) (string, error) {
	cred, err := h.fresh(ctx)
	if err != nil {
		return "", err
	}
	return cred.Token, nil
}

// fresh returns the credential for the next request, renewed if necessary.
func (h *Holder) fresh(ctx context.Context) (*Credential, error) {
	if err := h.acquire(ctx); err != nil {
		return nil, err
	}
	defer h.release()
	if err := h.choose(); err != nil {
		return nil, err
	}
	if !h.current.due(h.cache) {
		return h.current, nil
	}
	err := h.renew(ctx, h.current.Token)
	if err != nil && h.current.expired(h.cache.Now()) {
		return nil, err
	}
	return h.current, nil
}

// Package returns the credential for the next read if it is for a package, whose members
// have their own tokens. ok is false when it is not or cannot be used. Then Token returns
// the reason.
func (h *Holder) Package(ctx context.Context) (cred *Credential, ok bool) {
	if h.acquire(ctx) != nil {
		return nil, false
	}
	defer h.release()
	if h.current.IsPackage() && h.current.expired(h.cache.Now()) && h.current.Refresh == "" {
		h.recheck = true // it cannot be renewed, but another one may have been saved
	}
	if h.choose() != nil || !h.current.IsPackage() {
		return nil, false
	}
	return h.current, true
}

// choose chooses the credential again if necessary.
func (h *Holder) choose() error {
	if !h.recheck {
		return nil
	}
	cred, err := h.cache.Choose(h.provider, h.grant)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(h.owners, cred.holds) {
		return ownerRefused("The provider reports that the credential " + cred.Path + " belongs to an owner.")
	}
	h.current, h.recheck = cred, false
	return nil
}

// RefuseOwner makes the holder reject a token that the provider reports as an owner token
// (D5). It marks the file, so that it is also rejected after a restart. An error means
// that the file could not be marked; the holder rejects the token in any case.
func (h *Holder) RefuseOwner(ctx context.Context, token string) error {
	if err := h.acquire(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	defer h.release()
	h.owners, h.recheck = append(h.owners, token), true
	return h.cache.markOwner(context.WithoutCancel(ctx), h.current.Path, token)
}

// Renew returns another token after the server rejected stale. ok is false when there is
// none.
func (h *Holder) Renew(ctx context.Context, stale string) (token string, ok bool, err error) {
	if err := h.acquire(ctx); err != nil {
		return "", false, err
	}
	defer h.release()
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

// renew replaces the current credential. After a permanent failure the next call chooses
// again.
func (h *Holder) renew(ctx context.Context, stale string) error {
	cred, err := h.cache.Renew(ctx, h.current, stale)
	if err != nil {
		h.recheck = h.recheck || pdpp.CodeOf(err) != pdpp.CodeProviderUnreachable
		return err
	}
	h.current = cred
	return nil
}

// Recheck makes the next call choose again, because the server rejected a read.
func (h *Holder) Recheck(ctx context.Context) {
	if h.acquire(ctx) == nil {
		h.recheck = true
		h.release()
	}
}

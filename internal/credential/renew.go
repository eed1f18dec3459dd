package credential

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"pdpp"
	"pdpp/internal/oauth"
)

// renewAhead is the time before its expiry at which a token is renewed (H-205).
const renewAhead = 60 * time.Second

// maxLife bounds the life of a token in seconds, so that its expiry can be computed.
const maxLife = int64(100 * 365 * 24 * time.Hour / time.Second)

// due reports whether the access token expires soon.
func (cred *Credential) due(c *Cache) bool {
	return !cred.ExpiresAt.IsZero() && !c.Now().Add(renewAhead).Before(cred.ExpiresAt)
}

// Renew returns the credential with another access token than stale (H-205): one that
// another program saved in the meantime, else a new one from the token endpoint.
// CodeCredentialExpired is permanent; other errors may be temporary.
//
// A request that has started is completed even when ctx ends, because the response of the
// token endpoint is the only copy of the next refresh token.
func (c *Cache) Renew(ctx context.Context, cred *Credential, stale string) (*Credential, error) {
	release, err := c.lock(ctx, filepath.Dir(cred.Path))
	if err != nil {
		return nil, err
	}
	defer release()
	now, err := c.read(cred.Path)
	if err != nil {
		return nil, err
	}
	if err := c.check(now, cred.Provider); err != nil {
		return nil, err
	}
	if now.Token != stale && !now.due(c) {
		return now, nil
	}
	if now.Refresh == "" {
		return nil, errExpired(now, "cannot be renewed")
	}
	response, err := c.refresh(context.WithoutCancel(ctx), now)
	if errors.Is(err, errInvalidGrant) {
		now.Status = statusReconnect
		return nil, errors.Join(errExpired(now, "was ended by the provider"), c.write(now))
	}
	if err != nil {
		return nil, err
	}
	now.apply(response, c.Now())
	if err := c.write(now); err != nil {
		// The token is valid; it is only lost at the next start.
		c.Warn("The renewed credential could not be saved: " + now.Path + ".")
	}
	return now, nil
}

// apply sets the tokens of a response. A missing refresh token means that the previous one
// stays valid (RFC 6749 §6).
func (cred *Credential) apply(t *oauth.Token, now time.Time) {
	cred.Token, cred.Status, cred.ExpiresAt = t.AccessToken, Active, expiryOf(t, now)
	if t.RefreshToken != "" {
		cred.Refresh = t.RefreshToken
	}
	if t.Scope != "" {
		cred.Scope = t.Scope
	}
}

// expiryOf returns the expiry of a token, or zero when it is unknown.
func expiryOf(t *oauth.Token, now time.Time) time.Time {
	if t.ExpiresIn <= 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(min(t.ExpiresIn, maxLife)) * time.Second)
}

// errInvalidGrant reports that a refresh token or its client is permanently invalid.
var errInvalidGrant = errors.New("invalid_grant")

// refresh requests new tokens from the token endpoint (RFC 6749 §6).
func (c *Cache) refresh(ctx context.Context, cred *Credential) (*oauth.Token, error) {
	if !oauth.IsSafe(cred.TokenEndpoint) {
		return nil, refused(cred.Path, "has no token endpoint that is safe for a secret")
	}
	t, err := c.oauth().Refresh(ctx, cred.TokenEndpoint, cred.ClientID, cred.Refresh, cred.Resource)
	if oauth.IsRefusal(err, "invalid_grant") || oauth.IsRefusal(err, "invalid_client") {
		return nil, errInvalidGrant
	}
	return t, cred.checkToken(t, err)
}

// oauth returns the client for token endpoints.
func (c *Cache) oauth() *oauth.Client { return &oauth.Client{Transport: c.Transport} }

// checkToken returns the error of a request for a token, or an error if the token must not
// be used.
func (cred *Credential) checkToken(t *oauth.Token, err error) error {
	var f *oauth.Failure
	switch {
	case errors.As(err, &f):
		return cred.notRenewed(f.Why, f.Err)
	case err != nil:
		return cred.notRenewed("it refused the request: "+err.Error(), nil)
	case !ValidToken(t.AccessToken):
		return cred.notRenewed("it returned a token with invalid characters", nil)
	case IsOwnerToken(t.AccessToken):
		return ownerRefused("The token endpoint returned an owner token.")
	}
	return nil
}

// notRenewed returns the error for a renewal that may succeed later.
func (cred *Credential) notRenewed(why string, err error) error {
	return &pdpp.Error{
		Code: pdpp.CodeProviderUnreachable, Err: err,
		Message: "The token of grant " + cred.ID + " was not renewed: " + oauth.Shown(cred.TokenEndpoint) + ": " + why + ".",
	}
}

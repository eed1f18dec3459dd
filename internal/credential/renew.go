package credential

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"pdpp"
)

const (
	// renewAhead is the time before its expiry at which a token is renewed (H-205).
	renewAhead = 60 * time.Second
	// renewTimeout bounds the request to the token endpoint.
	renewTimeout = 10 * time.Second
	responseMax  = 1 << 20
)

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
	response.apply(now, c.Now())
	if err := c.write(now); err != nil {
		// The token is valid; it is only lost at the next start.
		c.Warn("The renewed credential could not be saved: " + now.Path + ".")
	}
	return now, nil
}

// tokenResponse is the response of a token endpoint (RFC 6749 §5.1, §5.2).
type tokenResponse struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in"`
	RefreshToken string `json:"refresh_token"`
	Scope        string `json:"scope"`
	Error        string `json:"error"`
}

// apply sets the tokens of the response. A missing refresh token means that the previous
// one stays valid (RFC 6749 §6).
func (a *tokenResponse) apply(cred *Credential, now time.Time) {
	cred.Token, cred.Status, cred.ExpiresAt = a.AccessToken, Active, time.Time{}
	if a.ExpiresIn > 0 {
		cred.ExpiresAt = now.Add(time.Duration(a.ExpiresIn) * time.Second)
	}
	if a.RefreshToken != "" {
		cred.Refresh = a.RefreshToken
	}
	if a.Scope != "" {
		cred.Scope = a.Scope
	}
}

// errInvalidGrant reports that a refresh token is permanently invalid.
var errInvalidGrant = errors.New("invalid_grant")

// refresh requests new tokens from the token endpoint (RFC 6749 §6).
func (c *Cache) refresh(ctx context.Context, cred *Credential) (*tokenResponse, error) {
	if !safeEndpoint(cred.TokenEndpoint) {
		return nil, refused(cred.Path, "has no token endpoint that is safe for a secret")
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {cred.Refresh}, "client_id": {cred.ClientID}}
	if cred.Resource != "" {
		form.Set("resource", cred.Resource) // RFC 8707
	}
	ctx, cancel := context.WithTimeout(ctx, renewTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, cred.TokenEndpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	client := &http.Client{Transport: c.Transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // never send the secret to another address
	}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, notRenewed(cred, "it cannot be reached", err)
	}
	defer resp.Body.Close()
	var response tokenResponse
	raw, err := io.ReadAll(io.LimitReader(resp.Body, responseMax))
	if err != nil {
		return nil, notRenewed(cred, "its response was incomplete", err)
	}
	bad := json.Unmarshal(raw, &response)
	switch {
	case resp.StatusCode >= 400 && resp.StatusCode < 500 && bad == nil && response.Error == "invalid_grant":
		return nil, errInvalidGrant
	case resp.StatusCode != http.StatusOK || bad != nil || !ValidToken(response.AccessToken) || !strings.EqualFold(response.TokenType, "bearer"):
		return nil, notRenewed(cred, "it returned no token ("+resp.Status+")", nil)
	case IsOwnerToken(response.AccessToken):
		return nil, ownerRefused("The token endpoint returned an owner token.")
	}
	return &response, nil
}

// notRenewed returns the error for a renewal that may succeed later. The cause never
// contains the request body.
func notRenewed(cred *Credential, why string, err error) error {
	var withURL *url.Error
	if errors.As(err, &withURL) {
		err = withURL.Err // the URL may contain a secret
	}
	return &pdpp.Error{
		Code: pdpp.CodeProviderUnreachable, Err: err,
		Message: "The token of grant " + cred.ID + " was not renewed: " + shownURL(cred.TokenEndpoint) + ": " + why + ".",
	}
}

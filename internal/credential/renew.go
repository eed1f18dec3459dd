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
	// renewAhead is how long before its end a token is renewed (H-205).
	renewAhead = 60 * time.Second
	// renewTimeout bounds the call to the token endpoint.
	renewTimeout = 10 * time.Second
	answerMax    = 1 << 20
)

// due reports whether the access token is about to end.
func (cred *Credential) due(c *Cache) bool {
	return !cred.ExpiresAt.IsZero() && !c.Now().Add(renewAhead).Before(cred.ExpiresAt)
}

// Renew gives the credential with another access token than stale (H-205): one that
// somebody else got in the meantime, else one for its refresh token.
// CodeCredentialExpired when there is no way; any other error may pass.
//
// What was begun is finished even when ctx ends: the answer of a token endpoint is
// the only copy of the next refresh token.
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
		return nil, expired(now, "cannot be renewed")
	}
	answer, err := c.refresh(context.WithoutCancel(ctx), now)
	if errors.Is(err, errInvalidGrant) {
		now.Status = statusReconnect
		return nil, errors.Join(expired(now, "was ended by the provider"), c.write(now))
	}
	if err != nil {
		return nil, err
	}
	answer.apply(now, c.Now())
	if err := c.write(now); err != nil {
		// The token is good; only the next start will not know it.
		c.Warn("A renewed credential could not be written: " + now.Path + ".")
	}
	return now, nil
}

// tokenAnswer is what a token endpoint answers (RFC 6749 §5.1, §5.2).
type tokenAnswer struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in"`
	RefreshToken string `json:"refresh_token"`
	Scope        string `json:"scope"`
	Error        string `json:"error"`
}

// apply takes over what the endpoint gave. A refresh token that is not in the answer
// stays (RFC 6749 §6).
func (a *tokenAnswer) apply(cred *Credential, now time.Time) {
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

// errInvalidGrant says that a refresh token is over for good.
var errInvalidGrant = errors.New("invalid_grant")

// refresh asks the token endpoint (RFC 6749 §6).
func (c *Cache) refresh(ctx context.Context, cred *Credential) (*tokenAnswer, error) {
	if !safeEndpoint(cred.TokenEndpoint) {
		return nil, refused(cred.Path, "has no token endpoint that a secret may be sent to")
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
		return http.ErrUseLastResponse // a secret is not carried on
	}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, notRenewed(cred, "it was not reached", err)
	}
	defer resp.Body.Close()
	var answer tokenAnswer
	raw, err := io.ReadAll(io.LimitReader(resp.Body, answerMax))
	if err != nil {
		return nil, notRenewed(cred, "its answer broke off", err)
	}
	bad := json.Unmarshal(raw, &answer)
	switch {
	case resp.StatusCode >= 400 && resp.StatusCode < 500 && bad == nil && answer.Error == "invalid_grant":
		return nil, errInvalidGrant
	case resp.StatusCode != http.StatusOK || bad != nil || !ValidToken(answer.AccessToken) || !strings.EqualFold(answer.TokenType, "bearer"):
		return nil, notRenewed(cred, "it gave no token ("+resp.Status+")", nil)
	case IsOwnerToken(answer.AccessToken):
		return nil, ownerRefused("The token endpoint gave an owner token.")
	}
	return &answer, nil
}

// notRenewed is a renewal that may work the next time. The cause never holds the
// body that was sent.
func notRenewed(cred *Credential, why string, err error) error {
	var withURL *url.Error
	if errors.As(err, &withURL) {
		err = withURL.Err // the URL may hold a secret
	}
	return &pdpp.Error{
		Code: pdpp.CodeProviderUnreachable, Err: err,
		Message: "The token of grant " + cred.ID + " was not renewed: " + shownURL(cred.TokenEndpoint) + ": " + why + ".",
	}
}

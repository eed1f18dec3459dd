package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"pdpp"
)

// Grant types of requests.
const (
	grantCode     = "authorization_code"
	grantRefresh  = "refresh_token"
	grantDevice   = "urn:ietf:params:oauth:grant-type:device_code"
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"

	typeAccessToken = "urn:ietf:params:oauth:token-type:access_token"
)

// Token is the response of a token endpoint (RFC 6749 §5.1). Whether its tokens may be used
// is for the caller to check.
type Token struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in"` // seconds; 0: unknown
	RefreshToken string `json:"refresh_token"`
	Scope        string `json:"scope"`

	Raw json.RawMessage `json:"-"` // the whole response
}

// request asks a token endpoint for a token. The error is a *Refusal, a *Failure, or that
// of ctx.
func (c *Client) request(ctx context.Context, endpoint string, form url.Values) (*Token, error) {
	a, err := c.post(ctx, endpoint, form)
	if err != nil {
		return nil, err
	}
	if r := a.refusal(); r != nil {
		return nil, r
	}
	t := &Token{Raw: a.body}
	if a.status != http.StatusOK || json.Unmarshal(a.body, t) != nil || t.AccessToken == "" || !strings.EqualFold(t.TokenType, "bearer") {
		return nil, failure(endpoint, "it returned no token ("+a.text+")", nil)
	}
	return t, nil
}

// Refresh renews a token (RFC 6749 §6). resource may be "". The error is a *Refusal, a
// *Failure, or that of ctx.
func (c *Client) Refresh(ctx context.Context, endpoint, client, token, resource string) (*Token, error) {
	form := url.Values{"grant_type": {grantRefresh}, "refresh_token": {token}, "client_id": {client}}
	if resource != "" {
		form.Set("resource", resource)
	}
	return c.request(ctx, endpoint, form)
}

// Exchange exchanges the token of a package for one of its members (H-165). The error is a
// *Refusal, a *Failure, or that of ctx.
func (c *Client) Exchange(ctx context.Context, endpoint, client, token string, member pdpp.GrantID) (*Token, error) {
	return c.request(ctx, endpoint, url.Values{
		"grant_type": {grantExchange}, "client_id": {client}, "subject_token": {token}, "subject_token_type": {typeAccessToken},
		"pdpp_grant_id": {string(member)},
	})
}

// redeem redeems an authorization code.
func (c *Client) redeem(ctx context.Context, s *Server, r Request, code, verifier, redirect string) (*Token, error) {
	t, err := c.request(ctx, s.Token, url.Values{
		"grant_type": {grantCode}, "code": {code}, "client_id": {r.ClientID}, "redirect_uri": {redirect}, "code_verifier": {verifier},
		"resource": {s.Resource},
	})
	return t, notIssued(s, err)
}

// ErrUnknownClient is the cause of an error after the server refused the client. Another
// registration may help.
var ErrUnknownClient = errors.New("the client is not registered")

// connectAgain is the hint of errors after which a new attempt may succeed.
const connectAgain = "Nothing was saved. Connect again."

// notIssued returns the error of a request that should have led to a token.
func notIssued(s *Server, err error) error {
	var r *Refusal
	var f *Failure
	e := &pdpp.Error{Code: pdpp.CodeTokenRequest, Hint: connectAgain}
	switch {
	case errors.As(err, &r):
		e.Message = s.Issuer + " refused the request: " + strings.TrimSuffix(r.Error(), ".") + "."
		if r.Code == "invalid_client" || r.Code == "unauthorized_client" {
			e.Err = ErrUnknownClient
		}
	case errors.As(err, &f):
		e.Message, e.Err = "No token was obtained from "+f.Error()+".", f.Err
	default:
		return err
	}
	return e
}

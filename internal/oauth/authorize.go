package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"

	"pdpp"
	"pdpp/internal/secret"
)

// Request says for whom and for what access is requested.
type Request struct {
	ClientID string
	Details  json.RawMessage // authorization_details; nil: the owner chooses
}

// Authorize obtains a token with the owner's approval in a browser on this machine (RFC
// 8252): show receives the address to open, and the answer comes to a port of this machine.
// It ends with ctx. The errors are CodeConnectUnsupported, CodeApprovalDenied,
// CodeApprovalExpired, CodeIssuerMismatch, CodeStateMismatch and CodeTokenRequest.
func (c *Client) Authorize(ctx context.Context, s *Server, r Request, show func(address string)) (*Token, error) {
	if s.Authorization == "" {
		return nil, unsupported(s.Provider, "its authorization server has no page for approval")
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(callbackHost, "0"))
	if err != nil {
		return nil, &pdpp.Error{Code: pdpp.CodeConnectUnsupported, Message: "No port of this machine could be opened for the answer of the browser.", Hint: "Connect with --device instead.", Err: err}
	}
	cb := newCallback(s, l.Addr().String())
	stop := cb.serve(l)
	defer stop()
	verifier := secret.Token("")
	form := s.form(r)
	for name, value := range map[string]string{
		"response_type": "code", "redirect_uri": cb.uri(), "state": cb.state,
		"code_challenge": challengeOf(verifier), "code_challenge_method": "S256",
	} {
		form.Set(name, value)
	}
	address, err := c.address(ctx, s, form)
	if err != nil {
		return nil, err
	}
	show(address)
	select {
	case got := <-cb.result:
		if got.err != nil {
			return nil, got.err
		}
		return c.redeem(ctx, s, r, got.code, verifier, cb.uri())
	case <-ctx.Done():
		return nil, notApproved(ctx.Err())
	}
}

// form returns the parameters that every flow sends.
func (s *Server) form(r Request) url.Values {
	form := url.Values{"client_id": {r.ClientID}, "resource": {s.Resource}}
	if r.Details != nil {
		form.Set("authorization_details", string(r.Details))
	}
	return form
}

// challengeOf returns the S256 challenge of a verifier (RFC 7636 §4.2).
func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// address returns the address of the approval page. Where the server accepts pushed
// requests (RFC 9126), an error is known before a browser opens, and the address is short.
func (c *Client) address(ctx context.Context, s *Server, form url.Values) (string, error) {
	if s.Pushed != "" {
		uri, err := c.push(ctx, s, form)
		if err != nil {
			return "", err
		}
		form = url.Values{"client_id": form["client_id"], "request_uri": {uri}}
	}
	separator := "?"
	if strings.Contains(s.Authorization, "?") {
		separator = "&"
	}
	return s.Authorization + separator + form.Encode(), nil
}

func (c *Client) push(ctx context.Context, s *Server, form url.Values) (uri string, err error) {
	a, err := c.post(ctx, s.Pushed, form)
	if err != nil {
		return "", notIssued(s, err)
	}
	if r := a.refusal(); r != nil {
		return "", notIssued(s, r)
	}
	var doc struct {
		URI string `json:"request_uri"`
	}
	if a.status != http.StatusCreated && a.status != http.StatusOK || json.Unmarshal(a.body, &doc) != nil || doc.URI == "" {
		return "", notIssued(s, failure(s.Pushed, "it did not accept the request ("+a.text+")", nil))
	}
	return doc.URI, nil
}

// notApproved returns the error of a wait that ended: the owner did not decide in time, or
// the user interrupted it.
func notApproved(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &pdpp.Error{Code: pdpp.CodeApprovalExpired, Message: "There was no approval in time.", Hint: "Nothing was saved. Connect again, and approve in the browser."}
	}
	return err
}

// errDenied is the error after the owner declined.
var errDenied = &pdpp.Error{Code: pdpp.CodeApprovalDenied, Message: "The owner of the data declined.", Hint: "Nothing was saved. Connect again to ask for something else."}

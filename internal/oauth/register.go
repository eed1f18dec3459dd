package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"pdpp"
)

// redirectURI is the registered address of the answer. A request adds its own port (H-145).
const redirectURI = "http://" + callbackHost + callbackPath

// Register registers this program as a public client (RFC 7591) and returns its id. The
// errors are CodeRegistration and CodeConnectUnsupported.
func (c *Client) Register(ctx context.Context, s *Server, name string) (id string, err error) {
	if s.Registration == "" {
		return "", unsupported(s.Provider, "its authorization server registers no clients")
	}
	body, err := json.Marshal(map[string]any{
		"client_name": name, "redirect_uris": []string{redirectURI}, "token_endpoint_auth_method": "none", "application_type": "native",
		"grant_types": []string{grantCode, grantRefresh, grantDevice}, "response_types": []string{"code"},
	})
	if err != nil {
		return "", err
	}
	a, err := c.do(ctx, http.MethodPost, s.Registration, "application/json", body)
	var f *Failure
	switch {
	case errors.As(err, &f):
		return "", &pdpp.Error{Code: pdpp.CodeRegistration, Message: "This program could not be registered at " + f.Error() + ".", Hint: connectAgain, Err: f.Err}
	case err != nil:
		return "", err
	}
	var client struct {
		ID     string `json:"client_id"`
		Method string `json:"token_endpoint_auth_method"`
	}
	refusal := a.refusal()
	switch {
	case refusal != nil:
		return "", pdpp.Errorf(pdpp.CodeRegistration, "%s refused to register this program: %v.", s.Issuer, refusal)
	case a.status != http.StatusCreated && a.status != http.StatusOK || json.Unmarshal(a.body, &client) != nil || printable(client.ID, 2048) != client.ID || client.ID == "":
		return "", pdpp.Errorf(pdpp.CodeRegistration, "%s did not register this program: it answers %s without a valid client id.", s.Issuer, a.text)
	case client.Method != "" && client.Method != "none":
		return "", pdpp.Errorf(pdpp.CodeRegistration, "%s registers only clients with a secret, which a program on your computer cannot keep.", s.Issuer)
	}
	return client.ID, nil
}

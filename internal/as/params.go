package as

import (
	"errors"
	"net/http"
	"strconv"

	"pdpp"
	"pdpp/internal/consent"
)

const maxState = 4096 // bytes of a state

// params are the checked parameters of an authorization request.
type params struct {
	Client      pdpp.ClientID `json:"client"`
	RedirectURI string        `json:"redirect_uri,omitempty"` // "" for a device
	State       string        `json:"state,omitempty"`
	Challenge   string        `json:"challenge,omitempty"` // PKCE, S256
	Audience    []string      `json:"audience"`
	Details     string        `json:"details,omitempty"` // authorization_details as sent; "": the owner chooses from everything
}

// details parses authorization_details; nil when there are none.
func (p *params) details() (*consent.Request, error) {
	if p.Details == "" {
		return nil, nil
	}
	return consent.ParseRequest([]byte(p.Details))
}

// redirected is an error that may be sent to the redirect URI of a request, because that
// URI was checked (H-144).
type redirected struct {
	params *params
	err    error
}

func (e *redirected) Error() string { return e.err.Error() }
func (e *redirected) Unwrap() error { return e.err }

// checkCode checks the parameters of the code flow (H-144). An error that is not a
// *redirected must not be sent to the redirect URI.
func (s *Server) checkCode(r *http.Request, f form, formErr error) (*params, error) {
	for _, name := range []string{"client_id", "redirect_uri"} {
		if len(f[name]) > 1 {
			return nil, formErr // it is not known which of them is meant
		}
	}
	client, err := s.requestClient(r, f)
	if err != nil {
		return nil, err
	}
	p := &params{Client: client.ID, RedirectURI: f.get("redirect_uri")}
	switch {
	case p.RedirectURI == "":
		return nil, invalidRequest("redirect_uri is missing.")
	case !matchRedirect(client.RedirectURIs, p.RedirectURI):
		return nil, invalidRequest("redirect_uri is not one that the client registered. Use a registered one, or register the client again.")
	}
	if len(f["state"]) == 1 && len(f.get("state")) <= maxState {
		p.State = f.get("state")
	}
	if formErr != nil {
		return nil, &redirected{p, formErr}
	}
	if err := s.checkFlow(r, f, client, p); err != nil {
		return nil, &redirected{p, err}
	}
	return p, nil
}

// checkFlow checks the parameters whose errors may be sent to the redirect URI.
func (s *Server) checkFlow(r *http.Request, f form, client *Client, p *params) error {
	p.Challenge = f.get("code_challenge")
	switch {
	case len(f.get("state")) > maxState:
		return invalidRequest("state must have at most " + strconv.Itoa(maxState) + " bytes.")
	case f.get("response_type") == "":
		return invalidRequest("response_type is missing.")
	case f.get("response_type") != "code":
		return refusal("unsupported_response_type", "response_type must be code.")
	case f.get("response_mode") != "" && f.get("response_mode") != "query":
		return invalidRequest("response_mode must be query.")
	case f.get("request") != "":
		return refusal("request_not_supported", "Request objects are not supported. Send the parameters themselves, or push them (PAR).")
	case !client.allows(grantCode):
		return errNoCodeGrant
	case p.Challenge == "":
		return invalidRequest("code_challenge is missing: PKCE is required.")
	case f.get("code_challenge_method") != "S256":
		return invalidRequest("code_challenge_method must be S256.")
	case !isVerifier(p.Challenge):
		return invalidRequest("code_challenge must have 43 to 128 unreserved characters.")
	}
	return s.checkAccess(r, f, p, audienceMCP)
}

// checkAccess checks what the request asks for: resources and authorization details.
func (s *Server) checkAccess(r *http.Request, f form, p *params, fallback string) (err error) {
	if p.Audience, err = s.audiences(r, f); err != nil {
		return err
	}
	if p.Audience == nil {
		p.Audience = []string{fallback}
	}
	p.Details = f.get("authorization_details")
	if _, err := p.details(); err != nil {
		var invalid *pdpp.Error
		if errors.As(err, &invalid) && invalid.Code == pdpp.CodeInvalidInput {
			return refusal("invalid_authorization_details", invalid.Message)
		}
		return err
	}
	return nil
}

// audiences returns the audiences that a request names.
func (s *Server) audiences(r *http.Request, f form) ([]string, error) {
	return audiences(f["resource"], func(origin string) bool { return s.Edge.IsOwn(r, origin) })
}

// requestClient finds the client of a request (H-141).
func (s *Server) requestClient(r *http.Request, f form) (*Client, error) {
	id := f.get("client_id")
	if id == "" {
		return nil, errNoClientID
	}
	if len(id) > maxURI {
		return nil, errUnknownClient
	}
	return s.client(r.Context(), pdpp.ClientID(id), lookup{addr: s.Edge.ClientAddr(r), refresh: f.get("grant_type") == grantRefresh})
}

// isVerifier reports whether s has the form of a code verifier or challenge (RFC 7636 §4).
func isVerifier(s string) bool {
	if len(s) < 43 || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_', c == '~':
		default:
			return false
		}
	}
	return true
}

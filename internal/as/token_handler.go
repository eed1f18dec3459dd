package as

import (
	"encoding/json"
	"net/http"
	"time"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/store"
)

const scopeRead = "pdpp:read" // H-143

// tokenAnswer is the answer of the token endpoint (H-161, H-165).
type tokenAnswer struct {
	AccessToken  string            `json:"access_token"`
	IssuedType   string            `json:"issued_token_type,omitempty"`
	TokenType    string            `json:"token_type"`
	ExpiresIn    int               `json:"expires_in"`
	RefreshToken string            `json:"refresh_token,omitempty"`
	Scope        string            `json:"scope,omitempty"`
	GrantID      pdpp.GrantID      `json:"grant_id,omitempty"`
	PackageID    pdpp.PackageID    `json:"grant_package_id,omitempty"`
	Details      []json.RawMessage `json:"authorization_details"`
}

// newAnswer returns the answer for an access token and the grants that it covers (H-150).
func newAnswer(token string, life time.Duration, grants []*pdpp.Grant) *tokenAnswer {
	a := &tokenAnswer{AccessToken: token, TokenType: "Bearer", ExpiresIn: int(life / time.Second)}
	for _, g := range grants {
		a.Details = append(a.Details, grant.AppendDetail(nil, g))
	}
	return a
}

// token is the token endpoint.
func (s *Server) token(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(w, r, maxBody)
	if err != nil {
		return err
	}
	requested, err := s.audiences(r, f)
	if err != nil {
		return err
	}
	run, err := s.tokenRequest(r, f, requested)
	if err != nil {
		return err
	}
	var answer *tokenAnswer
	var refused error
	err = s.change(r.Context(), store.ByClient, func(tx store.Tx) (err error) {
		answer, refused, err = run(tx)
		return err
	})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return refused
	}
	return writeJSON(w, http.StatusOK, answer)
}

// issuing issues tokens in a transaction. A refusal is committed, a failure is not.
type issuing func(store.Tx) (answer *tokenAnswer, refused, err error)

// tokenRequest checks a token request as far as it can be done without a transaction.
func (s *Server) tokenRequest(r *http.Request, f form, requested []string) (issuing, error) {
	switch f.get("grant_type") {
	case "":
		return nil, invalidRequest("grant_type is missing.")
	case grantCode:
		return s.codeRequest(r, f, requested)
	case grantRefresh:
		return s.refreshRequest(r, f, requested)
	case grantDevice:
		return s.deviceRequest(r, f, requested)
	case grantExchange:
		in, err := parseExchange(f, requested)
		return func(tx store.Tx) (*tokenAnswer, error, error) {
			answer, err := s.exchange(tx, in)
			return answer, nil, err
		}, err
	}
	return nil, refusal("unsupported_grant_type", "grant_type must be one of grant_types_supported in the metadata of this server.")
}

func (s *Server) codeRequest(r *http.Request, f form, requested []string) (issuing, error) {
	client, err := s.requestClient(r, f)
	if err != nil {
		return nil, err
	}
	in := redemption{
		code: f.get("code"), verifier: f.get("code_verifier"), redirectURI: f.get("redirect_uri"), client: client, requested: requested,
	}
	switch {
	case !client.allows(grantCode):
		return nil, errNoCodeGrant
	case in.code == "":
		return nil, invalidRequest("code is missing.")
	}
	return func(tx store.Tx) (*tokenAnswer, error, error) { return s.redeem(tx, in) }, nil
}

func (s *Server) refreshRequest(r *http.Request, f form, requested []string) (issuing, error) {
	client, err := s.requestClient(r, f)
	if err != nil {
		return nil, err
	}
	token := f.get("refresh_token")
	if token == "" {
		return nil, invalidRequest("refresh_token is missing.")
	}
	return func(tx store.Tx) (*tokenAnswer, error, error) { return s.refresh(tx, token, client.ID, requested) }, nil
}

func (s *Server) deviceRequest(r *http.Request, f form, requested []string) (issuing, error) {
	client, err := s.requestClient(r, f)
	if err != nil {
		return nil, err
	}
	code := f.get("device_code")
	switch {
	case !client.allows(grantDevice):
		return nil, errNoDeviceGrant
	case code == "":
		return nil, invalidRequest("device_code is missing.")
	}
	return func(tx store.Tx) (*tokenAnswer, error, error) { return s.poll(tx, code, client, requested) }, nil
}

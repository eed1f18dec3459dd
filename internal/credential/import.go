package credential

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/oauth"
)

// refreshMax bounds a refresh token.
const refreshMax = 4096

// FromJSON parses a credential to save: the response of a token endpoint (RFC 6749
// §5.1), which may also have token_endpoint and client_id, or a cache file of this
// program or of the public implementation. The result has no provider, and an id only if
// the grant is known. The errors are CodeOwnerCredential and CodeInvalidInput.
func FromJSON(raw []byte, now time.Time) (*Credential, error) {
	o, err := parseObject(raw)
	if err != nil {
		return nil, pdpp.Errorf(pdpp.CodeInvalidInput, "The credential cannot be used: %v.", err)
	}
	in, client := o.inner("credential"), o.inner("client")
	if in == nil {
		in = o
	}
	if isOwner(o) || isOwner(in) {
		return nil, ownerRefused("The credential belongs to an owner.")
	}
	cred := &Credential{
		Token: in.text("access_token"), Refresh: in.text("refresh_token"), Scope: in.text("scope"), ID: in.text("grant_id"),
		Kind: string(pdpp.TokenClient), Status: Active, CreatedAt: now,
		TokenEndpoint: o.text("token_endpoint"), Details: o["authorization_details"],
		ClientID: cmp.Or(client.text("client_id"), o.text("client_id")), ClientName: client.text("client_name"),
	}
	if id := in.text("grant_package_id"); id != "" {
		cred.ID, cred.Kind = id, string(pdpp.TokenPackage)
	}
	if cred.ExpiresAt, err = in.expiry(now); err == nil {
		err = importable(in, cred)
	}
	if err != nil {
		return nil, pdpp.Errorf(pdpp.CodeInvalidInput, "The credential cannot be used: %v.", err)
	}
	return cred, nil
}

// expiry returns the expiry of a token from expires_in or expires_at, or zero when both
// are missing.
func (o object) expiry(now time.Time) (time.Time, error) {
	var seconds int64
	if raw := o["expires_in"]; raw != nil && string(raw) != "null" {
		if json.Unmarshal(raw, &seconds) != nil || seconds <= 0 || seconds > maxLife {
			return time.Time{}, errors.New("its expires_in is not a number of seconds")
		}
		return now.Add(time.Duration(seconds) * time.Second), nil
	}
	return o.time("expires_at")
}

// importable checks the tokens of a credential.
func importable(in object, cred *Credential) error {
	switch t := in.text("token_type"); {
	case !ValidToken(cred.Token):
		return errors.New("it has no access_token, or one with invalid characters")
	case t != "" && !strings.EqualFold(t, "bearer"):
		return errors.New("its token type is not Bearer")
	case in["members"] != nil:
		return errors.New("it has the tokens of the members of a package, which only the server that creates them can save")
	case len(cred.Refresh) > refreshMax || strings.ContainsFunc(cred.Refresh, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("its refresh_token contains invalid characters or is too long")
	}
	return nil
}

// CheckRenewal returns an error when a credential with a refresh token cannot be renewed
// (H-205).
func (cred *Credential) CheckRenewal() error {
	switch {
	case cred.Refresh == "":
		return nil
	case cred.TokenEndpoint == "" || cred.ClientID == "":
		return pdpp.Errorf(pdpp.CodeUsage, "A refresh token needs the token endpoint and the client that it was issued to: --token-endpoint URL --client-id ID.")
	case !oauth.IsSafe(cred.TokenEndpoint):
		return pdpp.Errorf(pdpp.CodeUsage, "The refresh token cannot be sent to %s. Use https, or http on this machine, without a user name in the URL.", oauth.Shown(cred.TokenEndpoint))
	}
	return nil
}

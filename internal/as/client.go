package as

import (
	"net/url"
	"slices"
	"strings"

	"pdpp"
	"pdpp/internal/store"
)

// The grant types of the token endpoint.
const (
	grantCode     = "authorization_code"
	grantRefresh  = "refresh_token"
	grantDevice   = "urn:ietf:params:oauth:grant-type:device_code"
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
)

var (
	grantTypes        = []string{grantCode, grantRefresh, grantDevice, grantExchange}
	defaultGrantTypes = []string{grantCode, grantRefresh}
)

// Client is an application that asks for access. Its fields are what the client says about
// itself. Only the host of a client document is verified: the document was fetched from
// there.
type Client struct {
	ID           pdpp.ClientID
	Name         string
	Mode         store.RegistrationMode
	RedirectURIs []string
	GrantTypes   []string // those that it stated, or the default ones
	Host         string   // of its document or its URI, in ASCII; "" if there is none
	URI          string   // its home page, http or https; "" if there is none
}

// allows reports whether the client uses a grant type (H-162, H-166).
func (c *Client) allows(grantType string) bool { return slices.Contains(c.GrantTypes, grantType) }

var (
	errNoCodeGrant   = refusal("unauthorized_client", "The client did not register for the code flow. Register it again with authorization_code in grant_types.")
	errNoDeviceGrant = refusal("unauthorized_client", "The client did not register for the device flow. Register it again with its grant type in grant_types.")
)

// clientBody is the body of an EntryClient, whose key is the client id, and part of that of an
// EntryDocument.
type clientBody struct {
	Name         string                 `json:"name"`
	Mode         store.RegistrationMode `json:"mode"`
	RedirectURIs []string               `json:"redirect_uris,omitempty"`
	GrantTypes   []string               `json:"grant_types"`
	URI          string                 `json:"uri,omitempty"`
}

func (b *clientBody) client(id pdpp.ClientID) *Client {
	c := &Client{ID: id, Name: b.Name, Mode: b.Mode, RedirectURIs: b.RedirectURIs, GrantTypes: b.GrantTypes, URI: b.URI}
	from := b.URI
	if b.Mode == store.ModeDocument {
		from = string(id)
	}
	if u, err := url.Parse(from); err == nil {
		c.Host = strings.ToLower(u.Hostname())
	}
	return c
}

// preRegistered are the clients that every server knows (H-153).
var preRegistered = []Client{{
	ID: "pdpp_cli", Name: "PDPP CLI", Mode: store.ModePreRegistered,
	RedirectURIs: []string{"http://127.0.0.1/callback"}, GrantTypes: []string{grantCode, grantRefresh, grantDevice},
}}

package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pdpp"
)

// Server is the authorization server of a provider.
type Server struct {
	Provider string // the resource server, as it was asked for
	Resource string // its resource identifier (RFC 8707)
	Issuer   string

	Authorization string // endpoints; "" when the server has none
	Token         string
	Registration  string
	Device        string
	Pushed        string
	Revocation    string

	SendsIssuer   bool     // authorization responses have iss (RFC 9207)
	CanExchange   bool     // tokens of packages can be exchanged (H-165)
	PreRegistered []string // ids of public clients that need no registration
}

// resourceDocument has the members of a protected-resource document that are used (RFC 9728).
type resourceDocument struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
}

// serverDocument has the members of an authorization-server document that are used (RFC
// 8414).
type serverDocument struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Registration  string   `json:"registration_endpoint"`
	Device        string   `json:"device_authorization_endpoint"`
	Pushed        string   `json:"pushed_authorization_request_endpoint"`
	Revocation    string   `json:"revocation_endpoint"`
	Challenges    []string `json:"code_challenge_methods_supported"`
	GrantTypes    []string `json:"grant_types_supported"`
	SendsIssuer   bool     `json:"authorization_response_iss_parameter_supported"`
	PreRegistered []struct {
		ID string `json:"client_id"`
	} `json:"pdpp_pre_registered_public_clients"`
}

// Discover finds the authorization server of a provider (H-200): a URL with https, or with
// http on this machine. The errors are CodeMetadata, CodeConnectUnsupported and
// CodeIssuerMismatch.
func (c *Client) Discover(ctx context.Context, provider string) (*Server, error) {
	resource, err := c.resource(ctx, provider)
	if err != nil {
		return nil, err
	}
	if len(resource.Servers) == 0 {
		return nil, unsupported(provider, "its metadata names no authorization server")
	}
	issuer := resource.Servers[0]
	if !isAllowed(provider, issuer) || strings.Contains(issuer, "?") {
		return nil, badMetadata("The authorization server of %s has the address %s, which is not safe for secrets.", provider, Shown(issuer))
	}
	var doc serverDocument
	target := wellKnown(issuer, "oauth-authorization-server")
	found, err := c.document(ctx, target, &doc)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, unsupported(provider, "there is no document at "+target)
	case doc.Issuer != issuer: // RFC 8414 §3.3: a server must not speak for another
		return nil, pdpp.Errorf(pdpp.CodeIssuerMismatch, "The metadata at %s belongs to another authorization server: %s.", target, Shown(doc.Issuer))
	}
	return doc.server(provider, resource.Resource)
}

// resource reads the protected-resource document of a provider: that of its path, else that
// of its origin.
func (c *Client) resource(ctx context.Context, provider string) (*resourceDocument, error) {
	targets := []string{wellKnown(provider, "oauth-protected-resource")}
	if origin(provider) != provider {
		targets = append(targets, wellKnown(origin(provider), "oauth-protected-resource"))
	}
	for _, target := range targets {
		var doc resourceDocument
		found, err := c.document(ctx, target, &doc)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		// RFC 9728 §3.3: otherwise a token for another resource might be requested.
		if r := strings.TrimSuffix(doc.Resource, "/"); r != provider && r != origin(provider) {
			return nil, badMetadata("The metadata at %s belongs to another resource: %s.", target, Shown(doc.Resource))
		}
		return &doc, nil
	}
	return nil, unsupported(provider, "there is no document at "+targets[0])
}

// document reads a JSON document; found is false when there is none.
func (c *Client) document(ctx context.Context, target string, doc any) (found bool, err error) {
	a, err := c.get(ctx, target)
	var f *Failure
	switch {
	case errors.As(err, &f):
		return false, &pdpp.Error{
			Code: pdpp.CodeMetadata, Message: "The metadata at " + target + " cannot be read: " + f.Why + ".",
			Hint: "Check that the server is running at this address, then try again.", Err: f.Err,
		}
	case err != nil:
		return false, err
	case a.status == http.StatusNotFound:
		return false, nil
	case a.status != http.StatusOK:
		return false, badMetadata("The metadata at %s cannot be read: the server answers %s.", target, a.text)
	case json.Unmarshal(a.body, doc) != nil:
		return false, badMetadata("The metadata at %s is not valid JSON of the expected form.", target)
	}
	return true, nil
}

// server checks the document and returns the server that it describes.
func (d *serverDocument) server(provider, resource string) (*Server, error) {
	for _, endpoint := range []string{d.Authorization, d.Token, d.Registration, d.Device, d.Pushed, d.Revocation} {
		if endpoint != "" && !isAllowed(provider, endpoint) {
			return nil, badMetadata("The authorization server %s has an endpoint at %s, which is not safe for secrets.", d.Issuer, Shown(endpoint))
		}
	}
	switch {
	case d.Token == "":
		return nil, unsupported(provider, "its authorization server has no token endpoint")
	case !slices.Contains(d.Challenges, "S256"):
		return nil, unsupported(provider, "its authorization server does not support PKCE with S256")
	}
	s := &Server{
		Provider: provider, Resource: resource, Issuer: d.Issuer,
		Authorization: d.Authorization, Token: d.Token, Registration: d.Registration, Device: d.Device, Pushed: d.Pushed, Revocation: d.Revocation,
		SendsIssuer: d.SendsIssuer, CanExchange: slices.Contains(d.GrantTypes, grantExchange),
	}
	for _, client := range d.PreRegistered {
		s.PreRegistered = append(s.PreRegistered, client.ID)
	}
	return s, nil
}

// isAllowed reports whether a provider may name an address: a safe one, and one without TLS
// only if the provider is on this machine too, because it could name any local program.
func isAllowed(provider, address string) bool {
	p, err := url.Parse(provider)
	return err == nil && IsSafe(address) && (strings.HasPrefix(address, "https:") || IsLoopback(p.Hostname()))
}

// badMetadata returns the error for metadata that only the operator of the server can correct.
func badMetadata(format string, args ...any) error {
	e := pdpp.Errorf(pdpp.CodeMetadata, format, args...)
	e.Hint = "Ask the operator of the server to correct it."
	return e
}

func unsupported(provider, why string) error {
	return pdpp.Errorf(pdpp.CodeConnectUnsupported, "%s cannot be connected in this way: %s.", provider, why)
}

package doctor

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const serverMetadata = "/.well-known/oauth-authorization-server"

// authorizationServer checks the document of the authorization server (H-132). It is skipped
// for a server without sign-in, which has no such document (H-135).
func (p *prober) authorizationServer(ctx context.Context) Check {
	c := p.document(ctx, serverMetadata, "issuer", p.origin,
		"authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint", "device_authorization_endpoint",
		"pushed_authorization_request_endpoint", "protected_resources", "service_documentation")
	switch c.Status {
	case Skip:
		return skip("The server has no sign-in.", "Its owner creates tokens with pdpp grants create.")
	case Pass:
		return p.serverMetadata()
	}
	return c
}

// serverMetadata checks what clients need of the document.
func (p *prober) serverMetadata() Check {
	a := p.read[serverMetadata]
	const fix = "Check that this address belongs to pdpp and that nothing rewrites its responses."
	for _, name := range []string{"authorization_endpoint", "token_endpoint"} {
		if a.text(name) == "" {
			return fail(serverMetadata+" has no "+name+".", fix)
		}
	}
	for _, need := range [][2]string{
		{"code_challenge_methods_supported", "S256"},
		{"response_types_supported", "code"},
		{"grant_types_supported", "authorization_code"},
		{"token_endpoint_auth_methods_supported", "none"},
	} {
		if name, value := need[0], need[1]; !slices.Contains(a.texts(name), value) {
			return fail(serverMetadata+" does not list "+value+" in "+name+".", fix)
		}
	}
	return pass("issuer is " + p.origin + ". PKCE with S256. " + p.clientKinds())
}

// clientKinds says how clients become known to the server.
func (p *prober) clientKinds() string {
	a := p.read[serverMetadata]
	registration, documents := "Registration is off", "client documents are off."
	if a.text("registration_endpoint") != "" {
		registration = "Clients may register"
	}
	if a.isTrue("client_id_metadata_document_supported") {
		documents = "client documents are accepted."
	}
	return registration + "; " + documents
}

// endpoint is an endpoint of the authorization server by its name in the document, with a
// request that it refuses with status.
type endpoint struct {
	name, method string
	status       int
}

// endpoints refuse requests without parameters, which change nothing. Registration gets a GET,
// because it might accept an empty POST.
var endpoints = []endpoint{
	{"authorization_endpoint", http.MethodGet, http.StatusBadRequest},
	{"token_endpoint", http.MethodPost, http.StatusBadRequest},
	{"revocation_endpoint", http.MethodPost, http.StatusBadRequest},
	{"device_authorization_endpoint", http.MethodPost, http.StatusBadRequest},
	{"pushed_authorization_request_endpoint", http.MethodPost, http.StatusBadRequest},
	{"registration_endpoint", http.MethodGet, http.StatusMethodNotAllowed},
}

// oauthEndpoints checks that the endpoints of the document answer (H-25). It registers
// nothing.
func (p *prober) oauthEndpoints(ctx context.Context) Check {
	doc := p.read[serverMetadata]
	if doc == nil {
		return skip("The document of the authorization server was not read.", "")
	}
	answered := 0
	for _, e := range endpoints {
		path := strings.TrimPrefix(doc.text(e.name), p.origin)
		if path == "" {
			continue
		}
		if c := p.endpoint(ctx, e, path); c.Status != Pass {
			return c
		}
		answered++
	}
	return pass(strconv.Itoa(answered) + " endpoints answer.")
}

// endpoint checks that an endpoint refuses a request without parameters.
func (p *prober) endpoint(ctx context.Context, e endpoint, path string) Check {
	headers := map[string]string{"Accept": "application/json"}
	if e.method == http.MethodPost {
		headers["Content-Type"] = "application/x-www-form-urlencoded"
	}
	a, err := p.send(ctx, e.method, path, headers, "")
	what := e.method + " " + path + " (" + e.name + ")"
	c, _ := p.checkStatus(a, err, what, e.status)
	switch {
	case c.Status == Fail:
		return c
	case c.Status == Skip: // a 404, but the document names the endpoint
		return fail(what+" returned "+a.summary()+".", "Check that the proxy forwards every path and method unchanged.")
	case e.method == http.MethodPost && a.text("error") == "":
		return fail(what+" returned "+a.summary()+" without an OAuth error.", "Check that nothing rewrites the responses of the server.")
	}
	return pass("")
}

// discovery goes the way of a client: from the challenge of /mcp to the document that it
// names, to the authorization server that is named there. All must agree (H-25).
func (p *prober) discovery(ctx context.Context) Check {
	if p.challenged == "" || p.read[serverMetadata] == nil {
		return skip("The challenge, or the document of the authorization server, was not read.", "")
	}
	path := strings.TrimPrefix(p.challenged, p.origin)
	a, err := p.send(ctx, http.MethodGet, path, nil, "")
	if c, bad := p.checkStatus(a, err, path, http.StatusOK); bad {
		return c
	}
	const fix = "Check that nothing between you and the server changes or caches its responses."
	servers, issuer := a.texts("authorization_servers"), p.read[serverMetadata].text("issuer")
	switch {
	case a.text("resource") != p.origin+"/mcp":
		return fail("The challenge of "+p.origin+"/mcp leads to a document about "+quoted(a.text("resource"))+".", fix)
	case len(servers) == 0:
		return fail(path+" has no authorization_servers, but there is an authorization server.", fix)
	case !slices.Contains(servers, issuer):
		return fail(path+" names the authorization server "+quoted(servers[0])+", whose document says "+quoted(issuer)+".", fix)
	}
	return pass("The challenge of /mcp leads to the authorization server " + issuer + ".")
}

package doctor

import (
	"context"
	"net/http"
	"strings"
	"time"

	"pdpp"
)

const (
	timeout = 10 * time.Second
	maxBody = 256 << 10
)

// prober runs the checks of one server.
type prober struct {
	client *http.Client
	origin string // scheme and host, as the caller wrote it

	read       map[string]*response // valid documents by their path
	challenged string               // the document that the challenge of /mcp names
}

// Remote checks the server at an origin: scheme, host, optional port.
func Remote(ctx context.Context, origin string) []Check {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	p := &prober{origin: origin, read: map[string]*response{}, client: &http.Client{
		Transport: transport, Timeout: timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	steps := []struct {
		id  string
		run func(context.Context) Check
	}{
		{"healthz", p.health},
		{"resource_metadata", p.resourceMetadata},
		{"mcp_metadata", p.mcpMetadata},
		{"authorization_server", p.authorizationServer},
		{"oauth_endpoints", p.oauthEndpoints},
		{"mcp_challenge", p.challenge},
		{"oauth_discovery", p.discovery},
		{"cors_preflight", p.preflight},
		{"icon", p.icon},
	}
	var checks []Check
	for i, s := range steps {
		c := skip("The server was not reached.", "")
		if i == 0 || checks[0].Status != Fail {
			c = s.run(ctx)
		}
		c.ID = s.id
		checks = append(checks, c)
	}
	return checks
}

func (p *prober) health(ctx context.Context) Check {
	a, err := p.send(ctx, http.MethodGet, "/healthz", nil, "")
	switch {
	case err != nil:
		return fail("The server cannot be reached: "+err.Error()+".", "Check that pdpp serve runs, that the host name points to it, and its certificate.")
	case a.status != http.StatusOK || a.text("status") != "ok":
		return fail("/healthz returned "+a.summary()+" instead of 200 with a status of ok.", "Check that this address belongs to pdpp and that every path is forwarded to it.")
	case strings.HasPrefix(p.origin, "http://") && !isLoopback(p.origin):
		return Check{Status: Warn, Detail: "The server is up, but it is reached without encryption.", Fix: "Use TLS: --tls-cert and --tls-key, or a proxy."}
	}
	return pass("The server is up.")
}

func (p *prober) resourceMetadata(ctx context.Context) Check {
	return p.document(ctx, "/.well-known/oauth-protected-resource", "resource", p.origin,
		"authorization_servers", "pdpp_core_query_base", "resource_documentation", "pdpp_discovery_hints.mcp_endpoint",
		"pdpp_agent_discovery.mcp.endpoint", "pdpp_agent_discovery.mcp.resource_metadata")
}

func (p *prober) mcpMetadata(ctx context.Context) Check {
	return p.document(ctx, "/.well-known/oauth-protected-resource/mcp", "resource", p.origin+"/mcp",
		"authorization_servers", "pdpp_core_query_base", "resource_documentation", "pdpp_agent_discovery.mcp.endpoint")
}

// document checks a metadata document. One member must have the given value. The others,
// if present, must be URLs below the origin (H-25).
func (p *prober) document(ctx context.Context, path, name, want string, others ...string) Check {
	a, err := p.send(ctx, http.MethodGet, path, nil, "")
	if c, bad := p.checkStatus(a, err, path, http.StatusOK); bad {
		return c
	}
	got := a.text(name)
	if got == "" {
		return fail(path+" has no "+name+".", "Check that this address belongs to pdpp and that nothing rewrites its responses.")
	}
	if got != want {
		return p.otherOrigin(path, name, got)
	}
	for _, member := range others {
		for _, value := range a.texts(member) {
			if value != p.origin && !strings.HasPrefix(value, p.origin+"/") {
				return p.otherOrigin(path, member, value)
			}
		}
	}
	p.read[path] = a
	return pass(name + " is " + got + ".")
}

// otherOrigin returns a failure that names both addresses and the setting to change
// (H-26).
func (p *prober) otherOrigin(path, name, got string) Check {
	return fail("In "+path+", "+name+" is "+got+"; you used "+p.origin+".",
		"If "+p.origin+" is the public address, start the server with --public-url "+p.origin+". Otherwise run the doctor with the public address.")
}

// challenge sends a request without a token. Status, header and body of the response must
// agree (H-50).
func (p *prober) challenge(ctx context.Context) Check {
	headers := map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
	a, err := p.send(ctx, http.MethodPost, "/mcp", headers, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if c, bad := p.checkStatus(a, err, "/mcp", http.StatusUnauthorized); bad {
		return c
	}
	want := p.origin + "/.well-known/oauth-protected-resource/mcp"
	header := a.header.Get("WWW-Authenticate")
	inHeader, inBody := authParam(header, "resource_metadata"), a.text("error.resource_metadata")
	switch {
	case header == "":
		return fail("The 401 of /mcp has no WWW-Authenticate header.", "Let the proxy forward this header. Clients need it to get a token.")
	case inHeader != inBody:
		return fail("The header of the 401 names "+quoted(inHeader)+", its body "+quoted(inBody)+".", "Check that nothing rewrites the responses of the server.")
	case inHeader != want:
		return p.otherOrigin("/mcp", "resource_metadata", inHeader)
	case authParam(header, "error") != "" || a.code() != pdpp.CodeAuthentication:
		return fail("The 401 of /mcp says that the token is invalid, but none was sent.", "Check that the proxy adds no Authorization header.")
	}
	p.challenged = inHeader
	return pass("401, header and body name " + inHeader + ".")
}

// preflight sends the preflight of a page of the own origin of the server (H-57).
func (p *prober) preflight(ctx context.Context) Check {
	a, err := p.send(ctx, http.MethodOptions, "/mcp", map[string]string{
		"Origin": p.origin, "Access-Control-Request-Method": "POST",
		"Access-Control-Request-Headers": "authorization,content-type,mcp-protocol-version",
	}, "")
	if c, bad := p.checkStatus(a, err, "OPTIONS /mcp", http.StatusNoContent); bad {
		return c
	}
	h := a.header
	const fix = "Let the server answer OPTIONS itself, and let the proxy add no CORS headers."
	switch {
	case h.Get("Access-Control-Allow-Origin") != p.origin:
		return fail("A preflight from "+p.origin+" is allowed for "+quoted(h.Get("Access-Control-Allow-Origin"))+".", fix)
	case len(h.Values("Access-Control-Allow-Origin")) > 1:
		return fail("The preflight has more than one Access-Control-Allow-Origin.", fix)
	case !lists(h, "Access-Control-Allow-Methods", "POST"), !lists(h, "Access-Control-Allow-Headers", "authorization"):
		return fail("The preflight does not allow POST with Authorization.", fix)
	case h.Get("Access-Control-Allow-Credentials") != "":
		return fail("The preflight allows credentials.", fix)
	}
	return pass("Pages of " + p.origin + " may call /mcp.")
}

func (p *prober) icon(ctx context.Context) Check {
	a, err := p.send(ctx, http.MethodGet, "/icon.svg", nil, "")
	if c, bad := p.checkStatus(a, err, "/icon.svg", http.StatusOK); bad {
		return c
	}
	if kind := a.header.Get("Content-Type"); !strings.HasPrefix(kind, "image/svg+xml") {
		return fail("/icon.svg is "+quoted(kind)+".", "Let the server answer /icon.svg itself.")
	}
	return pass("/icon.svg is an SVG image.")
}

// checkStatus returns a check for a response with another status than the wanted one.
func (p *prober) checkStatus(a *response, err error, what string, want int) (Check, bool) {
	switch {
	case err != nil:
		return fail(what+" cannot be read: "+err.Error()+".", "Check the time limits of the proxy, and that it forwards every path."), true
	case a.status == want:
		return Check{}, false
	case a.status == http.StatusMisdirectedRequest:
		return fail("The server does not answer for "+p.origin+" (421).",
			"Start it with --public-url "+p.origin+", or add the host with --trusted-hosts; behind a proxy also --trusted-proxies."), true
	case a.status == http.StatusNotFound && a.code() == pdpp.CodeNotFound:
		return skip("The server has no "+what+".", "It comes with hosted MCP, in a newer version of pdpp."), true
	}
	return fail(what+" returned "+a.summary()+".", "Check that this address belongs to pdpp, and that the proxy forwards every path unchanged."), true
}

package doctor

import (
	"context"
	"net/http"
	"strings"
	"time"
)

const (
	timeout = 10 * time.Second
	maxBody = 256 << 10
)

// walk is one look at a server.
type walk struct {
	client *http.Client
	origin string // scheme and host, as the caller wrote it
}

// Remote looks at the server at an origin: scheme, host, optional port.
func Remote(ctx context.Context, origin string) []Check {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	w := &walk{origin: origin, client: &http.Client{
		Transport: transport, Timeout: timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	steps := []struct {
		id  string
		run func(context.Context) Check
	}{
		{"healthz", w.health},
		{"resource_metadata", w.resourceMetadata},
		{"mcp_metadata", w.mcpMetadata},
		{"authorization_server", w.authorizationServer},
		{"mcp_challenge", w.challenge},
		{"cors_preflight", w.preflight},
		{"icon", w.icon},
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

func (w *walk) health(ctx context.Context) Check {
	a, err := w.ask(ctx, http.MethodGet, "/healthz", nil, "")
	switch {
	case err != nil:
		return fail("The server cannot be reached: "+err.Error()+".", "Check that pdpp serve runs, that the name leads to it, and its certificate.")
	case a.status != http.StatusOK || a.text("status") != "ok":
		return fail("/healthz answers "+a.summary()+", not 200 with a status of ok.", "Check that this address leads to pdpp: forward every path to it.")
	case strings.HasPrefix(w.origin, "http://") && !isLoopback(w.origin):
		return Check{Status: Warn, Detail: "The server is up, and is reached without encryption.", Fix: "Put it behind TLS: --tls-cert and --tls-key, or a proxy."}
	}
	return pass("The server is up.")
}

func (w *walk) resourceMetadata(ctx context.Context) Check {
	return w.document(ctx, "/.well-known/oauth-protected-resource", "resource", w.origin,
		"authorization_servers", "pdpp_core_query_base", "resource_documentation", "pdpp_discovery_hints.mcp_endpoint",
		"pdpp_agent_discovery.mcp.endpoint", "pdpp_agent_discovery.mcp.resource_metadata")
}

func (w *walk) mcpMetadata(ctx context.Context) Check {
	return w.document(ctx, "/.well-known/oauth-protected-resource/mcp", "resource", w.origin+"/mcp",
		"authorization_servers", "pdpp_core_query_base", "resource_documentation", "pdpp_agent_discovery.mcp.endpoint")
}

// authorizationServer is skipped where there is none: a server without sign-in has no
// such document (H-135).
func (w *walk) authorizationServer(ctx context.Context) Check {
	c := w.document(ctx, "/.well-known/oauth-authorization-server", "issuer", w.origin,
		"authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint", "device_authorization_endpoint",
		"pushed_authorization_request_endpoint", "protected_resources", "service_documentation")
	if c.Status == Skip {
		return skip("The server has no sign-in.", "Its owner makes tokens with pdpp grants create.")
	}
	return c
}

// document reads a metadata document. One member has to be exactly what it should be;
// the others, where they are there, have to be below the origin (H-25).
func (w *walk) document(ctx context.Context, path, name, want string, others ...string) Check {
	a, err := w.ask(ctx, http.MethodGet, path, nil, "")
	if c, bad := w.refused(a, err, path, http.StatusOK); bad {
		return c
	}
	got := a.text(name)
	if got == "" {
		return fail(path+" has no "+name+": it is not the document it should be.", "Check that this address leads to pdpp and that nothing rewrites its answers.")
	}
	if got != want {
		return w.otherOrigin(path, name, got)
	}
	for _, member := range others {
		for _, value := range a.texts(member) {
			if value != w.origin && !strings.HasPrefix(value, w.origin+"/") {
				return w.otherOrigin(path, member, value)
			}
		}
	}
	return pass(name + " is " + got + ".")
}

// otherOrigin names both addresses and the setting that makes them one (H-26).
func (w *walk) otherOrigin(path, name, got string) Check {
	return fail(path+" says that "+name+" is "+got+"; you used "+w.origin+".",
		"When people use "+w.origin+", start the server with --public-url "+w.origin+". Otherwise ask the doctor about the address they use.")
}

// challenge asks without a token: status, header and body have to agree (H-50).
func (w *walk) challenge(ctx context.Context) Check {
	headers := map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
	a, err := w.ask(ctx, http.MethodPost, "/mcp", headers, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if c, bad := w.refused(a, err, "/mcp", http.StatusUnauthorized); bad {
		return c
	}
	want := w.origin + "/.well-known/oauth-protected-resource/mcp"
	header := a.header.Get("WWW-Authenticate")
	inHeader, inBody := authParam(header, "resource_metadata"), a.text("error.resource_metadata")
	switch {
	case header == "":
		return fail("The 401 of /mcp has no WWW-Authenticate header.", "Let the proxy pass this header on; without it no client finds the way to a token.")
	case inHeader != inBody:
		return fail("The header of the 401 names "+quoted(inHeader)+", its body "+quoted(inBody)+".", "Check that nothing rewrites the answers of the server.")
	case inHeader != want:
		return w.otherOrigin("/mcp", "resource_metadata", inHeader)
	case authParam(header, "error") != "" || a.text("error.code") != "authentication_error":
		return fail("The 401 of /mcp speaks of a bad token, and none was sent.", "Check that the proxy adds no Authorization header.")
	}
	return pass("401, header and body name " + inHeader + ".")
}

// preflight asks what a browser asks before a page of the server's own origin calls
// it (H-57).
func (w *walk) preflight(ctx context.Context) Check {
	a, err := w.ask(ctx, http.MethodOptions, "/mcp", map[string]string{
		"Origin": w.origin, "Access-Control-Request-Method": "POST",
		"Access-Control-Request-Headers": "authorization,content-type,mcp-protocol-version",
	}, "")
	if c, bad := w.refused(a, err, "OPTIONS /mcp", http.StatusNoContent); bad {
		return c
	}
	h := a.header
	const mend = "Let the server answer OPTIONS itself, and have no CORS headers added in front of it."
	switch {
	case h.Get("Access-Control-Allow-Origin") != w.origin:
		return fail("A preflight from "+w.origin+" is allowed for "+quoted(h.Get("Access-Control-Allow-Origin"))+".", mend)
	case len(h.Values("Access-Control-Allow-Origin")) > 1:
		return fail("The preflight has more than one Access-Control-Allow-Origin.", mend)
	case !lists(h, "Access-Control-Allow-Methods", "POST"), !lists(h, "Access-Control-Allow-Headers", "authorization"):
		return fail("The preflight does not allow POST with Authorization.", mend)
	case h.Get("Access-Control-Allow-Credentials") != "":
		return fail("The preflight allows credentials.", mend)
	}
	return pass("Pages of " + w.origin + " may call /mcp.")
}

func (w *walk) icon(ctx context.Context) Check {
	a, err := w.ask(ctx, http.MethodGet, "/icon.svg", nil, "")
	if c, bad := w.refused(a, err, "/icon.svg", http.StatusOK); bad {
		return c
	}
	if kind := a.header.Get("Content-Type"); !strings.HasPrefix(kind, "image/svg+xml") {
		return fail("/icon.svg is "+quoted(kind)+".", "Let the server answer /icon.svg itself, with its own Content-Type.")
	}
	return pass("/icon.svg is an SVG image.")
}

// refused judges an answer that is not of the status it should be.
func (w *walk) refused(a *answer, err error, what string, want int) (Check, bool) {
	switch {
	case err != nil:
		return fail(what+" cannot be read: "+err.Error()+".", "Check that the proxy forwards every path, and its time limits."), true
	case a.status == want:
		return Check{}, false
	case a.status == http.StatusMisdirectedRequest:
		return fail("The server does not answer for "+w.origin+" (421).",
			"Start it with --public-url "+w.origin+", or add the host with --trusted-hosts; behind a proxy also --trusted-proxies."), true
	case a.status == http.StatusNotFound && a.text("error.code") == "not_found":
		return skip("The server has no "+what+".", "It comes with hosted MCP, in a newer version of pdpp."), true
	}
	return fail(what+" answers "+a.summary()+".", "Check that this address leads to pdpp, and that the proxy forwards every path as it is."), true
}

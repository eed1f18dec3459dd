package cli

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"pdpp"
	"pdpp/internal/credential"
	"pdpp/internal/mcp"
	"pdpp/internal/mcpserve"
	"pdpp/internal/rsclient"
)

// mcpCommand is `pdpp mcp`: it serves the tools to one program over standard input and
// output (mcp-surface §17). No flag selects tools (SETUP-2).
type mcpCommand struct {
	Provider    string `arg:"" optional:"" name:"provider-url" help:"Server to read, such as https://data.example."`
	ProviderURL string `name:"provider-url" var:"PDPP_PROVIDER_URL" placeholder:"URL" help:"The same server, as a flag."`
	Grant       string `var:"PDPP_GRANT_ID" placeholder:"ID" help:"Read under this grant (default: the last one saved that has not expired)."`
	LogLevel    string `default:"info" enum:"error,warn,info,debug" placeholder:"LEVEL" help:"Level of the log on standard error: error, warn, info, debug (default: ${default})."`
	Version     bool   `help:"Print the version."`
	cacheFlag
}

// Run implements the command. It checks in the order of MS-261, without a network call.
func (c *mcpCommand) Run(ctx context.Context, a *app) error {
	_, flush := a.startLogPipe("json")
	defer flush()
	if c.Version {
		a.note("pdpp %s", readVersion().Version)
		return nil
	}
	provider, err := c.provider(a)
	if err != nil {
		return err
	}
	holder, err := c.hold(a, provider)
	if err != nil {
		return a.withAdvice(err, provider, c.CacheRoot)
	}
	grant, file, err := holder.Current(ctx)
	if err != nil {
		return err
	}
	log := newLogger(a.Stderr, "json", c.LogLevel)
	rs, err := newHeldReader(holder, rsclient.Config{
		Provider: provider, Version: readVersion().Version, Transport: refusalWatcher{rsclient.Pooled(), holder},
		Token: bearerOf(holder.Token, provider, log), Renew: holder.Renew, OwnerToken: refuseOwner(holder, log), Log: log, Clock: a.Now,
	})
	if err != nil {
		return err
	}
	server := mcpserve.New(mcpserve.Config{
		Surface:  &mcp.Surface{RS: rs, Log: log, Reconnect: adviceForModels(provider, c.CacheRoot)},
		Identity: mcpserve.NewIdentity(rs.Provider(), readVersion().Version, ""), Log: log, Now: a.Now,
	})
	setGCPercent(adapterGCPercent)
	a.note("pdpp mcp: serving %s with grant %s from %s", provider, grant, file)
	return serveStdio(ctx, server, a.Env)
}

// serveStdio serves until the host closes standard input or standard output. Because
// SIGPIPE is ignored (see startLogPipe), a closed standard output is an error of the next
// write.
func serveStdio(ctx context.Context, server *mcpserve.Server, env Env) error {
	err := mcpserve.Serve(ctx, server, env.Stdin, env.Stdout)
	if errors.Is(err, mcpserve.ErrWrite) {
		return &pdpp.Error{Code: pdpp.CodeInternal, Message: "Standard output was closed before the last message was written.", Err: err}
	}
	return err
}

func (c *mcpCommand) provider(a *app) (string, error) {
	raw := c.Provider
	if raw == "" {
		raw = c.ProviderURL
	}
	provider, err := credential.Provider(raw)
	if err != nil || c.Provider == "" || c.ProviderURL == "" || c.ProviderURL == a.Getenv("PDPP_PROVIDER_URL") {
		return provider, err
	}
	if other, err := credential.Provider(c.ProviderURL); err != nil || other != provider {
		return "", pdpp.Errorf(pdpp.CodeUsage, "The command line names two different servers. Name only one.")
	}
	return provider, nil
}

// hold refuses owner credentials in the environment before it opens the cache (D5). Then
// it chooses a credential.
func (c *mcpCommand) hold(a *app, provider string) (*credential.Holder, error) {
	if name := ownerVariable(a.Environ); name != "" {
		return nil, &pdpp.Error{
			Code:    pdpp.CodeOwnerCredential,
			Message: "The variable " + name + " contains an owner credential. The adapter accepts only the credential of a grant.",
		}
	}
	cache, err := a.cache(c.cacheFlag)
	if err != nil {
		return nil, err
	}
	return cache.Hold(provider, c.Grant)
}

// ownerVariable returns the name of a variable with an owner's credential; "" for none. It
// finds variables whose name begins with PDPP_OWNER_ or PDPP_CONTROL_, and PDPP_
// variables whose value is an owner token.
func ownerVariable(environ func() []string) string {
	if environ == nil {
		return ""
	}
	for _, v := range environ() {
		name, value, _ := strings.Cut(v, "=")
		upper := strings.ToUpper(name)
		byName := strings.HasPrefix(upper, "PDPP_OWNER_") || strings.HasPrefix(upper, "PDPP_CONTROL_")
		byValue := strings.HasPrefix(upper, "PDPP_") && credential.IsOwnerToken(strings.TrimSpace(value))
		if byName && value != "" || byValue {
			return name
		}
	}
	return ""
}

// bearerOf returns a function that returns a token, with errors for an assistant. A renewal
// that failed on the network is reported as temporary, not as a missing authorization.
// Details go to the log: they name files and do not help an assistant.
func bearerOf(get func(context.Context) (string, error), provider string, log *slog.Logger) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		token, err := get(ctx)
		var e *pdpp.Error
		if !errors.As(err, &e) {
			return token, err
		}
		log.WarnContext(ctx, "the credential cannot be used", "code", string(e.Code), "error", e.Message)
		return "", unusable(e.Code, provider)
	}
}

// unusable returns the error of a call without a usable credential.
func unusable(code pdpp.Code, provider string) *rsclient.Error {
	switch code {
	case pdpp.CodeProviderUnreachable:
		return rsclient.Refused(pdpp.CodeUpstreamUnreachable,
			"The saved credential for "+provider+" has expired, and it could not be renewed: its token endpoint returned no new token.",
			"Check that the server at "+provider+" runs, then try again. If this persists, the owner must connect again.")
	case pdpp.CodeBusy:
		return rsclient.Refused(pdpp.CodeUnavailable,
			"Another program is renewing the saved credential for "+provider+".", "Try again in a moment.")
	case pdpp.CodeGrantRevoked:
		e := rsclient.Refused(pdpp.CodeGrantRevoked, "The grant of this connection has ended: "+provider+" no longer issues tokens for it.", "")
		e.Status = http.StatusForbidden // as if the read itself had been refused (H-94)
		return e
	case pdpp.CodeOwnerCredential:
		return rsclient.Refused(pdpp.CodeOwnerCredential,
			"The saved credential for "+provider+" is the owner's. The adapter accepts only the credential of a grant.", "")
	}
	return rsclient.Refused(pdpp.CodeInvalidToken, "The saved credential for "+provider+" cannot be used: "+string(code)+".", "")
}

// refuseOwner returns a function that stops the use of a token after the server reported it
// as an owner's (D5).
func refuseOwner(h *credential.Holder, log *slog.Logger) func(context.Context, string) {
	return func(ctx context.Context, token string) {
		log.ErrorContext(ctx, "the server reports that the credential is an owner's; it is not used again")
		if err := h.RefuseOwner(ctx, token); err != nil {
			log.ErrorContext(ctx, "the file of the credential could not be marked", "error", err)
		}
	}
}

// refusalWatcher notices when the server refuses the credential, so that the next call
// chooses a credential again (MS-267).
type refusalWatcher struct {
	http.RoundTripper
	holder *credential.Holder
}

// RoundTrip implements http.RoundTripper.
func (w refusalWatcher) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := w.RoundTripper.RoundTrip(req)
	if err == nil && (resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden) {
		w.holder.Recheck(req.Context())
	}
	return resp, err
}

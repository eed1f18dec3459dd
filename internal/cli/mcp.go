package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"pdpp"
	"pdpp/internal/credential"
	"pdpp/internal/mcp"
	"pdpp/internal/mcpserve"
	"pdpp/internal/rsclient"
)

// mcpCommand is `pdpp mcp`: the tools for one program, over its standard input and
// output (mcp-surface §17). There is no flag that selects tools (SETUP-2).
type mcpCommand struct {
	Provider    string `arg:"" optional:"" name:"provider-url" help:"The server to read, like https://data.example."`
	ProviderURL string `name:"provider-url" var:"PDPP_PROVIDER_URL" placeholder:"URL" help:"The same as a flag."`
	Grant       string `var:"PDPP_GRANT_ID" placeholder:"ID" help:"Read under this grant (default: the last one saved)."`
	LogLevel    string `default:"info" enum:"error,warn,info,debug" placeholder:"LEVEL" help:"What is logged to standard error: error, warn, info, debug (default: ${default})."`
	Version     bool   `help:"Say which version this is."`
	cacheFlag
}

// Run implements the command. The order of the checks is that of MS-261; none of them
// makes a call.
func (c *mcpCommand) Run(ctx context.Context, a *app) error {
	_, flush := a.logAside("json")
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
		return withAdvice(err, provider, c.CacheRoot)
	}
	grant, file, err := holder.Current(ctx)
	if err != nil {
		return err
	}
	log := newLogger(a.Stderr, "json", c.LogLevel)
	rs, err := newHeldReader(holder, rsclient.Config{
		Provider: provider, Version: readVersion().Version, Transport: doubting{rsclient.Pooled(), holder},
		Token: bearerOf(holder, provider, log), Renew: holder.Renew, OwnerToken: refuseOwner(holder, log), Log: log, Clock: a.Now,
	})
	if err != nil {
		return err
	}
	server := mcpserve.New(mcpserve.Config{
		Surface:  &mcp.Surface{RS: rs, Log: log, Reconnect: adviceForModels(provider, c.CacheRoot)},
		Identity: mcpserve.NewIdentity(rs.Provider(), readVersion().Version, ""), Log: log, Now: a.Now,
	})
	collectAt(adapterGarbage)
	a.note("pdpp mcp: serving %s with grant %s from %s", provider, grant, file)
	return serveStdio(ctx, server, a.Env)
}

// serveStdio serves until the host is done. A host that closes its end of standard
// output is gone too, even while it keeps standard input open. (SIGPIPE is ignored, see
// logAside: the next message to it is an error.)
func serveStdio(ctx context.Context, server *mcpserve.Server, env Env) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := mcpserve.Serve(ctx, server, env.Stdin, &lostWriter{Writer: env.Stdout, lost: cancel})
	var lost *pdpp.Error
	if errors.As(context.Cause(ctx), &lost) {
		return lost
	}
	return err
}

// lostWriter tells when nobody reads any more.
type lostWriter struct {
	io.Writer
	lost context.CancelCauseFunc
}

// Write implements io.Writer.
func (w *lostWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil {
		w.lost(&pdpp.Error{Code: pdpp.CodeInternal, Message: "Standard output was closed while there was more to write.", Err: err})
	}
	return n, err
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
		return "", pdpp.Errorf(pdpp.CodeUsage, "Two provider URLs are given; one is enough.")
	}
	return provider, nil
}

// hold refuses owner credentials before the cache is touched (D5), then chooses.
func (c *mcpCommand) hold(a *app, provider string) (*credential.Holder, error) {
	if name := ownerVariable(a.Environ); name != "" {
		return nil, &pdpp.Error{
			Code:    pdpp.CodeOwnerCredential,
			Message: "The variable " + name + " is set: an owner credential. Only a credential that is limited by a grant may be used here.",
		}
	}
	cache, err := a.cache(c.cacheFlag)
	if err != nil {
		return nil, err
	}
	return cache.Hold(provider, c.Grant)
}

// ownerVariable names a variable that holds an owner's credential; "" for none: one of an
// owner or of a control plane by its name, or any of this program's with an owner's token.
func ownerVariable(environ func() []string) string {
	if environ == nil {
		return ""
	}
	for _, v := range environ() {
		name, value, _ := strings.Cut(v, "=")
		known := strings.ToUpper(name)
		isNamed := strings.HasPrefix(known, "PDPP_OWNER_") || strings.HasPrefix(known, "PDPP_CONTROL_")
		isOwners := strings.HasPrefix(known, "PDPP_") && credential.IsOwnerToken(strings.TrimSpace(value))
		if isNamed && value != "" || isOwners {
			return name
		}
	}
	return ""
}

// bearerOf gives the token of the held credential. Trouble on the way to a renewal
// passes, and is not a lost authorization. What is wrong in detail goes to the log: an
// assistant has no use for it, and it names files.
func bearerOf(h *credential.Holder, provider string, log *slog.Logger) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		token, err := h.Token(ctx)
		var e *pdpp.Error
		if !errors.As(err, &e) {
			return token, err
		}
		log.WarnContext(ctx, "the credential cannot be used", "code", string(e.Code), "error", e.Message)
		return "", unusable(e.Code, provider)
	}
}

// unusable is the error of a call that has no credential to be made with.
func unusable(code pdpp.Code, provider string) *rsclient.Error {
	switch code {
	case pdpp.CodeProviderUnreachable:
		return rsclient.Refused(rsclient.CodeUnreachable,
			"The saved credential for "+provider+" has expired, and it could not be renewed: its token endpoint gave no new token.",
			"Check that the server at "+provider+" runs, then try again. If this goes on, the owner must connect again.")
	case pdpp.CodeBusy:
		return rsclient.Refused(string(pdpp.CodeUnavailable),
			"Another program is renewing the saved credential for "+provider+".", "Try again in a moment.")
	case pdpp.CodeOwnerCredential:
		return rsclient.Refused(rsclient.CodeOwner,
			"The saved credential for "+provider+" is the owner's. Only a credential that is limited by a grant may be used here.", "")
	}
	return rsclient.Refused(string(pdpp.CodeInvalidToken), "The saved credential for "+provider+" cannot be used: "+string(code)+".", "")
}

// refuseOwner stops the use of a token that the server says is an owner's (D5).
func refuseOwner(h *credential.Holder, log *slog.Logger) func(context.Context, string) {
	return func(ctx context.Context, token string) {
		log.ErrorContext(ctx, "the server says that the credential is an owner's; it is not used again")
		if err := h.RefuseOwner(ctx, token); err != nil {
			log.ErrorContext(ctx, "the file of the credential could not be marked", "error", err)
		}
	}
}

// doubting notices that the server refuses the credential, so that the next call
// chooses again (MS-267).
type doubting struct {
	http.RoundTripper
	holder *credential.Holder
}

// RoundTrip implements http.RoundTripper.
func (d doubting) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := d.RoundTripper.RoundTrip(req)
	if err == nil && (resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden) {
		d.holder.Doubt(req.Context())
	}
	return resp, err
}

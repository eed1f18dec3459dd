package cli

import (
	"context"
	"errors"
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
	Grant       string `var:"PDPP_GRANT_ID" placeholder:"ID" help:"Read under this grant (default: that of the latest credential)."`
	LogLevel    string `default:"info" enum:"error,warn,info,debug" placeholder:"LEVEL" help:"What is logged to standard error: error, warn, info, debug."`
	Version     bool   `help:"Say which version this is."`
	cacheFlag
}

// Run implements the command. The order of the checks is that of MS-261; none of them
// makes a call.
func (c *mcpCommand) Run(ctx context.Context, a *app) error {
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
		return reconnect(err, provider)
	}
	grant, file, err := holder.Current(ctx)
	if err != nil {
		return err
	}
	log := newLogger(a.Stderr, "json", c.LogLevel)
	rs, err := rsclient.New(rsclient.Config{
		Provider: provider, Version: readVersion().Version, Transport: doubting{rsclient.Pooled(), holder},
		Token: bearerOf(holder), Renew: holder.Renew, Log: log, Clock: a.Now,
	})
	if err != nil {
		return err
	}
	server := mcpserve.New(mcpserve.Config{
		Surface:  &mcp.Surface{RS: rs, Log: log, Reconnect: pdpp.ConnectCommand(provider)},
		Identity: mcpserve.NewIdentity(rs.Provider(), readVersion().Version, ""), Log: log, Now: a.Now,
	})
	a.note("pdpp mcp: serving %s with grant %s from %s", provider, grant, file)
	return mcpserve.Serve(ctx, server, a.Stdin, a.Stdout)
}

func (c *mcpCommand) provider(a *app) (string, error) {
	if a.Data != "" || a.Owner != "" {
		return "", pdpp.Errorf(pdpp.CodeUsage, "--data and --owner mean nothing to mcp: it reads a server.")
	}
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

// ownerVariable names a variable that holds an owner's credential; "" for none. Its
// value is only compared with nothing.
func ownerVariable(environ func() []string) string {
	if environ == nil {
		return ""
	}
	for _, v := range environ() {
		name, value, _ := strings.Cut(v, "=")
		if strings.HasPrefix(strings.ToUpper(name), "PDPP_OWNER_") && value != "" {
			return name
		}
	}
	return ""
}

// reconnect ends the message about a credential with what to do (MS-262).
func reconnect(err error, provider string) error {
	var e *pdpp.Error
	if !errors.As(err, &e) || exits[e.Code] != exitPermission && exits[e.Code] != exitConfig {
		return err
	}
	shown := *e
	if e.Code == pdpp.CodeOwnerCredential {
		shown.Hint = "Remove the owner credential."
	}
	shown.Hint = strings.TrimSpace(shown.Hint + " Run: " + pdpp.ConnectCommand(provider))
	return &shown
}

// bearerOf gives the token of the held credential. Trouble on the way to a renewal
// passes, and is not a lost authorization.
func bearerOf(h *credential.Holder) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		token, err := h.Token(ctx)
		var e *pdpp.Error
		switch {
		case !errors.As(err, &e):
			return token, err
		case e.Code == pdpp.CodeProviderUnreachable || e.Code == pdpp.CodeBusy:
			return "", &rsclient.Error{Code: rsclient.CodeUnreachable, Message: e.Message}
		}
		return "", &rsclient.Error{Code: string(pdpp.CodeInvalidToken), Message: e.Message}
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

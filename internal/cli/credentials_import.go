package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"pdpp"
	"pdpp/internal/credential"
	"pdpp/internal/rsclient"
	"pdpp/internal/secret"
)

// credentialsImport is `pdpp credentials import` (H-27).
type credentialsImport struct {
	Provider      string `arg:"" name:"provider-url" help:"Server of the token."`
	Grant         string `placeholder:"ID" help:"Grant of the token (default: that of the input, else a generated name)."`
	TokenEndpoint string `placeholder:"URL" help:"Endpoint that renews the token, if the input does not contain it."`
	ClientID      string `placeholder:"ID" help:"Client of the refresh token, if the input does not contain it."`
	cacheFlag
	jsonFlag
}

// importMax bounds the bytes that are read of a token or of the JSON that contains it.
const importMax = 64 << 10

// Run implements the command. It reads the token from standard input, because other users
// can see flags (H-9).
func (c *credentialsImport) Run(ctx context.Context, a *app) error {
	provider, cache, err := a.cacheFor(c.Provider, c.cacheFlag)
	if err != nil {
		return err
	}
	if c.Grant != "" && !credential.ValidID(c.Grant) {
		return pdpp.Errorf(pdpp.CodeUsage, "--grant does not accept %q: write the id of a grant, such as grt_….", c.Grant)
	}
	cred, err := a.readCredential()
	if err != nil {
		return err
	}
	c.complete(cred, provider)
	if err := cred.CheckRenewal(); err != nil {
		return err
	}
	if err := a.verifyToken(ctx, provider, cred.Token); err != nil {
		return err
	}
	if err := cache.Put(ctx, cred); err != nil {
		return err
	}
	if c.JSON {
		return a.printJSON(credentialRow(cred, a.Now()))
	}
	return a.print("Saved the credential of " + cred.ID + " for " + provider + ".\n" + a.next(setupFor(provider, c.CacheRoot)))
}

// complete sets the values of the flags, and a generated name if there is none.
func (c *credentialsImport) complete(cred *credential.Credential, provider string) {
	cred.Provider, cred.Resource = provider, provider
	cred.TokenEndpoint = cmp.Or(c.TokenEndpoint, cred.TokenEndpoint)
	cred.ClientID = cmp.Or(c.ClientID, cred.ClientID)
	if cred.ID = cmp.Or(c.Grant, cred.ID); !credential.ValidID(cred.ID) {
		cred.ID = secret.ID("imported_")[:len("imported_")+8]
	}
}

// readCredential reads one line with a token, or a JSON object with a token: the answer of
// a token endpoint, or a saved credential.
func (a *app) readCredential() (*credential.Credential, error) {
	if isTerminal(a.Stdin) {
		a.note("Paste the token, then press Enter.")
	}
	in := bufio.NewReader(io.LimitReader(a.Stdin, importMax))
	if isJSON(in) {
		var raw json.RawMessage
		if err := json.NewDecoder(in).Decode(&raw); err != nil {
			return nil, pdpp.Errorf(pdpp.CodeInvalidInput, "Standard input is not valid JSON. Pass a token alone, or the answer of a token endpoint.")
		}
		cred, err := credential.FromJSON(raw, a.Now())
		if err != nil {
			return nil, hinted(err, "Nothing was saved. Pass the token of a grant alone, or the answer of a token endpoint.")
		}
		if cred.IsPackage() {
			return nil, a.errPackageToken()
		}
		return cred, a.checkToken(cred.Token)
	}
	line, err := in.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, &pdpp.Error{Code: pdpp.CodeInputMissing, Message: "The token could not be read.", Err: err}
	}
	token := strings.TrimSpace(line)
	cred := &credential.Credential{Token: token, Kind: string(pdpp.TokenClient), Status: credential.Active, CreatedAt: a.Now()}
	return cred, a.checkToken(token)
}

// isJSON reports whether the input begins with an object.
func isJSON(in *bufio.Reader) bool {
	for {
		b, err := in.Peek(1)
		if err != nil || !strings.ContainsAny(string(b), " \t\r\n") {
			return err == nil && b[0] == '{'
		}
		_, _ = in.Discard(1) // the byte is in the buffer
	}
}

// checkToken refuses a malformed token, and a token that is not of a grant, by its form.
func (a *app) checkToken(token string) error {
	switch {
	case !credential.ValidToken(token):
		return pdpp.Errorf(pdpp.CodeInvalidInput, "Standard input has no token. Pass one line of letters, digits and ._~+/=-.")
	case credential.IsOwnerToken(token):
		return a.errOwnerToken()
	case strings.HasPrefix(token, "pdpp_pt_"):
		return a.errPackageToken()
	}
	return nil
}

// errPackageToken refuses the token of a package.
func (a *app) errPackageToken() error {
	return &pdpp.Error{
		Code: pdpp.CodeInvalidInput, Message: "This is the token of a package, which needs the tokens of its members too.",
		Hint: "Nothing was saved. To get a credential of your own, run: " + a.self() + " connect URL",
	}
}

// errOwnerToken refuses an owner token, detected by its prefix or by its server's answer.
func (a *app) errOwnerToken() error {
	return &pdpp.Error{
		Code: pdpp.CodeOwnerCredential, Message: "This is an owner token. The cache accepts only tokens of grants.",
		Hint: "Nothing was saved. To get a token of a grant, run: " + a.self() + " connect URL",
	}
}

// verifyToken verifies a token with one read.
func (a *app) verifyToken(ctx context.Context, provider, token string) error {
	rs, err := rsclient.New(rsclient.Config{
		Provider: provider, Version: readVersion().Version, Token: func(context.Context) (string, error) { return token, nil },
	})
	if err != nil {
		return err
	}
	var q rsclient.Query
	q.Set("view", "compact")
	_, err = rs.Schema(ctx, q)
	var e *rsclient.Error
	switch {
	case errors.As(err, &e) && e.Code == pdpp.CodeOwnerCredential:
		return a.errOwnerToken()
	case errors.As(err, &e) && e.Status == 0:
		return &pdpp.Error{
			Code: pdpp.CodeProviderUnreachable, Message: "The token could not be verified at " + provider + ": " + e.Message,
			Hint: "Nothing was saved. Check that the server is running at this address, then try again.",
		}
	case errors.As(err, &e):
		return &pdpp.Error{
			Code: pdpp.CodeTokenVerification, Message: "The token was not accepted by " + provider + ": " + plain(e.Error()),
			Hint: "Nothing was saved. Ask the owner of the data for a new approval or token.",
		}
	}
	return err
}

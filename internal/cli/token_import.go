package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"pdpp"
	"pdpp/internal/credential"
	"pdpp/internal/rsclient"
	"pdpp/internal/secret"
)

// tokenImport is `pdpp token import` (H-27).
type tokenImport struct {
	Provider string `arg:"" name:"provider-url" help:"The server that the token is for."`
	Grant    string `placeholder:"ID" help:"The grant it belongs to (default: a name of its own)."`
	cacheFlag
	jsonFlag
}

// tokenMax bounds what is read of a token.
const tokenMax = 8 << 10

// Run implements the command. The token comes from standard input: flags are seen by
// others (H-9).
func (c *tokenImport) Run(ctx context.Context, a *app) error {
	provider, cache, err := a.cacheFor(c.Provider, c.cacheFlag)
	if err != nil {
		return err
	}
	if c.Grant != "" && !credential.ValidID(c.Grant) {
		return pdpp.Errorf(pdpp.CodeUsage, "--grant does not accept %q.", c.Grant)
	}
	token, err := a.readToken()
	if err != nil {
		return err
	}
	if err := a.verifyToken(ctx, provider, token); err != nil {
		return err
	}
	id := c.Grant
	if id == "" {
		id = secret.ID("imported_")[:len("imported_")+8]
	}
	cred := &credential.Credential{
		ID: id, Provider: provider, Token: token, Kind: string(pdpp.TokenClient), Status: credential.Active,
		Resource: provider, CreatedAt: a.Now(),
	}
	if err := cache.Put(ctx, cred); err != nil {
		return err
	}
	if c.JSON {
		return a.printJSON(credentialRow(cred))
	}
	return a.print("Saved the credential of " + id + " for " + provider + ".\n" + a.next(setupFor(provider, c.CacheRoot)))
}

// readToken reads one line.
func (a *app) readToken() (string, error) {
	if isTerminal(a.Stdin) {
		a.note("Paste the token, then press Enter.")
	}
	line, err := bufio.NewReader(io.LimitReader(a.Stdin, tokenMax)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", &pdpp.Error{Code: pdpp.CodeInputMissing, Message: "The token could not be read.", Err: err}
	}
	token := strings.TrimSpace(line)
	switch {
	case !credential.ValidToken(token):
		return "", pdpp.Errorf(pdpp.CodeInvalidInput, "Standard input has no token: one line of letters, digits and ._~+/=- is expected.")
	case credential.IsOwnerToken(token):
		return "", errOwnerToken
	case strings.HasPrefix(token, "pdpp_pt_"):
		return "", pdpp.Errorf(pdpp.CodeInvalidInput, "This is the token of a package, which reads nothing without those of its members. Save it where it is made: pdpp packages create --save-credential.")
	}
	return token, nil
}

// errOwnerToken refuses an owner's token, by its prefix or by what its server says.
var errOwnerToken = &pdpp.Error{
	Code: pdpp.CodeOwnerCredential, Message: "This is an owner token; the cache takes only tokens of grants.",
	Hint: "Nothing was saved. Make one: pdpp grants create.",
}

// verifyToken proves a token with one read.
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
	case errors.As(err, &e) && e.Code == rsclient.CodeOwner:
		return errOwnerToken
	case errors.As(err, &e) && e.Status == 0:
		return &pdpp.Error{
			Code: pdpp.CodeProviderUnreachable, Message: "The token could not be tried at " + provider + ": " + e.Message,
			Hint: "Nothing was saved. Is the server running, and is this its address? Then import the token again.",
		}
	case errors.As(err, &e):
		return &pdpp.Error{
			Code: pdpp.CodeTokenVerification, Message: "The token was not accepted by " + provider + ": " + plain(e.Code+": "+e.Message),
			Hint: "Nothing was saved.",
		}
	}
	return err
}

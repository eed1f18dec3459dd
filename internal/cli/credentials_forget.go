package cli

import (
	"context"
	"strings"

	"pdpp"
)

// credentialsForget is `pdpp credentials forget`.
type credentialsForget struct {
	Provider string `arg:"" name:"provider-url" help:"The server whose credentials are removed here."`
	Grant    string `placeholder:"ID" help:"Only that of this grant."`
	cacheFlag
	jsonFlag
}

// Run implements the command. The grants themselves live on at the provider.
func (c *credentialsForget) Run(ctx context.Context, a *app) error {
	provider, cache, err := a.cacheFor(c.Provider, c.cacheFlag)
	if err != nil {
		return err
	}
	ids, err := cache.Forget(ctx, provider, c.Grant)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return pdpp.Errorf(pdpp.CodeNotFound, "There is no such credential for %s in %s.", provider, cache.Root)
	}
	if c.JSON {
		return a.printJSON(map[string]any{"provider_url": provider, "forgotten": ids})
	}
	return a.print("Forgot " + strings.Join(ids, ", ") + ". The grant still exists at " + provider + " until it is revoked there.\n")
}

package cli

import (
	"context"
	"strings"

	"pdpp"
)

// credentialsForget is `pdpp credentials forget`.
type credentialsForget struct {
	Provider string `arg:"" name:"provider-url" help:"Server whose credentials are removed from the cache."`
	Grant    string `placeholder:"ID" help:"Remove only the credential of this grant."`
	cacheFlag
	jsonFlag
}

// Run implements the command. It does not revoke the grants at the provider.
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
		return &pdpp.Error{
			Code: pdpp.CodeNotFound, Message: "There is no such credential for " + provider + " in " + cache.Root + ".",
			Hint: "To list the credentials, run: " + a.self() + " credentials list" + inCache(c.CacheRoot),
		}
	}
	if c.JSON {
		return a.printJSON(map[string]any{"provider_url": provider, "forgotten": ids})
	}
	return a.print("Removed the credential of " + strings.Join(ids, ", ") + ". The grant is still valid at " + provider + " until it is revoked there.\n")
}

package cli

import (
	"context"

	"pdpp/internal/credential"
)

// tokenShow is `pdpp token <provider-url>`: the bearer, for a program that reads the
// server itself.
type tokenShow struct {
	Provider string `arg:"" name:"provider-url" help:"The server to be read."`
	Grant    string `placeholder:"ID" help:"Under this grant (default: that of the latest credential)."`
	cacheFlag
}

// Run implements the command.
func (c *tokenShow) Run(ctx context.Context, a *app) error {
	provider, err := credential.Provider(c.Provider)
	if err != nil {
		return err
	}
	cache, err := a.cache(c.cacheFlag)
	if err != nil {
		return err
	}
	holder, err := cache.Hold(provider, c.Grant)
	if err != nil {
		return reconnect(err, provider)
	}
	token, err := holder.Token(ctx)
	if err != nil {
		return reconnect(err, provider)
	}
	return a.print(token + "\n")
}

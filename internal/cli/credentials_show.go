package cli

import "context"

// credentialsShow is `pdpp credentials show`. It prints the token for a program that reads
// the server itself.
type credentialsShow struct {
	Provider string `arg:"" name:"provider-url" help:"Server to read."`
	Grant    string `placeholder:"ID" help:"Token of this grant (default: the last one saved that has not expired)."`
	cacheFlag
}

// Run implements the command.
func (c *credentialsShow) Run(ctx context.Context, a *app) error {
	provider, cache, err := a.cacheFor(c.Provider, c.cacheFlag)
	if err != nil {
		return err
	}
	holder, err := cache.Hold(provider, c.Grant)
	if err != nil {
		return a.withAdvice(err, provider, c.CacheRoot)
	}
	token, err := holder.Token(ctx)
	if err != nil {
		return a.withAdvice(err, provider, c.CacheRoot)
	}
	return a.print(token + "\n")
}

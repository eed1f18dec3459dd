package cli

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"pdpp"
	"pdpp/internal/credential"
	"pdpp/internal/setup"
)

// self returns the name under which this program was called.
func (e Env) self() string {
	if e.Program == "" {
		return "pdpp"
	}
	return quote(e.Program)
}

// quote quotes s as one word of a shell.
func quote(s string) string { return setup.Quote(s) }

// command returns a command line of this program for the same store and owner.
func (a *app) command(line string) string {
	words := a.self()
	if a.Data != "" {
		words += " --data " + quote(a.Data)
	}
	if a.Owner != "" {
		words += " --owner " + quote(a.Owner)
	}
	return words + " " + line
}

// hinted adds a hint to an error that has none.
func hinted(err error, hint string) error {
	var e *pdpp.Error
	if !errors.As(err, &e) || e.Hint != "" {
		return err
	}
	shown := *e
	shown.Hint = hint
	return &shown
}

// withList adds the command that lists what exists to an error about an unknown id or name.
func (a *app) withList(err error, list string) error {
	if pdpp.CodeOf(err) != pdpp.CodeNotFound {
		return err
	}
	return hinted(err, "To see what there is, run: "+a.command(list))
}

// importCommandFor returns the command that saves a token for a server.
func importCommandFor(program, provider, cacheRoot string) string {
	return program + " credentials import " + quote(provider) + inCache(cacheRoot)
}

// inCache returns the flag that names the folder of credentials; "" for the default folder.
func inCache(root string) string {
	if root == "" {
		return ""
	}
	return " --cache-root " + quote(root)
}

// credentialAdvice returns the command to run when there is no usable credential. All
// messages about it use this text (MS-49, MS-262, MS-267).
func credentialAdvice(program, provider, cacheRoot string) string {
	return program + " " + pdpp.ConnectCommand(quote(provider)) + inCache(cacheRoot)
}

// adviceForModels returns the advice for an assistant, without local paths, also that of
// this program.
func adviceForModels(provider, cacheRoot string) string {
	if cacheRoot != "" {
		cacheRoot = "DIR"
	}
	return credentialAdvice("pdpp", provider, cacheRoot)
}

// withAdvice adds the advice to an error about a credential (MS-262).
func (a *app) withAdvice(err error, provider, cacheRoot string) error {
	var e *pdpp.Error
	if !errors.As(err, &e) || !slices.Contains(credentialCodes, e.Code) {
		return err
	}
	shown := *e
	switch {
	case e.Code == pdpp.CodeOwnerCredential:
		shown.Hint = "Remove the owner credential."
	case e.Code == pdpp.CodeNotConnected && cacheRoot == "":
		shown.Hint = cacheHere(provider)
	}
	shown.Hint = strings.TrimSpace(shown.Hint + " Run: " + credentialAdvice(a.self(), provider, cacheRoot))
	return &shown
}

// cacheHere returns a hint when the working folder has a credential of the public
// implementation, which keeps its cache there; "" otherwise. Such a credential is used
// only on request: a host may start this program in any folder, and the files in it may
// come from anybody (H-202).
func cacheHere(provider string) string {
	root, err := filepath.Abs(".pdpp")
	if err != nil || !(&credential.Cache{Root: root}).HasShared(provider) {
		return ""
	}
	return "This folder has one: add --cache-root " + quote(root) + ", or:"
}

// credentialCodes are the codes of errors about a credential that cannot be used.
var credentialCodes = []pdpp.Code{
	pdpp.CodeNotConnected, pdpp.CodeGrantNotFound, pdpp.CodeCredentialInvalid, pdpp.CodeCredentialExpired, pdpp.CodeOwnerCredential,
}

// next returns the line with the next command to run, by the name under which this program
// was called.
func (a *app) next(command string) string { return "Next: " + a.self() + " " + command + "\n" }

// setupFor returns the command that shows how to connect an assistant to a server.
func setupFor(provider, cacheRoot string) string {
	command := "setup CLIENT"
	if provider != "" {
		command += " --url " + quote(provider)
	}
	return command + inCache(cacheRoot)
}

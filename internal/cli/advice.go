package cli

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"pdpp"
	"pdpp/internal/credential"
)

// importCommandFor is the command that saves a token for a server.
func importCommandFor(program, provider, cacheRoot string) string {
	return program + " credentials import " + quote(provider) + inCache(cacheRoot)
}

// inCache is the flag that names the folder of credentials; "" for the usual one.
func inCache(root string) string {
	if root == "" {
		return ""
	}
	return " --cache-root " + quote(root)
}

// credentialAdvice says what to run when there is no usable credential. It is the one
// place that does (MS-49, MS-262, MS-267).
func credentialAdvice(provider, cacheRoot string) string {
	return pdpp.ConnectCommand(quote(provider)) + inCache(cacheRoot) + " (on the server's machine), or: " +
		importCommandFor("pdpp", provider, cacheRoot) + " (with a token from the owner)"
}

// adviceForModels is the advice in what an assistant sees: nothing local is in it.
func adviceForModels(provider, cacheRoot string) string {
	if cacheRoot != "" {
		cacheRoot = "DIR"
	}
	return credentialAdvice(provider, cacheRoot)
}

// withAdvice ends the message about a credential with what to do (MS-262).
func withAdvice(err error, provider, cacheRoot string) error {
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
	shown.Hint = strings.TrimSpace(shown.Hint + " Run: " + credentialAdvice(provider, cacheRoot))
	return &shown
}

// cacheHere says that the working folder has a credential of the public implementation,
// which keeps its cache there; "" when it has none. It is not used unasked: a host may
// start this program in any folder, and a folder may come from anybody (H-202).
func cacheHere(provider string) string {
	root, err := filepath.Abs(".pdpp")
	if err != nil || !(&credential.Cache{Root: root}).HasShared(provider) {
		return ""
	}
	return "This folder has one: add --cache-root " + quote(root) + ", or:"
}

// credentialCodes say that there is no usable credential.
var credentialCodes = []pdpp.Code{
	pdpp.CodeNotConnected, pdpp.CodeGrantNotFound, pdpp.CodeCredentialInvalid, pdpp.CodeCredentialExpired, pdpp.CodeOwnerCredential,
}

// next is the line that names the command to go on with, by the name that this program
// was called by.
func (a *app) next(command string) string { return "Next: " + a.self() + " " + command + "\n" }

// self is this program as it was called.
func (a *app) self() string {
	if a.Program == "" {
		return "pdpp"
	}
	return quote(a.Program)
}

// setupFor is the command that shows how to connect an assistant to a server.
func setupFor(provider, cacheRoot string) string {
	command := "setup CLIENT"
	if provider != "" {
		command += " --url " + quote(provider)
	}
	return command + inCache(cacheRoot)
}

package auth

import (
	"errors"
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

var (
	errNoBearer = pdpp.Errorf(pdpp.CodeAuthentication, "A bearer token is required: Authorization: Bearer <token>.")
	// errInvalid is the same for everything that is wrong with a token (C-17).
	errInvalid = pdpp.Errorf(pdpp.CodeInvalidToken, "This token is unknown, expired or revoked.")

	errPackageAtREST = &pdpp.Error{
		Code: pdpp.CodePermission, Message: "A package token is served at /mcp only.",
		NextStep: "Use it at /mcp, or ask the owner for a token of one grant.",
	}
	errOwnerAtMCP = &pdpp.Error{
		Code:     pdpp.CodePermission,
		Message:  "An owner token is not accepted here: this needs a grant-scoped client or MCP package token.",
		NextStep: "Ask the owner for a grant that says what may be read; they make one with pdpp grants create.",
	}
)

// Resource is a part of the server that tokens are issued for.
type Resource struct {
	Path  string // names the resource in challenges and metadata (RFC 9728); "" for /v1
	check func(p store.Principal, now time.Time) error
	fail  func(error) error
}

var (
	// REST is /v1.
	REST = &Resource{check: checkREST, fail: func(err error) error { return err }}
	// MCP is the hosted MCP endpoint.
	MCP = &Resource{Path: "/mcp", check: checkMCP, fail: endedAsInvalid}
)

// checkREST checks kind, grant and audience of a valid token for /v1 (C-18, C-20). Every
// audience opens the read routes (H-52).
func checkREST(p store.Principal, now time.Time) error {
	switch p.Kind {
	case pdpp.TokenOwner:
		return nil
	case pdpp.TokenPackage:
		return errPackageAtREST
	case pdpp.TokenClient:
		if err := checkGrant(p, now); err != nil {
			return err
		}
		isKnown := func(a string) bool { return a == "rest" || a == "mcp" || a == "mcp-developer" }
		if !slices.ContainsFunc(p.Audience, isKnown) {
			return pdpp.Errorf(pdpp.CodeInsufficientScope, "This token was not issued for this resource.")
		}
		return nil
	}
	return errInvalid
}

// checkMCP checks kind, audience and grant or package of a valid token for /mcp (H-47 to
// H-49).
func checkMCP(p store.Principal, now time.Time) error {
	if p.Kind == pdpp.TokenOwner {
		return errOwnerAtMCP
	}
	if !slices.Contains(p.Audience, "mcp") {
		return pdpp.Errorf(pdpp.CodeInvalidToken, "This token was issued for another resource.")
	}
	return checkStatus(p, now)
}

// checkStatus checks the grant or the package of a valid token.
func checkStatus(p store.Principal, now time.Time) error {
	if p.Kind != pdpp.TokenPackage {
		return checkGrant(p, now)
	}
	if p.Package == nil {
		return statusError(pdpp.CodeGrantInvalid)
	}
	return ended(p.Package.Status(now))
}

// checkGrant checks the grant of a valid client token (C-18).
func checkGrant(p store.Principal, now time.Time) error {
	if p.Grant == nil {
		return statusError(pdpp.CodeGrantInvalid)
	}
	return ended(p.Grant.Status(now))
}

// ended returns the error of a grant or package that was revoked or has expired.
func ended(s pdpp.GrantStatus) error {
	switch s {
	case pdpp.GrantRevoked:
		return statusError(pdpp.CodeGrantRevoked)
	case pdpp.GrantExpired:
		return statusError(pdpp.CodeGrantExpired)
	}
	return nil
}

func statusError(code pdpp.Code) error {
	switch code {
	case pdpp.CodeGrantRevoked:
		return &pdpp.Error{Code: code, Message: "The owner has withdrawn this grant.", NextStep: "Ask the owner for a new grant."}
	case pdpp.CodeGrantExpired:
		return pdpp.Errorf(code, "This grant has expired. Ask the owner for a new one.")
	}
	return pdpp.Errorf(pdpp.CodeGrantInvalid, "The grant of this token cannot be interpreted.")
}

// endedAsInvalid reports a token whose grant or package has ended as an invalid token
// (H-49): hosts sign in again at a 401, and would repeat the call at a 403.
func endedAsInvalid(err error) error {
	var e *pdpp.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case pdpp.CodeGrantRevoked, pdpp.CodeGrantExpired, pdpp.CodeGrantInvalid:
		return &pdpp.Error{Code: pdpp.CodeInvalidToken, Message: e.Message, Op: e.Op, Err: e.Err}
	}
	return err
}

package auth

import (
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

var (
	errNoBearer = pdpp.Errorf(pdpp.CodeAuthentication, "A bearer token is required: Authorization: Bearer <token>.")
	// errInvalid is returned for every defect of a token, so that it does not reveal
	// which (C-17).
	errInvalid = pdpp.Errorf(pdpp.CodeInvalidToken, "This token is unknown, expired or revoked.")

	errPackageAtREST = &pdpp.Error{
		Code: pdpp.CodePermission, Message: "Package tokens are accepted only at /mcp.",
		NextStep: "Use it at /mcp, or ask the owner for a token of one grant.",
	}
	errOwnerAtMCP = &pdpp.Error{
		Code:     pdpp.CodePermission,
		Message:  "Owner tokens are not accepted here. Use a grant-scoped client or MCP package token.",
		NextStep: "Connect again without this token. The owner then chooses in the browser what may be read.",
	}
)

// Resource is a part of the server that tokens are issued for.
type Resource struct {
	Path     string // names the resource in challenges and metadata (RFC 9728); "" for /v1
	via      string // names the resource in counts of refusals
	check    func(p store.Principal, now time.Time) error
	mapError func(error) error // maps an error about a token to that of the resource
}

var (
	// REST is /v1.
	REST = &Resource{via: "/v1", check: checkREST, mapError: func(err error) error { return err }}
	// MCP is the hosted MCP endpoint.
	MCP = &Resource{Path: "/mcp", via: "/mcp", check: checkMCP, mapError: endedAsInvalid}
)

// checkREST checks kind, grant and audience of a valid token for /v1 (C-18, C-20). A
// token with any known audience may use the read routes (H-52).
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

// checkMCP checks a valid token for /mcp: its kind, its audience, and the status of its
// grant or package (H-47 to H-49).
func checkMCP(p store.Principal, now time.Time) error {
	if p.Kind == pdpp.TokenOwner {
		return errOwnerAtMCP
	}
	if !slices.Contains(p.Audience, "mcp") {
		return pdpp.Errorf(pdpp.CodeInvalidToken, "This token was issued for another resource.")
	}
	return checkStatus(p, now)
}

package auth

import (
	"errors"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// checkStatus returns an error if a valid token has no grant or package, or if it has
// ended.
func checkStatus(p store.Principal, now time.Time) error {
	if p.Kind != pdpp.TokenPackage {
		return checkGrant(p, now)
	}
	if p.Package == nil {
		return statusError(pdpp.CodeGrantInvalid)
	}
	return ended(p.Package.Status(now))
}

// checkGrant returns an error if a valid client token has no grant, or its grant has
// ended (C-18).
func checkGrant(p store.Principal, now time.Time) error {
	if p.Grant == nil {
		return statusError(pdpp.CodeGrantInvalid)
	}
	return ended(p.Grant.Status(now))
}

// ended returns the error for a grant or package that was revoked or has expired, and nil
// for any other status.
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
		return &pdpp.Error{Code: code, Message: "The owner has revoked this grant.", NextStep: "Ask the owner for a new grant."}
	case pdpp.CodeGrantExpired:
		return pdpp.Errorf(code, "This grant has expired. Ask the owner for a new one.")
	}
	return pdpp.Errorf(pdpp.CodeGrantInvalid, "The grant of this token cannot be interpreted.")
}

// endedAsInvalid returns the error of an invalid token if the grant or package of a token
// has ended (H-49), and any other error unchanged. An MCP host signs in again after a
// 401, but only repeats the call after a 403.
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

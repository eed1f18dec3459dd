package pdpp

import (
	"errors"
	"fmt"
)

// Code is one of the closed set of error codes of the resource server contract
// (rs-contract C-42). It is part of the public API.
type Code string

// The codes, ordered by HTTP status.
const (
	CodeInvalidRequest     Code = "invalid_request"     // 400
	CodeInvalidArgument    Code = "invalid_argument"    // 400
	CodeUnsupportedVersion Code = "unsupported_version" // 400
	CodeInvalidCursor      Code = "invalid_cursor"      // 400
	CodeInvalidSort        Code = "invalid_sort"        // 400
	CodeInvalidExpand      Code = "invalid_expand"      // 400
	CodeUnknownField       Code = "unknown_field"       // 400
	CodeInvalidFieldPath   Code = "invalid_field_path"  // 400
	CodeInvalidWindow      Code = "invalid_window"      // 400

	CodeAuthentication Code = "authentication_error" // 401
	CodeInvalidToken   Code = "invalid_token"        // 401

	CodeStreamNotAllowed  Code = "grant_stream_not_allowed" // 403
	CodeFieldNotGranted   Code = "field_not_granted"        // 403
	CodeInsufficientScope Code = "insufficient_scope"       // 403
	CodeGrantRevoked      Code = "grant_revoked"            // 403
	CodeGrantExpired      Code = "grant_expired"            // 403
	CodeGrantInvalid      Code = "grant_invalid"            // 403
	CodePermission        Code = "permission_error"         // 403

	CodeNotFound           Code = "not_found"            // 404
	CodeConnectionNotFound Code = "connection_not_found" // 404
	CodeStreamNotDeclared  Code = "stream_not_declared"  // 404
	CodeFieldNotFound      Code = "field_not_found"      // 404
	CodeQueryNotFound      Code = "query_not_found"      // 404
	CodeBlobNotFound       Code = "blob_not_found"       // 404

	CodeMethodNotAllowed Code = "method_not_allowed" // 405

	CodeAmbiguousConnection   Code = "ambiguous_connection"    // 409
	CodeAmbiguousSchemaDetail Code = "ambiguous_schema_detail" // 409

	CodeCursorExpired Code = "cursor_expired" // 410

	CodeResourceLimit        Code = "resource_limit"         // 413
	CodeUnsupportedMediaType Code = "unsupported_media_type" // 415
	CodeRangeNotSatisfiable  Code = "range_not_satisfiable"  // 416
	CodeMisdirected          Code = "misdirected_request"    // 421
	CodeFieldNotText         Code = "field_not_text"         // 422
	CodeRateLimited          Code = "rate_limit_exceeded"    // 429

	CodeInternal Code = "api_error" // 500

	CodeTimeout          Code = "timeout"                    // 503
	CodeUnavailable      Code = "temporarily_unavailable"    // 503
	CodeOverloaded       Code = "overloaded"                 // 503
	CodeIngestStorage    Code = "ingest_batch_storage_error" // 503
	CodeOriginNotAllowed Code = "origin_not_allowed"         // 403
)

// Codes of operator commands; they never appear in an HTTP response.
const (
	CodeUsage         Code = "usage"          // the command line is wrong
	CodeInvalidInput  Code = "invalid_input"  // a file's content is refused
	CodeInputMissing  Code = "input_missing"  // a file cannot be read
	CodeCannotCreate  Code = "cannot_create"  // an output cannot be written
	CodeBusy          Code = "busy"           // a lock was not obtained in time
	CodeNotConfigured Code = "not_configured" // wrong key, newer store, unsafe settings

	CodeNotConnected        Code = "not_connected"        // no credential for a provider
	CodeGrantNotFound       Code = "grant_not_found"      // no credential for that grant
	CodeCredentialInvalid   Code = "credential_invalid"   // the credential must not be used
	CodeCredentialExpired   Code = "credential_expired"   // the credential has expired
	CodeOwnerCredential     Code = "owner_credential"     // an owner credential where only one of a grant may be used
	CodeProviderUnreachable Code = "provider_unreachable" // another server did not send a usable response
	CodeTokenVerification   Code = "token_verification_failed"
)

// Error is the one error type that crosses package borders. Everything but Op
// and Err is safe to show to the caller; Message says what to do next. An error
// that is not an Error is internal and is shown without detail.
type Error struct {
	Code    Code
	Message string

	Param  string // the request parameter at fault
	Field  string // the record field at fault
	Stream string // the stream at fault

	NeedsBroaderGrant bool   // a wider grant would allow it (C-44)
	RetryWith         string // the parameter that would resolve it
	NextStep          string // what to do about it
	Hint              string // for operator commands: one more line of advice

	// Available lists the connections that would resolve an ambiguity (C-43).
	Available []ConnectionRef

	RetryAfter int // seconds; 0 means not stated

	Op  string // the operation that failed; for logs
	Err error  // the cause; for logs
}

// ConnectionRef is one choice offered by an ambiguity error (C-43).
type ConnectionRef struct {
	ConnectionID ConnectionID
	ConnectorKey ConnectorKey
	DisplayName  string
	GrantID      GrantID
	Stream       string
}

func (e *Error) Error() string {
	s := string(e.Code) + ": " + e.Message
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// AddMessage returns err with text added to its message as a further sentence. It
// returns err unchanged when err is not an Error, because that has no message to show.
func AddMessage(err error, text string) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	extended := *e
	extended.Message += " " + text
	return &extended
}

// Errorf returns an Error. Its message must be safe to show.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// BadParam returns an invalid_request error about one parameter.
func BadParam(param, format string, args ...any) *Error {
	return &Error{Code: CodeInvalidRequest, Param: param, Message: fmt.Sprintf(format, args...)}
}

// CodeOf returns the code of err: CodeInternal when err is not an Error, and ""
// when err is nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

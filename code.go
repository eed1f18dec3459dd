package pdpp

import (
	"maps"
	"slices"
)

// Code is an error code. The set of codes is closed: those of the resource server
// contract (rs-contract C-42), of the MCP adapter (MS-45) and of the commands. It is part
// of the public API. An error of another server can have a code that is not listed here.
type Code string

// Codes of answers over HTTP (C-42). The map statuses below has the HTTP status of each.
const (
	CodeInvalidRequest     Code = "invalid_request"     // an unknown or repeated parameter, a bad value, parameters that do not go together, an undeclared capability, a malformed filter
	CodeInvalidArgument    Code = "invalid_argument"    // two aliases with different values (C-7); an invalid argument of a tool (MS-45)
	CodeUnsupportedVersion Code = "unsupported_version" // a PDPP-Version that is not served (C-11)
	CodeInvalidCursor      Code = "invalid_cursor"      // a cursor that is malformed, forged or of another request (C-39, REC-33)
	CodeInvalidSort        Code = "invalid_sort"        // the sort field is not sortable, or sort=-field with order=asc
	CodeInvalidExpand      Code = "invalid_expand"      // an undeclared or nested relation, a bad limit, expand on a changes feed
	CodeUnknownField       Code = "unknown_field"       // a field name that the manifest does not declare
	CodeInvalidFieldPath   Code = "invalid_field_path"  // the path of a field window is malformed (FW-8)
	CodeInvalidWindow      Code = "invalid_window"      // the numbers of a field window are out of range (FW-8)

	CodeAuthentication Code = "authentication_error" // no bearer
	CodeInvalidToken   Code = "invalid_token"        // an unknown, expired or revoked token (C-17)

	CodeStreamNotAllowed  Code = "grant_stream_not_allowed" // the stream is not in the grant (C-23)
	CodeFieldNotGranted   Code = "field_not_granted"        // the field is not in the grant (C-23)
	CodeInsufficientScope Code = "insufficient_scope"       // expand into a stream that the grant does not cover (REC-25), or a route that the token's audience does not include (H-52)
	CodeGrantRevoked      Code = "grant_revoked"            // the owner revoked the grant (C-18)
	CodeGrantExpired      Code = "grant_expired"            // the grant has expired (C-18)
	CodeGrantInvalid      Code = "grant_invalid"            // the stored grant cannot be used (C-18)
	CodePermission        Code = "permission_error"         // wrong kind of token
	CodeOriginNotAllowed  Code = "origin_not_allowed"       // a page of a foreign origin (H-55)

	CodeNotFound           Code = "not_found"            // unknown path, connector, record; stream (owner)
	CodeConnectionNotFound Code = "connection_not_found" // no such connection within reach (C-23)
	CodeStreamNotDeclared  Code = "stream_not_declared"  // the source no longer declares this granted stream (C-28)
	CodeBlobNotFound       Code = "blob_not_found"       // no visible record refers to the blob (B-4)
	CodeFieldNotFound      Code = "field_not_found"      // the record has no value at the path (FW-8)
	CodeQueryNotFound      Code = "query_not_found"      // the text does not contain q (FW-8)

	CodeMethodNotAllowed      Code = "method_not_allowed"      // the path does not support the method (C-2)
	CodeNotAcceptable         Code = "not_acceptable"          // the Accept header excludes JSON (H-41)
	CodeAmbiguousConnection   Code = "ambiguous_connection"    // several connections match (REC-14, S-8)
	CodeAmbiguousSchemaDetail Code = "ambiguous_schema_detail" // several connections have the stream
	CodeCursorExpired         Code = "cursor_expired"          // the cursor or bookmark is too old (C-39, REC-37)
	CodeResourceLimit         Code = "resource_limit"          // a body or an answer over a limit (I-3, B-9, H-69)
	CodeUnsupportedMediaType  Code = "unsupported_media_type"  // the Content-Type is not accepted (I-1, H-41)
	CodeRangeNotSatisfiable   Code = "range_not_satisfiable"   // the range is outside the blob (B-7)
	CodeMisdirected           Code = "misdirected_request"     // a Host that is not this server's (H-126)
	CodeFieldNotText          Code = "field_not_text"          // a field window of a value that is not text (FW-8)
	CodeRateLimited           Code = "rate_limit_exceeded"     // too many requests with one token (H-67); with Retry-After

	CodeInternal      Code = "api_error"                  // anything unforeseen
	CodeTimeout       Code = "timeout"                    // the request took too long (C-35); with Retry-After
	CodeUnavailable   Code = "temporarily_unavailable"    // no access to the store, or no memory left (C-17, H-69); with Retry-After
	CodeOverloaded    Code = "overloaded"                 // too many requests at once (H-41); with Retry-After
	CodeIngestStorage Code = "ingest_batch_storage_error" // the batch could not be stored (I-7); with Retry-After
)

// Codes of the MCP adapter (MS-45). It also passes on those above.
const (
	CodeInvalidFilter         Code = "invalid_filter"                // a malformed filter
	CodeInvalidID             Code = "invalid_id"                    // a handle that does not parse
	CodeInvalidName           Code = "invalid_name"                  // an empty or unusable stream, connection, record or field
	CodeConflictingConnection Code = "conflicting_connection_id"     // a handle and connection_id name different connections
	CodeInvalidWindowSelector Code = "invalid_field_window_selector" // selectors of a field window that do not go together (MS-171)
	CodeBlobTooLarge          Code = "blob_too_large"                // a blob too large for a result (MS-203, MS-177)
	CodeSchemaTooLarge        Code = "schema_too_large"              // the full schema does not fit into a result
	CodeRequestTooLong        Code = "request_too_long"              // the URL would be too long; nothing was sent
	CodeUpstreamUnreachable   Code = "upstream_unreachable"          // no connection to the resource server
	CodeUpstreamTimeout       Code = "upstream_timeout"              // no answer in time
	CodeUpstreamTooLarge      Code = "upstream_too_large"            // an answer over the limit
	CodeUpstreamInvalid       Code = "upstream_invalid"              // not an answer to the request
	CodeUpstreamRedirect      Code = "upstream_redirect"             // a redirect, which is not followed
	CodeAdapterInternal       Code = "internal_error"                // a defect of the adapter
)

// Codes of commands.
const (
	CodeUsage         Code = "usage"          // the command line is wrong
	CodeInvalidInput  Code = "invalid_input"  // a file's content is refused
	CodeInputMissing  Code = "input_missing"  // a file cannot be read
	CodeCannotCreate  Code = "cannot_create"  // an output cannot be written
	CodeBusy          Code = "busy"           // a lock was not obtained in time
	CodeNotConfigured Code = "not_configured" // wrong key, newer store, unsafe settings
	CodeInterrupted   Code = "interrupted"    // the user ended the command

	CodeNotConnected        Code = "not_connected"             // no credential for a provider
	CodeGrantNotFound       Code = "grant_not_found"           // no credential for a grant
	CodeCredentialInvalid   Code = "credential_invalid"        // a credential that must not be used
	CodeCredentialExpired   Code = "credential_expired"        // a credential that has expired
	CodeOwnerCredential     Code = "owner_credential"          // an owner's credential where only a grant's may be used; also MS-45
	CodeProviderUnreachable Code = "provider_unreachable"      // no usable answer from another server
	CodeTokenVerification   Code = "token_verification_failed" // a server could not confirm a token

	CodeProviderURL        Code = "invalid_provider_url"  // not the URL of a server
	CodeMetadata           Code = "metadata_failure"      // the metadata of a server cannot be used
	CodeConnectUnsupported Code = "connect_not_supported" // the server has no authorization that this program can use
	CodeRegistration       Code = "registration_failed"   // the server did not register the client
	CodeApprovalDenied     Code = "approval_denied"       // the owner declined
	CodeApprovalExpired    Code = "approval_expired"      // the owner did not decide in time
	CodeIssuerMismatch     Code = "issuer_mismatch"       // an answer of another authorization server
	CodeStateMismatch      Code = "state_mismatch"        // an answer to another request
	CodeTokenRequest       Code = "token_request_failed"  // the server issued no token
	CodePackageUnreadable  Code = "package_not_readable"  // a package whose members cannot be read
	CodeCacheWrite         Code = "cache_write_failed"    // the new credential cannot be saved
)

// statuses is the closed set of codes, each with the HTTP status of its answers.
// A code with status 0 never appears in an answer.
var statuses = map[Code]int{
	CodeInvalidRequest:     400,
	CodeInvalidArgument:    400,
	CodeUnsupportedVersion: 400,
	CodeInvalidCursor:      400,
	CodeInvalidSort:        400,
	CodeInvalidExpand:      400,
	CodeUnknownField:       400,
	CodeInvalidFieldPath:   400,
	CodeInvalidWindow:      400,

	CodeAuthentication: 401,
	CodeInvalidToken:   401,

	CodeStreamNotAllowed:  403,
	CodeFieldNotGranted:   403,
	CodeInsufficientScope: 403,
	CodeGrantRevoked:      403,
	CodeGrantExpired:      403,
	CodeGrantInvalid:      403,
	CodePermission:        403,
	CodeOriginNotAllowed:  403,

	CodeNotFound:           404,
	CodeConnectionNotFound: 404,
	CodeStreamNotDeclared:  404,
	CodeBlobNotFound:       404,
	CodeFieldNotFound:      404,
	CodeQueryNotFound:      404,

	CodeMethodNotAllowed:      405,
	CodeNotAcceptable:         406,
	CodeAmbiguousConnection:   409,
	CodeAmbiguousSchemaDetail: 409,
	CodeCursorExpired:         410,
	CodeResourceLimit:         413,
	CodeUnsupportedMediaType:  415,
	CodeRangeNotSatisfiable:   416,
	CodeMisdirected:           421,
	CodeFieldNotText:          422,
	CodeRateLimited:           429,

	CodeInternal:      500,
	CodeTimeout:       503,
	CodeUnavailable:   503,
	CodeOverloaded:    503,
	CodeIngestStorage: 503,

	CodeInvalidFilter:         0,
	CodeInvalidID:             0,
	CodeInvalidName:           0,
	CodeConflictingConnection: 0,
	CodeInvalidWindowSelector: 0,
	CodeBlobTooLarge:          0,
	CodeSchemaTooLarge:        0,
	CodeRequestTooLong:        0,
	CodeUpstreamUnreachable:   0,
	CodeUpstreamTimeout:       0,
	CodeUpstreamTooLarge:      0,
	CodeUpstreamInvalid:       0,
	CodeUpstreamRedirect:      0,
	CodeAdapterInternal:       0,

	CodeUsage:               0,
	CodeInvalidInput:        0,
	CodeInputMissing:        0,
	CodeCannotCreate:        0,
	CodeBusy:                0,
	CodeNotConfigured:       0,
	CodeInterrupted:         0,
	CodeNotConnected:        0,
	CodeGrantNotFound:       0,
	CodeCredentialInvalid:   0,
	CodeCredentialExpired:   0,
	CodeOwnerCredential:     0,
	CodeProviderUnreachable: 0,
	CodeTokenVerification:   0,
	CodeProviderURL:         0,
	CodeMetadata:            0,
	CodeConnectUnsupported:  0,
	CodeRegistration:        0,
	CodeApprovalDenied:      0,
	CodeApprovalExpired:     0,
	CodeIssuerMismatch:      0,
	CodeStateMismatch:       0,
	CodeTokenRequest:        0,
	CodePackageUnreadable:   0,
	CodeCacheWrite:          0,
}

// Codes returns every code, in no particular order.
func Codes() []Code { return slices.Collect(maps.Keys(statuses)) }

// Status returns the HTTP status of a code; 0 for a code that no answer has.
func (c Code) Status() int { return statuses[c] }

// ErrorType returns the type of an error with that HTTP status (C-41).
func ErrorType(status int) string {
	switch status {
	case 401:
		return "authentication_error"
	case 403:
		return "permission_error"
	case 404:
		return "not_found_error"
	case 410:
		return "gone_error"
	case 413:
		return "request_entity_too_large_error"
	case 429:
		return "rate_limit_error"
	case 409, 422, 500, 503:
		return "api_error"
	}
	return "invalid_request_error"
}

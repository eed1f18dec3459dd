package httpx

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"

	"pdpp"
)

// statuses is the table of C-42. A code that is not in it never reaches a client: the
// response is an internal error.
var statuses = map[pdpp.Code]int{
	pdpp.CodeInvalidRequest:     http.StatusBadRequest,
	pdpp.CodeInvalidArgument:    http.StatusBadRequest,
	pdpp.CodeUnsupportedVersion: http.StatusBadRequest,
	pdpp.CodeInvalidCursor:      http.StatusBadRequest,
	pdpp.CodeInvalidSort:        http.StatusBadRequest,
	pdpp.CodeInvalidExpand:      http.StatusBadRequest,
	pdpp.CodeUnknownField:       http.StatusBadRequest,
	"invalid_field_path":        http.StatusBadRequest,
	"invalid_window":            http.StatusBadRequest,

	pdpp.CodeAuthentication:   http.StatusUnauthorized,
	pdpp.CodeInvalidToken:     http.StatusUnauthorized,
	codeOwnerSessionRequired:  http.StatusUnauthorized,
	pdpp.CodeStreamNotAllowed: http.StatusForbidden,

	pdpp.CodeFieldNotGranted:   http.StatusForbidden,
	pdpp.CodeInsufficientScope: http.StatusForbidden,
	pdpp.CodeGrantRevoked:      http.StatusForbidden,
	pdpp.CodeGrantExpired:      http.StatusForbidden,
	pdpp.CodeGrantInvalid:      http.StatusForbidden,
	pdpp.CodePermission:        http.StatusForbidden,
	pdpp.CodeOriginNotAllowed:  http.StatusForbidden,

	pdpp.CodeNotFound:           http.StatusNotFound,
	pdpp.CodeConnectionNotFound: http.StatusNotFound,
	pdpp.CodeStreamNotDeclared:  http.StatusNotFound,
	"blob_not_found":            http.StatusNotFound,
	"field_not_found":           http.StatusNotFound,
	"query_not_found":           http.StatusNotFound,

	pdpp.CodeMethodNotAllowed: http.StatusMethodNotAllowed,
	"not_acceptable":          http.StatusNotAcceptable,

	pdpp.CodeAmbiguousConnection:   http.StatusConflict,
	pdpp.CodeAmbiguousSchemaDetail: http.StatusConflict,
	"invalid_state":                http.StatusConflict,
	"subscription_limit_reached":   http.StatusConflict,

	pdpp.CodeCursorExpired:        http.StatusGone,
	pdpp.CodeResourceLimit:        http.StatusRequestEntityTooLarge,
	pdpp.CodeUnsupportedMediaType: http.StatusUnsupportedMediaType,
	"range_not_satisfiable":       http.StatusRequestedRangeNotSatisfiable,
	pdpp.CodeMisdirected:          http.StatusMisdirectedRequest,
	"field_not_text":              http.StatusUnprocessableEntity,
	pdpp.CodeRateLimited:          http.StatusTooManyRequests,

	pdpp.CodeInternal:      http.StatusInternalServerError,
	pdpp.CodeTimeout:       http.StatusServiceUnavailable,
	pdpp.CodeUnavailable:   http.StatusServiceUnavailable,
	pdpp.CodeOverloaded:    http.StatusServiceUnavailable,
	pdpp.CodeIngestStorage: http.StatusServiceUnavailable,
	"search_unavailable":   http.StatusServiceUnavailable,
}

// codeOwnerSessionRequired requires a login. A bearer token would not help, so its
// response has no challenge.
const codeOwnerSessionRequired pdpp.Code = "owner_session_required"

// typeOf returns the error type for a status (C-41).
func typeOf(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusGone:
		return "gone_error"
	case http.StatusRequestEntityTooLarge:
		return "request_entity_too_large_error"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusConflict, http.StatusUnprocessableEntity,
		http.StatusInternalServerError, http.StatusServiceUnavailable:
		return "api_error"
	}
	return "invalid_request_error"
}

var (
	errInternal = &pdpp.Error{Code: pdpp.CodeInternal, Message: "Something went wrong on this server."}
	errTimeout  = &pdpp.Error{
		Code: pdpp.CodeTimeout, RetryAfter: 1,
		Message: "The request took too long and was canceled. Ask for less at once, or try again.",
	}
	errBusy     = &pdpp.Error{Code: pdpp.CodeUnavailable, RetryAfter: 1, Message: "The store is busy. Try again."}
	errCanceled = &pdpp.Error{Code: pdpp.CodeUnavailable, RetryAfter: 1, Message: "The request was canceled before it was complete."}
)

// resolve returns an error that may be shown to the client, and its status.
func resolve(ctx context.Context, err error) (*pdpp.Error, int) {
	var e *pdpp.Error
	if errors.As(err, &e) {
		if status, ok := statuses[e.Code]; ok && status != http.StatusInternalServerError {
			return e, status
		}
	}
	e = classify(ctx, err)
	return e, statuses[e.Code]
}

// classify returns the error to show for one without a code. It also checks the context,
// because drivers do not always wrap its error.
func classify(ctx context.Context, err error) *pdpp.Error {
	var tooBig *http.MaxBytesError
	switch {
	case pdpp.CodeOf(err) == pdpp.CodeBusy:
		return errBusy
	case errors.As(err, &tooBig):
		return bodyTooLarge(tooBig.Limit)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errTimeout
	case ctx.Err() != nil:
		return errCanceled
	}
	return errInternal
}

func bodyTooLarge(limit int64) *pdpp.Error {
	return pdpp.Errorf(pdpp.CodeResourceLimit, "The body is larger than the %d bytes that this route accepts.", limit)
}

// WriteError writes the error envelope (C-40) with its status (C-42) and headers. It is
// the only function that turns an error into a response. It keeps headers that the
// handler set for this response, such as Allow or Content-Range, and removes those that
// describe another body.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	e, status := resolve(r.Context(), err)
	setCode(r, e.Code)
	h := w.Header()
	dropRepresentation(h)
	ch := challengeFor(r, e.Code, status)
	ch.set(h, e, status)
	if wait := retryAfter(e, status); wait > 0 {
		h[keyRetryAfter] = []string{strconv.Itoa(wait)}
	}
	noStore := len(h[keyCacheControl]) == 1 && h[keyCacheControl][0] == cacheNoStore
	SetJSON(h)
	if noStore { // /mcp (H-64)
		h[keyCacheControl] = []string{cacheNoStore}
	}
	h[keyVersion] = valueVersion
	id := RequestID(r.Context())
	if id == "" {
		id = newRequestID()
	}
	h[keyRequestID] = []string{id}

	body := append(appendEnvelope(make([]byte, 0, 512), e, status, ch, id), '\n')
	h[keyContentLength] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.Write(body) // the client may have disconnected
	}
}

// dropRepresentation removes the headers that describe a body that was not written.
func dropRepresentation(h http.Header) {
	for _, key := range [...]string{"Content-Disposition", "Content-Encoding", "Etag", "Last-Modified", "Accept-Ranges"} {
		delete(h, key)
	}
}

// retryAfter returns the seconds after which to try again: always for 429 and 503 (C-42),
// else those of the error, or 0.
func retryAfter(e *pdpp.Error, status int) int {
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		return max(1, e.RetryAfter)
	}
	return e.RetryAfter
}

// Codes returns every code that a response can have, in no particular order.
func Codes() []pdpp.Code { return slices.Collect(maps.Keys(statuses)) }

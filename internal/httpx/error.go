package httpx

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strconv"

	"pdpp"
)

var (
	errInternal = &pdpp.Error{Code: pdpp.CodeInternal, Message: "Something went wrong on this server."}
	errTimeout  = &pdpp.Error{
		Code: pdpp.CodeTimeout, RetryAfter: 1,
		Message: "The request took too long and was canceled. Ask for less at once, or try again.",
	}
	errBusy     = &pdpp.Error{Code: pdpp.CodeUnavailable, RetryAfter: 1, Message: "The store is busy. Try again."}
	errCanceled = &pdpp.Error{Code: pdpp.CodeUnavailable, RetryAfter: 1, Message: "The request was canceled before it was complete."}
)

// resolve returns an error that may be shown to the client, and its status (C-42). An
// error whose code has no status is answered as an internal error.
func resolve(ctx context.Context, err error) (*pdpp.Error, int) {
	var e *pdpp.Error
	if errors.As(err, &e) {
		if status := e.Code.Status(); status != 0 && status != http.StatusInternalServerError {
			return e, status
		}
	}
	e = classify(ctx, err)
	return e, e.Code.Status()
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

// dropRepresentation removes the headers that describe a body, such as ETag, because
// another body is written.
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

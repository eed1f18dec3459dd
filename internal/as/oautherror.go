package as

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/httpx"
)

// oauthError is an error of an OAuth endpoint (H-140). The description is ASCII, as RFC 6749
// §5.2 requires, and says what to do.
type oauthError struct {
	status      int
	code        string
	description string
	retryAfter  int  // seconds; 0: not stated
	fresh       bool // only a new authorization helps (H-164)
	failure     bool // counts against the address of the client (H-166)
}

func (e *oauthError) Error() string { return e.code + ": " + e.description }

func refusal(code, description string) *oauthError {
	return &oauthError{status: http.StatusBadRequest, code: code, description: description}
}

func invalidRequest(description string) *oauthError { return refusal("invalid_request", description) }

// invalidGrant is the error for a code, refresh token or device code that is not valid. It
// does not say which defect it has.
func invalidGrant(description string) *oauthError {
	e := refusal("invalid_grant", description)
	e.failure = true
	return e
}

func tooMany(description string, wait int) *oauthError {
	return &oauthError{status: http.StatusTooManyRequests, code: "temporarily_unavailable", description: description, retryAfter: max(1, wait)}
}

// isTooMany reports whether err says that a limit on requests was reached.
func isTooMany(err error) bool { return resolve(err).status == http.StatusTooManyRequests }

// errUnknownClient makes hosts register again (H-141).
var errUnknownClient = &pdpp.Error{Code: pdpp.CodeNotFound, Message: "This client_id is not known here."}

var (
	errInvalidClient = &oauthError{
		status: http.StatusUnauthorized, code: "invalid_client", failure: true,
		description: "This client_id is not known here. Register the client again.",
	}
	errNoClientID = invalidRequest("client_id is missing.")
)

// resolve returns the answer for any error. An unknown error is a failure of this server;
// the answer does not contain its text.
func resolve(err error) *oauthError {
	var e *oauthError
	var known *pdpp.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, errUnknownClient):
		return errInvalidClient
	case errors.As(err, &known) && known.Code == pdpp.CodeRateLimited:
		return tooMany(known.Message, known.RetryAfter)
	case errors.As(err, &known) && (known.Code == pdpp.CodeBusy || known.Code == pdpp.CodeUnavailable),
		errors.Is(err, context.DeadlineExceeded):
		return &oauthError{status: http.StatusServiceUnavailable, code: "temporarily_unavailable", description: "The server is busy. Try again.", retryAfter: 1}
	}
	return &oauthError{status: http.StatusInternalServerError, code: "server_error", description: "The server could not answer. Try again later."}
}

// refuse answers with an error.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) error {
	e := resolve(err)
	s.logFailure(r, e, err)
	if e.failure {
		if blocked := s.failedFrom(r); blocked != nil {
			e = resolve(blocked)
		}
	}
	return writeError(w, r, e)
}

// failedFrom counts a request with an invalid secret against its address. It returns an error
// when there were too many (H-166).
func (s *Server) failedFrom(r *http.Request) error {
	addr := s.Edge.ClientAddr(r)
	if err := s.throttle.Blocked(addr); err != nil {
		return err
	}
	s.throttle.Failed(addr)
	return nil
}

// logFailure logs failures of this server, without values of the request.
func (s *Server) logFailure(r *http.Request, e *oauthError, err error) {
	if e.status >= http.StatusInternalServerError && r.Context().Err() == nil {
		s.Log.LogAttrs(r.Context(), slog.LevelError, "request failed",
			slog.String("request_id", httpx.RequestID(r.Context())), slog.String("code", e.code), slog.String("cause", err.Error()))
	}
}

func writeError(w http.ResponseWriter, r *http.Request, e *oauthError) error {
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.retryAfter))
	}
	return writeJSON(w, e.status, struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
		Fresh       bool   `json:"fresh_authorization_required,omitempty"`
		RequestID   string `json:"request_id"`
	}{e.code, ascii(e.description), e.fresh, httpx.RequestID(r.Context())})
}

// ascii replaces what an error_description may not contain (RFC 6749 §5.2).
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '"' || r == '\\':
			return '\''
		case r < ' ' || r > '~':
			return '?'
		}
		return r
	}, s)
}

// writeJSON writes an answer that carries or refuses a credential (H-140).
func writeJSON(w http.ResponseWriter, status int, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(data)+1))
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // the client may have disconnected
	return nil
}

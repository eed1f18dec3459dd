package httpx

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"

	"pdpp"
)

// Handler is an HTTP handler that returns its error. WriteError turns the error into
// a response. A failure of this server is also logged, once.
type Handler func(w http.ResponseWriter, r *http.Request) error

// ServeHTTP implements http.Handler.
func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Pattern != "" {
		SetRoute(r.Context(), r.Pattern)
	}
	rec := record(w)
	defer func() {
		if v := recover(); v != nil {
			panicked(rec, r, v)
		}
	}()
	if err := h(rec, r); err != nil {
		fail(rec, r, err)
	}
}

// Recover answers a panic of the middlewares and handlers that it wraps with 500. Handler
// does the same for itself.
func Recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := record(w)
		defer func() {
			if v := recover(); v != nil {
				panicked(rec, r, v)
			}
		}()
		next.ServeHTTP(rec, r)
	})
}

// NotFound answers an unknown path (C-2).
func NotFound(http.ResponseWriter, *http.Request) error {
	return pdpp.Errorf(pdpp.CodeNotFound, "There is nothing at this path.")
}

// MethodNotAllowed answers a method that the path does not support (C-2). allow is
// the value of the Allow header.
func MethodNotAllowed(allow string) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header()[keyAllow] = []string{allow}
		return pdpp.Errorf(pdpp.CodeMethodNotAllowed, "This path does not support the method. It supports: %s.", allow)
	}
}

// fail logs an error and answers with it. When the response has already begun, fail
// aborts the connection: a truncated body must not look complete.
func fail(rec *recorder, r *http.Request, err error) {
	logFailure(rec, r, err)
	if rec.status != 0 {
		panic(http.ErrAbortHandler)
	}
	WriteError(rec, r, err)
}

// panicked logs the origin of a panic but not its value, which may contain data of
// the request.
func panicked(rec *recorder, r *http.Request, v any) {
	if v == http.ErrAbortHandler {
		panic(v) // the handler aborts the connection on purpose
	}
	ctx := r.Context()
	loggerOf(r).LogAttrs(ctx, slog.LevelError, "panic",
		slog.String("request_id", RequestID(ctx)), slog.String("route", routeOf(r)),
		slog.String("cause", describePanic(v)), slog.String("stack", string(debug.Stack())))
	if rec.status != 0 {
		panic(http.ErrAbortHandler)
	}
	WriteError(rec, r, errInternal)
}

// describePanic returns the text of a runtime error, which names types and indexes
// only, and the type of any other value.
func describePanic(v any) string {
	if err, ok := v.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("value of type %T", v)
}

// logFailure logs failures of this server. It does not log rejected requests or
// clients that disconnected.
func logFailure(rec *recorder, r *http.Request, err error) {
	e, status := resolve(r.Context(), err)
	if status < 500 || e == errCanceled || rec.failed || e.Code == pdpp.CodeOverloaded {
		return
	}
	level := slog.LevelWarn
	if status == http.StatusInternalServerError {
		level = slog.LevelError
	}
	var op string
	if own := (*pdpp.Error)(nil); errors.As(err, &own) {
		op = own.Op
	}
	ctx := r.Context()
	loggerOf(r).LogAttrs(ctx, level, "request failed",
		slog.String("request_id", RequestID(ctx)), slog.String("route", routeOf(r)),
		slog.String("code", string(e.Code)), slog.String("op", op),
		slog.String("cause", redact(err.Error(), r)))
}

// redact removes the query string and the bearer token from an error text that may
// have copied them from the request (H-160).
func redact(s string, r *http.Request) string {
	secrets := []string{r.URL.RawQuery}
	for _, v := range r.Header[keyAuthorization] {
		_, token, _ := strings.Cut(v, " ")
		secrets = append(secrets, v, strings.TrimSpace(token))
	}
	for _, secret := range secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "[removed]")
		}
	}
	return s
}

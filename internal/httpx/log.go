package httpx

import (
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// AccessLog writes one line per request. The line contains the route and not the path:
// record ids are personal data, and so are query strings, headers and bodies (H-160). The
// wrapped handlers log their failures to the same logger.
func AccessLog(log *slog.Logger, now func() time.Time) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			update(r.Context(), func(st *state) { st.log = log })
			if !log.Enabled(r.Context(), slog.LevelInfo) {
				next.ServeHTTP(w, r)
				return
			}
			rec, start := record(w), now()
			// Deferred, because a handler aborts a connection with a panic.
			defer func() { logAccess(log, rec, r, start, now()) }()
			next.ServeHTTP(rec, r)
			if rec.status == 0 {
				rec.status = http.StatusOK // what net/http will send
			}
		})
	}
}

// logAccess writes the line. A status of 0 is a connection that was aborted before the
// response began. The line has no source location, because determining it is slow.
func logAccess(log *slog.Logger, rec *recorder, r *http.Request, start, end time.Time) {
	attrs := append(make([]slog.Attr, 0, 10),
		slog.String("method", methodOf(r)),
		slog.String("route", routeOf(r)),
		slog.Int("status", rec.status),
		slog.Int64("bytes", rec.bytes),
		slog.Float64("ms", float64(end.Sub(start).Microseconds())/1000),
		slog.String("request_id", RequestID(r.Context())),
	)
	update(r.Context(), func(st *state) {
		if st.token != "" {
			attrs = append(attrs, slog.String("token_id", string(st.token)))
		}
		attrs = append(attrs, st.notes...)
	})
	line := slog.NewRecord(end, slog.LevelInfo, "request", 0)
	line.AddAttrs(attrs...)
	_ = log.Handler().Handle(r.Context(), line) // as slog.Logger does
}

// loggerOf returns the logger of the request's chain.
func loggerOf(r *http.Request) *slog.Logger {
	if st := stateOf(r.Context()); st != nil {
		st.mu.Lock()
		defer st.mu.Unlock()
		if st.log != nil {
			return st.log
		}
	}
	return slog.Default()
}

// methodOf returns the method, or "other": a log line must not contain arbitrary text
// of a client.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
		http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "other"
}

// routeOf returns the pattern that matched. Without one, it returns the first two
// segments of the path, with segments that may be an id replaced.
func routeOf(r *http.Request) string {
	if route, _ := stateOf(r.Context()).outcome(r); route != "" {
		return route
	}
	return shortPath(r.URL.EscapedPath())
}

func shortPath(path string) string {
	first, rest, more := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	short := "/" + plainSegment(first)
	if !more {
		return short
	}
	second, _, _ := strings.Cut(rest, "/")
	return short + "/" + plainSegment(second)
}

// plainSegment replaces a segment that may be an id, a token or a name.
func plainSegment(s string) string {
	if len(s) > 32 {
		return "*"
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '.':
		default:
			return "*"
		}
	}
	return s
}

package httpx

import (
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// AccessLog writes one line per request. It holds the route, not the path: ids
// of records are personal data, and so are query strings, headers and bodies
// (H-160). The logger is also the one that handlers below report failures to.
func AccessLog(log *slog.Logger, now func() time.Time) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if st := stateOf(r.Context()); st != nil {
				st.mu.Lock()
				st.log = log
				st.mu.Unlock()
			}
			if !log.Enabled(r.Context(), slog.LevelInfo) {
				next.ServeHTTP(w, r)
				return
			}
			rec, start := record(w), now()
			// Also when a handler cuts the connection: the panic goes on.
			defer func() { logAccess(log, rec, r, start, now()) }()
			next.ServeHTTP(rec, r)
			if rec.status == 0 {
				rec.status = http.StatusOK // as net/http will answer
			}
		})
	}
}

// logAccess writes the line. A status of 0 is a connection that was cut before
// any answer. It says nothing of the place in the source, which would have to be found
// out for each line.
func logAccess(log *slog.Logger, rec *recorder, r *http.Request, start, end time.Time) {
	attrs := append(make([]slog.Attr, 0, 10),
		slog.String("method", methodOf(r)),
		slog.String("route", routeOf(r)),
		slog.Int("status", rec.status),
		slog.Int64("bytes", rec.bytes),
		slog.Float64("ms", float64(end.Sub(start).Microseconds())/1000),
		slog.String("request_id", RequestID(r.Context())),
	)
	if st := stateOf(r.Context()); st != nil {
		st.mu.Lock()
		if st.token != "" {
			attrs = append(attrs, slog.String("token_id", string(st.token)))
		}
		attrs = append(attrs, st.notes...)
		st.mu.Unlock()
	}
	line := slog.NewRecord(end, slog.LevelInfo, "request", 0)
	line.AddAttrs(attrs...)
	_ = log.Handler().Handle(r.Context(), line) // as a Logger would do
}

// loggerOf gives the logger of the request's chain.
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

// methodOf keeps text that a client made up out of the log.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
		http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "other"
}

// routeOf gives the pattern that matched. Without one, it gives the first two
// segments of the path, each only when it looks like a word of ours.
func routeOf(r *http.Request) string {
	if st := stateOf(r.Context()); st != nil {
		st.mu.Lock()
		route := st.route
		st.mu.Unlock()
		if route != "" {
			return route
		}
	}
	if r.Pattern != "" {
		return r.Pattern
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

// plainSegment hides anything that may be an id, a token or a name.
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

package httpx

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// The limits of H-65, H-66 and C-35.
const (
	maxHeaderBytes    = 32 << 10
	headerReadTimeout = 10 * time.Second
	bodyReadTimeout   = 30 * time.Second
	idleTimeout       = 120 * time.Second
	stallTimeout      = 30 * time.Second
	readyTimeout      = 5 * time.Second

	// RequestTimeout bounds every request, ReadTimeout the reads of /v1.
	RequestTimeout = 60 * time.Second
	ReadTimeout    = 30 * time.Second
	// Grace is how long a shutdown waits for open requests (H-11).
	Grace = 20 * time.Second
)

// NewServer returns a server with the limits that net/http enforces. Deadlines adds the
// limits for bodies and writes: as settings of http.Server they would include the time
// that the handler needs.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		MaxHeaderBytes:    maxHeaderBytes,
		ReadHeaderTimeout: headerReadTimeout,
		IdleTimeout:       idleTimeout,

		DisableGeneralOptionsHandler: true, // "OPTIONS *" passes Gate like other requests
	}
}

// Run serves until ctx is done. Then it stops accepting, waits up to grace for open
// requests, aborts the rest and returns nil. A server with a TLSConfig serves TLS on
// ln. Run closes ln and leaves no goroutine running.
func Run(ctx context.Context, ln net.Listener, srv *http.Server, grace time.Duration) error {
	done := make(chan error, 1)
	go func() {
		if srv.TLSConfig != nil {
			done <- srv.ServeTLS(ln, "", "")
			return
		}
		done <- srv.Serve(ln)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil {
		_ = srv.Close() // abort the requests that are still open
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Deadlines bounds the time for reading a body, and disconnects a client that stops
// reading the response (H-66).
func Deadlines(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := record(w)
		rec.stall, rec.streams = stallTimeout, r.ProtoMajor >= 2
		if r.Body != nil && r.Body != http.NoBody {
			// net/http clears it at the end of the body and for the next request.
			_ = http.NewResponseController(rec.ResponseWriter).SetReadDeadline(time.Now().Add(bodyReadTimeout))
		}
		next.ServeHTTP(rec, r)
		rec.extendDeadline() // net/http sends buffered bytes after this
	})
}

// Health answers that the process is running (H-11).
func Health() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeProbe(w, r, http.StatusOK, "ok")
	})
}

// Ready answers 200 when check passes, else 503. The log has the cause.
func Ready(check func(ctx context.Context) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		if err := check(ctx); err != nil {
			loggerOf(r).LogAttrs(ctx, slog.LevelWarn, "not ready",
				slog.String("request_id", RequestID(ctx)), slog.String("cause", redact(err.Error(), r)))
			writeProbe(w, r, http.StatusServiceUnavailable, "unavailable")
			return
		}
		writeProbe(w, r, http.StatusOK, "ok")
	})
}

func writeProbe(w http.ResponseWriter, r *http.Request, status int, text string) {
	h := w.Header()
	h[keyContentType] = valueJSON
	h[keyCacheControl] = []string{cacheNoStore}
	h[keyNosniff] = valueNosniff
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.Write([]byte(`{"status":"` + text + `"}`))
	}
}

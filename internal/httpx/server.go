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

	// RequestTimeout ends the work of any request, ReadTimeout a read of /v1.
	RequestTimeout = 60 * time.Second
	ReadTimeout    = 30 * time.Second
	// Grace is how long a stop waits for open requests (H-11).
	Grace = 20 * time.Second
)

// NewServer makes a server with the limits that net/http enforces. Deadlines
// adds those of bodies and writes: as server settings they would also count the
// time a handler works.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		MaxHeaderBytes:    maxHeaderBytes,
		ReadHeaderTimeout: headerReadTimeout,
		IdleTimeout:       idleTimeout,

		DisableGeneralOptionsHandler: true, // "OPTIONS *" goes through the gate like the rest
	}
}

// Run serves until ctx is done, then stops accepting, lets open requests finish
// for up to grace and cuts off the rest; that is a good end, nil. A server with
// a TLSConfig serves TLS on ln. Run closes ln, and leaves no goroutine of its
// own behind.
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
		_ = srv.Close() // the grace is over; nothing is left to save
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Deadlines bounds the reading of a body, and cuts off a client that takes
// nothing of an answer for a while (H-66).
func Deadlines(next http.Handler) http.Handler {
	return deadlines(next, bodyReadTimeout, stallTimeout)
}

func deadlines(next http.Handler, body, stall time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := record(w)
		rec.stall, rec.streams = stall, r.ProtoMajor >= 2
		if r.Body != nil && r.Body != http.NoBody {
			// net/http lifts it at the end of the body and for the next request.
			_ = http.NewResponseController(rec.ResponseWriter).SetReadDeadline(time.Now().Add(body))
		}
		next.ServeHTTP(rec, r)
		rec.extend() // what is still buffered goes out after this
	})
}

// BodyLimit refuses larger bodies with 413 (H-65): at once when the request says
// its size, else when a handler has read that much.
func BodyLimit(limit int64) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > limit {
				WriteError(w, r, bodyTooLarge(limit))
				return
			}
			if r.Body != nil && r.Body != http.NoBody {
				r.Body = http.MaxBytesReader(w, r.Body, limit)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// Health answers that the process lives (H-11).
func Health() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeProbe(w, r, http.StatusOK, "ok")
	})
}

// Ready answers 200 when check passes, else 503. Why it failed is for the log.
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

package httpx

import (
	"net/http"
	"time"
)

// writeStep is the number of bytes after which the write deadline is extended. A client
// that reads less than this within the deadline counts as stalled.
const writeStep = 64 << 10

// recorder is the response writer of the edge. It records what was sent and disconnects a
// client that stops reading (H-66). It deliberately has no ReadFrom: a copy by the kernel
// would be a single write of unlimited duration, during which a stalled client would not
// be noticed.
type recorder struct {
	http.ResponseWriter
	status int   // 0 until the header is written
	bytes  int64 // sent bytes of the body
	failed bool  // a write failed: the client disconnected or stalled

	stall    time.Duration // 0 for no write deadline
	extended time.Time     // when the deadline was last set
	streams  bool          // HTTP/2, see clearDeadline
}

// record wraps w unless it is a recorder already.
func record(w http.ResponseWriter) *recorder {
	if rec, ok := w.(*recorder); ok {
		return rec
	}
	return &recorder{ResponseWriter: w}
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (rec *recorder) WriteHeader(status int) {
	interim := status < 200 && status != http.StatusSwitchingProtocols
	if rec.status == 0 && !interim {
		rec.status = status
	}
	rec.extendDeadline()
	rec.ResponseWriter.WriteHeader(status)
	rec.clearDeadline()
}

// Write implements http.ResponseWriter.
func (rec *recorder) Write(p []byte) (n int, err error) {
	if rec.status == 0 {
		rec.status = http.StatusOK
	}
	for {
		step := p[n:]
		if rec.stall > 0 && len(step) > writeStep {
			step = step[:writeStep]
		}
		rec.extendDeadline()
		m, err := rec.ResponseWriter.Write(step)
		n += m
		rec.bytes += int64(m)
		if err != nil {
			rec.failed = true
			return n, err
		}
		if n == len(p) {
			rec.clearDeadline()
			return n, nil
		}
	}
}

// FlushError implements the flusher of http.ResponseController.
func (rec *recorder) FlushError() error {
	if rec.status == 0 {
		rec.status = http.StatusOK
	}
	rec.extendDeadline()
	err := http.NewResponseController(rec.ResponseWriter).Flush()
	rec.clearDeadline()
	return err
}

// Flush implements http.Flusher.
func (rec *recorder) Flush() { _ = rec.FlushError() }

// extendDeadline restarts the write deadline. It does so at most once a second, to save
// system calls.
func (rec *recorder) extendDeadline() {
	if rec.stall == 0 {
		return
	}
	now := time.Now()
	if now.Sub(rec.extended) < min(time.Second, rec.stall/2) {
		return
	}
	rec.extended = now
	// A writer that does not support deadlines has no connection to close.
	_ = http.NewResponseController(rec.ResponseWriter).SetWriteDeadline(now.Add(rec.stall))
}

// clearDeadline removes the deadline of an HTTP/2 stream between writes. There an
// expired deadline ends the stream even when nothing is being written.
func (rec *recorder) clearDeadline() {
	if rec.stall == 0 || !rec.streams {
		return
	}
	rec.extended = time.Time{}
	_ = http.NewResponseController(rec.ResponseWriter).SetWriteDeadline(time.Time{})
}

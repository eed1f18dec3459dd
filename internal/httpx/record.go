package httpx

import (
	"net/http"
	"time"
)

// writeStep is how much is written before the progress deadline moves on. It
// makes "no progress" mean less than this much in the time allowed.
const writeStep = 64 << 10

// recorder is the one response writer of the edge: it knows what was sent, and
// cuts off a client that stops reading (H-66). It has no ReadFrom on purpose: a
// copy by the kernel would be one write, whatever it takes.
type recorder struct {
	http.ResponseWriter
	status int   // 0 until the header is written
	bytes  int64 // of body
	failed bool  // a write failed: the client is gone or stuck

	stall    time.Duration // 0: no progress deadline
	extended time.Time     // when the deadline was last set
	streams  bool          // HTTP/2, see extend
}

// record wraps w unless it is a recorder already.
func record(w http.ResponseWriter) *recorder {
	if rec, ok := w.(*recorder); ok {
		return rec
	}
	return &recorder{ResponseWriter: w}
}

// Unwrap serves http.ResponseController.
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (rec *recorder) WriteHeader(status int) {
	interim := status < 200 && status != http.StatusSwitchingProtocols
	if rec.status == 0 && !interim {
		rec.status = status
	}
	rec.extend()
	rec.ResponseWriter.WriteHeader(status)
	rec.relax()
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
		rec.extend()
		m, err := rec.ResponseWriter.Write(step)
		n += m
		rec.bytes += int64(m)
		if err != nil {
			rec.failed = true
			return n, err
		}
		if n == len(p) {
			rec.relax()
			return n, nil
		}
	}
}

// FlushError sends what is buffered; http.ResponseController uses it.
func (rec *recorder) FlushError() error {
	if rec.status == 0 {
		rec.status = http.StatusOK
	}
	rec.extend()
	err := http.NewResponseController(rec.ResponseWriter).Flush()
	rec.relax()
	return err
}

// Flush implements http.Flusher.
func (rec *recorder) Flush() { _ = rec.FlushError() }

// extend gives the client the whole time again. Moving the deadline costs a
// little, so it moves once a second at most.
func (rec *recorder) extend() {
	if rec.stall == 0 {
		return
	}
	now := time.Now()
	if now.Sub(rec.extended) < min(time.Second, rec.stall/2) {
		return
	}
	rec.extended = now
	// Not supported means there is no connection to cut.
	_ = http.NewResponseController(rec.ResponseWriter).SetWriteDeadline(now.Add(rec.stall))
}

// relax takes the deadline off an HTTP/2 stream between writes: there it ends
// the stream when it passes, even while nothing waits to be written.
func (rec *recorder) relax() {
	if rec.stall == 0 || !rec.streams {
		return
	}
	rec.extended = time.Time{}
	_ = http.NewResponseController(rec.ResponseWriter).SetWriteDeadline(time.Time{})
}

package httpx

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// slowWriter delays every write and records the deadline.
type slowWriter struct {
	discard
	delay    time.Duration
	longest  int
	deadline time.Time
	missed   bool
}

func (w *slowWriter) Write(p []byte) (int, error) {
	w.longest = max(w.longest, len(p))
	time.Sleep(w.delay)
	w.missed = w.missed || time.Now().After(w.deadline)
	return len(p), nil
}

func (w *slowWriter) SetWriteDeadline(t time.Time) error {
	w.deadline = t
	return nil
}

// A client that keeps reading slowly is not disconnected, however long one large write
// takes (H-66).
func TestSlowClientStaysConnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &slowWriter{discard: discard{http.Header{}}, delay: 20 * time.Second}
		h := Deadlines(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n, err := w.Write(make([]byte, 5*writeStep+1)); n != 5*writeStep+1 || err != nil {
				t.Errorf("Write = %d, %v", n, err)
			}
		}))
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if w.missed || w.longest > writeStep {
			t.Errorf("a write missed its deadline: %v; longest write %d bytes", w.missed, w.longest)
		}
	})
}

// The deadline starts again when the handler returns, for the bytes that are still
// buffered.
func TestDeadlineOfLastFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &slowWriter{discard: discard{http.Header{}}}
		h := Deadlines(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Write([]byte("a"))
			time.Sleep(25 * time.Second)
		}))
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if left := time.Until(w.deadline); left != stallTimeout {
			t.Errorf("%v left, want %v", left, stallTimeout)
		}
	})
}

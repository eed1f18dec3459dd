package httpx

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// slowWriter takes its time for every write and notes the deadlines it is given.
type slowWriter struct {
	nowhere
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

// A client that keeps taking a little is not cut, however long one large write
// takes in all (H-66).
func TestSlowClientIsNotCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &slowWriter{nowhere: nowhere{http.Header{}}, delay: 20 * time.Second}
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

// What is buffered when the handler returns gets the whole time as well.
func TestLastFlushGetsTheWholeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &slowWriter{nowhere: nowhere{http.Header{}}}
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

package httpx

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"pdpp"
)

// within serves a request whose handler calls use with its Hold.
func within(b *Budget, use func(*Hold) error) *httptest.ResponseRecorder {
	h := Chain(Handler(func(_ http.ResponseWriter, r *http.Request) error { return use(HoldOf(r.Context())) }), WithRequestID, b.Within)
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest("GET", "/", nil))
	return rec
}

func TestBudget(t *testing.T) {
	t.Run("H-69 bytes are released when the request ends", func(t *testing.T) {
		b := NewBudget(100)
		rec := within(b, func(h *Hold) error {
			for _, n := range []int{60, 40, 0, -5} {
				if err := h.Reserve(n); err != nil {
					return err
				}
			}
			if b.used != 100 {
				t.Errorf("used = %d, want 100", b.used)
			}
			return nil
		})
		if rec.Code != 200 || b.used != 0 {
			t.Errorf("status %d, used = %d, want 200 and 0", rec.Code, b.used)
		}
	})
	t.Run("H-69 503 while others hold too much, 413 for more than the budget", func(t *testing.T) {
		b := NewBudget(100)
		within(b, func(other *Hold) error {
			if err := other.Reserve(70); err != nil {
				t.Error(err)
			}
			rec := within(b, func(h *Hold) error { return h.Reserve(31) })
			if rec.Code != 503 || rec.Header().Get("Retry-After") == "" || errorIn(t, rec) != pdpp.CodeUnavailable {
				t.Errorf("%d %v %s", rec.Code, rec.Header(), rec.Body)
			}
			if rec := within(b, func(h *Hold) error { return h.Reserve(30) }); rec.Code != 200 {
				t.Errorf("a reservation that fits: %d %s", rec.Code, rec.Body)
			}
			rec = within(b, func(h *Hold) error {
				if err := h.Reserve(20); err != nil {
					return err
				}
				return h.Reserve(81)
			})
			if rec.Code != 413 || errorIn(t, rec) != pdpp.CodeResourceLimit {
				t.Errorf("%d %s", rec.Code, rec.Body)
			}
			if b.used != 70 {
				t.Errorf("used = %d after refused reservations, want 70", b.used)
			}
			return nil
		})
	})
	t.Run("H-69 a client holds at most half, or one request", func(t *testing.T) {
		b := NewBudget(100)
		as := func(client string, n int, then func()) int {
			return within(b, func(h *Hold) error {
				h.Claim(client)
				if err := h.Reserve(n); err != nil {
					return err
				}
				then()
				return nil
			}).Code
		}
		noop := func() {}
		as("x", 40, func() {
			if got := []int{as("x", 11, noop), as("x", 10, noop), as("y", 60, noop)}; !slices.Equal(got, []int{503, 200, 200}) {
				t.Errorf("client x holds 40: status of 11 and 10 more for x, 60 for y = %v", got)
			}
		})
		as("x", 90, func() {
			if got := []int{as("x", 1, noop), as("y", 10, noop)}; !slices.Equal(got, []int{503, 200}) {
				t.Errorf("client x holds 90: status of 1 more for x, 10 for y = %v", got)
			}
		})
		if b.used != 0 || len(b.clients) != 0 {
			t.Errorf("used = %d, clients = %v, want none", b.used, b.clients)
		}
	})
	t.Run("H-69 concurrent requests", func(t *testing.T) {
		b := NewBudget(1000)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				within(b, func(h *Hold) error {
					for range 20 {
						if err := h.Reserve(7); err != nil {
							return err
						}
					}
					return nil
				})
			})
		}
		if all.Wait(); b.used != 0 {
			t.Errorf("used = %d after all requests, want 0", b.used)
		}
	})
	t.Run("H-69 an inner request shares the hold of the outer one", func(t *testing.T) {
		b := NewBudget(100)
		inner := Chain(Handler(func(_ http.ResponseWriter, r *http.Request) error { return HoldOf(r.Context()).Reserve(50) }), WithRequestID)
		h := Chain(Handler(func(_ http.ResponseWriter, r *http.Request) error {
			inner.ServeHTTP(httptest.NewRecorder(), r)
			if b.used != 50 {
				t.Errorf("used = %d, want 50", b.used)
			}
			return nil
		}), WithRequestID, b.Within)
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
		if b.used != 0 {
			t.Errorf("used = %d at the end, want 0", b.used)
		}
	})
	t.Run("H-69 no bound", func(t *testing.T) {
		if rec := within(NewBudget(0), func(h *Hold) error { return h.Reserve(1 << 40) }); rec.Code != 200 {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
	})
}

func errorIn(t *testing.T, rec *httptest.ResponseRecorder) pdpp.Code {
	t.Helper()
	code, _ := errorOf(t, reply{body: rec.Body.String()})["code"].(string)
	return pdpp.Code(code)
}

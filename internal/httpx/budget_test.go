package httpx

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"pdpp"
)

// within serves a request that does as serve says with its hold.
func within(b *Budget, serve func(*Hold) error) *httptest.ResponseRecorder {
	h := Chain(Handler(func(_ http.ResponseWriter, r *http.Request) error { return serve(HoldOf(r.Context())) }), WithRequestID, b.Within)
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest("GET", "/", nil))
	return rec
}

func TestBudget(t *testing.T) {
	t.Run("H-69 what is held is given back at the end", func(t *testing.T) {
		b := NewBudget(100)
		rec := within(b, func(h *Hold) error {
			for _, n := range []int{60, 40, 0, -5} {
				if err := h.Reserve(n); err != nil {
					return err
				}
			}
			if b.Used() != 100 {
				t.Errorf("%d bytes are held, want 100", b.Used())
			}
			return nil
		})
		if rec.Code != 200 || b.Used() != 0 {
			t.Errorf("status %d, %d bytes are still held", rec.Code, b.Used())
		}
	})
	t.Run("H-69 503 while others hold too much, 413 for what never fits", func(t *testing.T) {
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
				t.Errorf("what fits: %d %s", rec.Code, rec.Body)
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
			if b.Used() != 70 {
				t.Errorf("%d bytes are held after refusals, want 70", b.Used())
			}
			return nil
		})
	})
	t.Run("H-69 a client holds half, or one answer", func(t *testing.T) {
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
		none := func() {}
		as("x", 40, func() {
			if got := []int{as("x", 11, none), as("x", 10, none), as("y", 60, none)}; !slices.Equal(got, []int{503, 200, 200}) {
				t.Errorf("beside 40 of one client: 11 and 10 more of it, 60 of another: %v", got)
			}
		})
		as("x", 90, func() {
			if got := []int{as("x", 1, none), as("y", 10, none)}; !slices.Equal(got, []int{503, 200}) {
				t.Errorf("beside 90 of one client: 1 more of it, 10 of another: %v", got)
			}
		})
		if b.Used() != 0 || len(b.clients) != 0 {
			t.Errorf("%d bytes are still held, by %v", b.Used(), b.clients)
		}
	})
	t.Run("H-69 many at once", func(t *testing.T) {
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
		if all.Wait(); b.Used() != 0 {
			t.Errorf("%d bytes are held by nobody", b.Used())
		}
	})
	t.Run("H-69 a request inside another holds with it", func(t *testing.T) {
		b := NewBudget(100)
		inner := Chain(Handler(func(_ http.ResponseWriter, r *http.Request) error { return HoldOf(r.Context()).Reserve(50) }), WithRequestID)
		h := Chain(Handler(func(_ http.ResponseWriter, r *http.Request) error {
			inner.ServeHTTP(httptest.NewRecorder(), r)
			if b.Used() != 50 {
				t.Errorf("%d bytes are held, want 50", b.Used())
			}
			return nil
		}), WithRequestID, b.Within)
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
		if b.Used() != 0 {
			t.Errorf("%d bytes are still held", b.Used())
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

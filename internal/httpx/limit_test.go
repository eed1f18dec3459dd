package httpx

import (
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pdpp"
)

func TestParseRate(t *testing.T) {
	for in, want := range map[string]Rate{"600/m": 600, "1/m": 1, "off": 0} {
		if got, err := ParseRate(in); err != nil || got != want {
			t.Errorf("ParseRate(%q) = %d, %v, want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "600", "600/s", "0/m", "-1/m", "x/m", "1.5/m", "99999999999/m", "Off"} {
		wantUsage(t, "--rate-limit", in, func() error { _, err := ParseRate(in); return err })
	}
}

// take acquires and releases n times. It stops at the first error and returns it.
func take(l *Limiter, id pdpp.TokenID, n int) (int, error) {
	for i := range n {
		if err := l.Acquire(id); err != nil {
			return i, err
		}
		l.Release(id)
	}
	return n, nil
}

func wantLimited(t *testing.T, err error, wait int) {
	t.Helper()
	e, ok := err.(*pdpp.Error)
	if !ok || e.Code != pdpp.CodeRateLimited || e.RetryAfter != wait {
		t.Errorf("error = %#v, want rate_limit_exceeded after %d s", err, wait)
	}
}

func TestLimiterRate(t *testing.T) {
	c := newClock()
	l := NewLimiter(DefaultRate, c.now)
	n, err := take(l, "tok_a", 100)
	if n != 60 {
		t.Fatalf("%d requests without delay, want 60", n)
	}
	wantLimited(t, err, 1)
	if n, _ := take(l, "tok_b", 1); n != 1 {
		t.Error("the limit of one token affects another")
	}
	c.advance(time.Second)
	if n, _ := take(l, "tok_a", 100); n != 10 {
		t.Errorf("%d requests after a second, want 10", n)
	}
	c.advance(time.Hour)
	if n, _ := take(l, "tok_a", 100); n != 60 {
		t.Errorf("%d requests after an hour, want 60", n)
	}
}

func TestLimiterSlowRate(t *testing.T) {
	c := newClock()
	l := NewLimiter(2, c.now)
	n, err := take(l, "tok_a", 10)
	if n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
	wantLimited(t, err, 30)
	c.advance(30 * time.Second)
	if n, _ := take(l, "tok_a", 10); n != 1 {
		t.Errorf("%d requests after 30 s, want 1", n)
	}
}

func TestLimiterOpenRequests(t *testing.T) {
	l := NewLimiter(DefaultRate, newClock().now)
	for i := range 8 {
		if err := l.Acquire("tok_a"); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}
	wantLimited(t, l.Acquire("tok_a"), 1)
	l.Release("tok_a")
	if err := l.Acquire("tok_a"); err != nil {
		t.Errorf("after a release: %v", err)
	}
}

func TestLimiterOff(t *testing.T) {
	l := NewLimiter(0, newClock().now)
	for range 1000 {
		if err := l.Acquire("tok_a"); err != nil {
			t.Fatal(err)
		}
	}
	l.Release("tok_a")
}

// For any order of calls, a token never has more than 8 open requests and is never
// admitted more often than its bucket and rate allow, also when idle entries are dropped.
func TestLimiterModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClock()
		l := NewLimiter(DefaultRate, c.now)
		l.keys.max = 4
		start, open, admitted := c.now(), map[pdpp.TokenID]int{}, map[pdpp.TokenID]int{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			id := pdpp.TokenID(strconv.Itoa(rapid.IntRange(0, 2).Draw(t, "token")))
			switch rapid.IntRange(0, 2).Draw(t, "op") {
			case 0:
				if l.Acquire(id) == nil {
					open[id]++
					admitted[id]++
				}
			case 1:
				if open[id] > 0 {
					open[id]--
					l.Release(id)
				}
			case 2:
				c.advance(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			}
			if open[id] > 8 {
				t.Fatalf("%d requests of %s open", open[id], id)
			}
			if most := 60 + 10*c.now().Sub(start).Seconds(); float64(admitted[id]) > most {
				t.Fatalf("%d requests of %s admitted, at most %.1f allowed", admitted[id], id, most)
			}
		}
	})
}

func TestLimiterConcurrent(t *testing.T) {
	l := NewLimiter(1_000_000, time.Now)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 100 {
				id := pdpp.TokenID(strconv.Itoa(i % 3))
				if l.Acquire(id) == nil {
					l.Release(id)
				}
			}
		})
	}
	wg.Wait()
	for id, u := range l.keys.entries {
		if u.open != 0 {
			t.Errorf("%s has %d requests open", id, u.open)
		}
	}
}

func TestLimiterMemory(t *testing.T) {
	c := newClock()
	l := NewLimiter(DefaultRate, c.now)
	for range 8 {
		if err := l.Acquire("open"); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 * maxTokenKeys {
		take(l, pdpp.TokenID(strconv.Itoa(i)), 1)
	}
	if n := len(l.keys.entries); n > maxTokenKeys {
		t.Errorf("%d entries, at most %d allowed", n, maxTokenKeys)
	}
	wantLimited(t, l.Acquire("open"), 1) // an entry with open requests is never dropped
	c.advance(time.Minute)
	for i := range 2 {
		take(l, pdpp.TokenID("new"+strconv.Itoa(i)), 1)
	}
	if n := len(l.keys.entries); n > minSweep {
		t.Errorf("%d entries after all became idle", n)
	}
	wantLimited(t, l.Acquire("open"), 1) // however long they stay open
}

func TestThrottle(t *testing.T) {
	c := newClock()
	th := NewThrottle(c.now)
	failing, other := netip.MustParseAddr("203.0.113.9"), netip.MustParseAddr("203.0.113.10")
	for i := range 60 {
		if err := th.Blocked(failing); err != nil {
			t.Fatalf("blocked after %d failures: %v", i, err)
		}
		th.Failed(failing)
	}
	wantLimited(t, th.Blocked(failing), 60)
	if err := th.Blocked(other); err != nil {
		t.Errorf("another address is blocked: %v", err)
	}
	c.advance(59*time.Second + time.Millisecond)
	wantLimited(t, th.Blocked(failing), 1)
	c.advance(time.Second)
	if err := th.Blocked(failing); err != nil {
		t.Errorf("still blocked after a minute: %v", err)
	}
	th.Failed(failing)
	if err := th.Blocked(failing); err != nil {
		t.Errorf("blocked by one failure after the block: %v", err)
	}
}

func TestThrottleSlowFailures(t *testing.T) {
	c := newClock()
	th := NewThrottle(c.now)
	addr := netip.MustParseAddr("203.0.113.9")
	for i := range 300 {
		if err := th.Blocked(addr); err != nil {
			t.Fatalf("blocked after %d failures, one every two seconds", i)
		}
		th.Failed(addr)
		c.advance(2 * time.Second)
	}
}

// The addresses of one IPv6 network count as one client. An IPv4 address counts as the
// same client in both notations.
func TestThrottleNetworks(t *testing.T) {
	for _, tt := range []struct {
		failing, other string
		blocked        bool
	}{
		{"2001:db8::1", "2001:db8::ffff:2", true},
		{"2001:db8::1", "2001:db8:0:1::1", false},
		{"fe80::1%eth0", "fe80::2%eth1", true},
		{"203.0.113.9", "::ffff:203.0.113.9", true},
		{"::ffff:203.0.113.9", "::ffff:203.0.113.10", false},
	} {
		th := NewThrottle(newClock().now)
		for range maxFailures {
			th.Failed(netip.MustParseAddr(tt.failing))
		}
		if blocked := th.Blocked(netip.MustParseAddr(tt.other)) != nil; blocked != tt.blocked {
			t.Errorf("after failures of %s, %s is blocked: %v, want %v", tt.failing, tt.other, blocked, tt.blocked)
		}
	}
}

func TestThrottleMemory(t *testing.T) {
	c := newClock()
	th := NewThrottle(c.now)
	addr := netip.MustParseAddr("10.0.0.0")
	for range 2 * maxAddrKeys {
		th.Failed(addr)
		addr = addr.Next()
	}
	if n := len(th.addrs.entries); n > maxAddrKeys {
		t.Errorf("%d entries, at most %d allowed", n, maxAddrKeys)
	}
	c.advance(time.Minute)
	th.Failed(addr)
	if n := len(th.addrs.entries); n != 1 {
		t.Errorf("%d entries after all windows passed, want 1", n)
	}
}

func TestInFlight(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	srv := serve(t, Chain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			entered <- struct{}{}
			<-leave
		}
	}), WithRequestID, InFlight(2)))
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { send(t, srv, request{path: "/slow"}) })
		<-entered
	}
	got := send(t, srv, request{path: "/v1/schema"})
	if got.status != 503 || got.header.Get("Retry-After") != "1" || errorOf(t, got)["code"] != "overloaded" {
		t.Errorf("third request: %d %v %s", got.status, got.header, got.body)
	}
	if got := send(t, srv, request{path: "/healthz"}); got.status != 200 {
		t.Errorf("probe: status %d", got.status)
	}
	close(leave)
	wg.Wait()
	if got := send(t, srv, request{path: "/v1/schema"}); got.status != 200 {
		t.Errorf("afterwards: status %d", got.status)
	}
}

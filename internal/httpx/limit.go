package httpx

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pdpp"
)

// The limits of H-67.
const (
	MaxInFlight  = 256 // requests at once, per instance
	maxPerToken  = 8   // requests at once, per token
	bucketSize   = 60
	maxTokenKeys = 1 << 16
)

// Rate is a number of requests per minute. Zero means no limit.
type Rate int

// DefaultRate is the rate of a token if --rate-limit is not set.
const DefaultRate Rate = 600

// ParseRate parses --rate-limit: "600/m" or "off". Errors have pdpp.CodeUsage.
func ParseRate(s string) (Rate, error) {
	if s == "off" {
		return 0, nil
	}
	digits, ok := strings.CutSuffix(s, "/m")
	n, err := strconv.ParseUint(digits, 10, 31)
	if !ok || err != nil || n == 0 {
		return 0, usage("--rate-limit", s, "write a number of requests per minute such as 600/m, or off")
	}
	return Rate(n), nil
}

// Limiter bounds the request rate and the number of concurrent requests of each token
// (H-67). It is safe for concurrent use. A nil Limiter limits nothing.
type Limiter struct {
	rate  float64 // requests per second
	burst float64
	now   func() time.Time

	mu   sync.Mutex
	keys table[pdpp.TokenID, bucket]
}

// bucket is the token bucket of one bearer token, and the number of its open requests.
type bucket struct {
	tokens float64 // requests that it may make now
	at     time.Time
	open   int
}

// NewLimiter returns a limiter for a rate. For 0 it returns nil, which limits nothing.
func NewLimiter(rate Rate, now func() time.Time) *Limiter {
	if rate <= 0 {
		return nil
	}
	l := &Limiter{rate: float64(rate) / 60, burst: min(bucketSize, float64(rate)), now: now}
	l.keys = table[pdpp.TokenID, bucket]{max: maxTokenKeys, idle: l.idle, pinned: isOpen}
	return l
}

// Acquire admits one request of a token, or returns a 429 error with the seconds to
// wait. After a nil error the caller must call Release once.
func (l *Limiter) Acquire(id pdpp.TokenID) error {
	if l == nil {
		return nil
	}
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	u, fresh := l.keys.entry(id, now)
	if fresh {
		u.tokens, u.at = l.burst, now
	}
	l.refill(u, now)
	if u.open >= maxPerToken {
		return tooMany("This token has "+strconv.Itoa(maxPerToken)+" requests open. Wait for one to end.", 1)
	}
	if u.tokens < 1 {
		wait := math.Ceil((1 - u.tokens) / l.rate)
		return tooMany("This token made too many requests.", int(wait))
	}
	u.tokens--
	u.open++
	return nil
}

// Release ends a request that Acquire admitted.
func (l *Limiter) Release(id pdpp.TokenID) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if u := l.keys.find(id); u != nil && u.open > 0 {
		u.open--
	}
}

func (l *Limiter) refill(u *bucket, now time.Time) {
	if d := now.Sub(u.at); d > 0 {
		u.tokens = min(l.burst, u.tokens+d.Seconds()*l.rate)
		u.at = now
	}
}

// idle reports whether an entry can be dropped: it has no open request and a full bucket.
func (l *Limiter) idle(u *bucket, now time.Time) bool {
	return u.open == 0 && u.tokens+now.Sub(u.at).Seconds()*l.rate >= l.burst
}

func isOpen(u *bucket) bool { return u.open > 0 }

// tooMany returns a 429 error. The message also says when to try again, because a
// client may show its user the message alone.
func tooMany(message string, wait int) *pdpp.Error {
	wait = max(1, wait)
	return &pdpp.Error{Code: pdpp.CodeRateLimited, Message: message + " Try again in " + seconds(wait) + ".", RetryAfter: wait}
}

func seconds(n int) string {
	if n == 1 {
		return "1 second"
	}
	return strconv.Itoa(n) + " seconds"
}

// InFlight bounds the number of concurrent requests (H-67) and answers further ones
// with 503. Probes are always answered.
func InFlight(limit int) Middleware {
	var open atomic.Int64
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if IsProbe(r) {
				next.ServeHTTP(w, r)
				return
			}
			defer open.Add(-1)
			if open.Add(1) > int64(limit) {
				WriteError(w, r, errOverloaded)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

var errOverloaded = &pdpp.Error{
	Code: pdpp.CodeOverloaded, RetryAfter: 1,
	Message: "This server has too many requests open. Try again in " + seconds(1) + ".",
}

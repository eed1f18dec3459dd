package pkgreader

import (
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"pdpp"
	"pdpp/internal/rsclient"
)

// How long a failure of a member is remembered, and how many of them (H-94).
const (
	remembered    = 60 * time.Second
	maxRemembered = 10_000
)

// Memory remembers which members were recently refused by their server (D13). It
// records only the results of real reads. The zero value is ready; all packages of a
// process share one.
type Memory struct {
	mu       sync.Mutex
	failures map[memberKey]failure
}

// memberKey identifies a member of a package.
type memberKey struct{ pkg, grant string }

type failure struct {
	until time.Time
	cause *rsclient.Error
}

// lost returns the remembered error of a member; nil if there is none.
func (m *Memory) lost(pkg, grant string, now time.Time) *rsclient.Error {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := m.failures[memberKey{pkg, grant}]
	switch {
	case !ok:
		return nil
	case !now.Before(f.until):
		delete(m.failures, memberKey{pkg, grant})
		return nil
	}
	return f.cause
}

func (m *Memory) forget(pkg, grant string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.failures, memberKey{pkg, grant})
}

func (m *Memory) keep(pkg, grant string, cause *rsclient.Error, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failures == nil {
		m.failures = make(map[memberKey]failure)
	}
	if len(m.failures) >= maxRemembered {
		m.evict(now)
	}
	m.failures[memberKey{pkg, grant}] = failure{now.Add(remembered), cause}
}

// evict drops expired failures. If that is not enough, it drops others until a tenth of
// the space is free; their members are then called again. Dropping one at a time would
// need a scan of all failures each time.
func (m *Memory) evict(now time.Time) {
	for key, f := range m.failures {
		if !now.Before(f.until) {
			delete(m.failures, key)
		}
	}
	for key := range m.failures {
		if len(m.failures) <= maxRemembered*9/10 {
			return
		}
		delete(m.failures, key)
	}
}

// scopeCodes refuse a part of a request, not the token (H-94, IO-3).
var scopeCodes = []pdpp.Code{
	pdpp.CodeStreamNotAllowed, pdpp.CodeFieldNotGranted, pdpp.CodeInsufficientScope, rsclient.ForeignStreamNotAllowed, rsclient.ForeignInstanceMismatch,
}

func isLost(e *rsclient.Error) bool {
	return (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden) && !slices.Contains(scopeCodes, e.Code)
}

// remember stores whether a read showed that the member's grant is no longer valid. It
// returns the error of the member, with a next step if the grant is not valid (H-87).
func (p *Package) remember(m *Member, err error) *rsclient.Error {
	var e *rsclient.Error
	switch {
	case err == nil:
		p.Memory.forget(p.ID, m.GrantID)
		return nil
	case !errors.As(err, &e):
		return nil
	case !isLost(e):
		return e
	}
	p.Memory.keep(p.ID, m.GrantID, brief(e), p.Clock())
	return with(e, "next_step", quoted(approveAgain))
}

// maxMessage bounds the characters of a remembered message.
const maxMessage = 300

// brief returns the part of an error that is remembered. The rest of it is unbounded.
func brief(e *rsclient.Error) *rsclient.Error {
	r := refusal{code: e.Code, message: firstChars(e.Message, maxMessage)}
	o := r.open()
	o.Optional("next_step", approveAgain)
	return &rsclient.Error{Status: e.Status, Code: e.Code, Message: r.message, Object: []byte(append(o, '}'))}
}

func firstChars(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

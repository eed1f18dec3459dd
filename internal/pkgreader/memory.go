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

// How long, and of how many members, it is remembered that they cannot be read
// (H-94).
const (
	remembered    = 60 * time.Second
	maxRemembered = 10_000
)

// Memory knows which members lately said that they may not be read any more (D13).
// It is learned from real calls alone. The zero value is ready; one is shared by all
// packages of a process.
type Memory struct {
	mu   sync.Mutex
	gone map[seat]loss
}

// seat is a place of a package.
type seat struct{ pkg, grant string }

type loss struct {
	until time.Time
	cause *rsclient.Error
}

// lost is what a member said, while that is remembered; else nil.
func (m *Memory) lost(pkg, grant string, now time.Time) *rsclient.Error {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, known := m.gone[seat{pkg, grant}]
	switch {
	case !known:
		return nil
	case !now.Before(l.until):
		delete(m.gone, seat{pkg, grant})
		return nil
	}
	return l.cause
}

func (m *Memory) forget(pkg, grant string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.gone, seat{pkg, grant})
}

func (m *Memory) keep(pkg, grant string, cause *rsclient.Error, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone == nil {
		m.gone = make(map[seat]loss)
	}
	if len(m.gone) >= maxRemembered {
		m.makeRoom(now)
	}
	m.gone[seat{pkg, grant}] = loss{now.Add(remembered), cause}
}

// makeRoom drops what is over, and if that is not enough any others until a tenth is
// free: their members are asked once more. Making room one by one would cost a look
// at all of them each time.
func (m *Memory) makeRoom(now time.Time) {
	for s, l := range m.gone {
		if !now.Before(l.until) {
			delete(m.gone, s)
		}
	}
	for s := range m.gone {
		if len(m.gone) <= maxRemembered*9/10 {
			return
		}
		delete(m.gone, s)
	}
}

// scopeCodes refuse a part of a request, not the token (H-94, IO-3).
var scopeCodes = []pdpp.Code{
	pdpp.CodeStreamNotAllowed, pdpp.CodeFieldNotGranted, pdpp.CodeInsufficientScope, rsclient.ForeignStreamNotAllowed, rsclient.ForeignInstanceMismatch,
}

func isLost(e *rsclient.Error) bool {
	return (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden) && !slices.Contains(scopeCodes, e.Code)
}

// noted remembers what the outcome of a member's read says about its grant. An error
// of the member comes back, with a way on when its authorization is lost (H-87).
func (p *Package) noted(m *Member, err error) *rsclient.Error {
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

// Most characters of a message that is remembered.
const maxMessage = 300

// brief is what is remembered of an error: a server may say much more.
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

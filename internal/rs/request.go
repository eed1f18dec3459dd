package rs

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"pdpp"
	"pdpp/internal/activity"
	"pdpp/internal/auth"
	"pdpp/internal/bufpool"
	"pdpp/internal/grant"
	"pdpp/internal/httpx"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

// request is one authenticated read.
type request struct {
	server *Server
	http   *http.Request
	ctx    context.Context // ends with the time for the request
	view   store.View
	reach  *auth.Reach
	params *query.Params
	sel    grant.Selector
	match
	now   time.Time
	prefs query.Preferences

	hold     *httpx.Hold // the request's part of the memory budget
	reserved int         // bytes of hold for the answer

	tally   activity.Tally  // what was read
	related *activity.Tally // related records of the record that was written last; nil if none were read

	warnings  warnings
	body      rawjson.Writer                  // the answer
	sendAfter func(http.ResponseWriter) error // if not nil, sends the answer after the snapshot has ended
}

// read returns the handler of a read route. It authenticates the request and parses the
// query string, in the order of C-20; answer does the rest.
func (s *Server) read(isExpensive costFunc, answer func(*request) error, params ...string) handler {
	return func(w http.ResponseWriter, r *http.Request, m match) error {
		who, ctx, leave, err := s.enter(r, httpx.ReadTimeout)
		if err != nil {
			return err
		}
		defer leave()
		req := &request{server: s, http: r, ctx: ctx, match: m, now: s.Clock(), hold: httpx.HoldOf(ctx)}
		buffer := answers.Get()
		defer func() { buffer.Put(req.body) }()
		req.body = buffer.Bytes()
		err = req.inTurn(who, isExpensive(r), func(v store.View) error {
			if err := req.authenticate(v, who); err != nil {
				return err
			}
			if err := req.parse(params...); err != nil {
				return err
			}
			return answer(req)
		})
		if err != nil {
			req.countRefusal(who, err)
			return err
		}
		if err := req.reserve(len(req.body) * who.copies()); err != nil {
			return err
		}
		req.countRead(who)
		if req.sendAfter != nil {
			return req.sendAfter(w)
		}
		return req.send(w)
	}
}

// inTurn calls fn with a snapshot of the store when it is the turn of the request. The
// turn ends with the snapshot, also when fn panics.
func (q *request) inTurn(who requester, isExpensive bool, fn func(store.View) error) error {
	done, err := q.server.waitTurn(q.ctx, q.http, who, isExpensive)
	if err != nil {
		return err
	}
	defer done()
	return q.server.view(q.ctx, fn)
}

// requester is what is known about the sender of a request before it is authenticated in
// the snapshot: a bearer token, or the caller of a read inside the process.
type requester struct {
	auth.Bearer
	caller *auth.Caller // nil if the request came from outside
}

// copies returns how many times the size of an answer is in memory while it is sent. A
// tool call also holds the body it read, the values it derives, and its own answer.
func (who requester) copies() int {
	if who.caller != nil {
		return 4
	}
	return 1
}

// reserve reserves memory for an answer of n bytes in the budget (H-69). Small answers
// are not counted.
func (q *request) reserve(n int) error {
	if n <= max(q.reserved, bufpool.MaxKept) {
		return nil
	}
	n += n / 4 // unused capacity of append
	if err := q.hold.Reserve(n - q.reserved); err != nil {
		return err
	}
	q.reserved = n
	return nil
}

// enter parses the bearer token, counts the request against the limits of the token
// (H-67) and starts its timeout. It does so before a snapshot is opened, so that a client
// with many open requests does not keep others waiting. /mcp has already counted the
// request of a read inside the process. After a nil error the caller calls leave once.
func (s *Server) enter(r *http.Request, timeout time.Duration) (who requester, ctx context.Context, leave func(), err error) {
	if c := auth.CallerOf(r.Context()); c != nil {
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		return requester{c.Bearer, c}, ctx, cancel, nil
	}
	if who.Bearer, err = auth.ParseBearer(r.Header); err != nil {
		return who, nil, nil, err
	}
	if err := s.Limiter.Acquire(who.Key); err != nil {
		return who, nil, nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	return who, ctx, func() {
		cancel()
		s.Limiter.Release(who.Key)
	}, nil
}

// authenticate authenticates a requester in the snapshot v.
func (s *Server) authenticate(v store.View, r *http.Request, who requester) (auth.Identity, error) {
	if who.caller != nil {
		return s.Auth.Recheck(v, who.caller)
	}
	return s.Auth.Authenticate(v, r, who.Bearer, auth.REST)
}

// authenticate sets the reach of the request.
func (q *request) authenticate(v store.View, who requester) error {
	id, err := q.server.authenticate(v, q.http, who)
	if err != nil {
		return err
	}
	q.hold.Claim(id.HolderKey())
	q.view, q.reach = v, id.Reach
	return nil
}

// parse reads the query string, which may have the named parameters and the
// source selectors.
func (q *request) parse(params ...string) (err error) {
	if q.params, err = query.Parse(q.http.URL.RawQuery, params...); err != nil {
		return err
	}
	q.sel, err = q.params.Selector()
	return err
}

var answers bufpool.Pool

func (q *request) send(w http.ResponseWriter) error {
	h := w.Header()
	httpx.SetJSON(h)
	if applied := q.prefs.Applied(); applied != "" {
		h["Preference-Applied"] = []string{applied}
	}
	h["Content-Length"] = []string{strconv.Itoa(len(q.body))}
	if q.http.Method == http.MethodHead {
		return nil
	}
	_, err := w.Write(q.body)
	return err
}

// target returns the request target as received (C-29).
func (q *request) target() string {
	if q.http.RequestURI != "" {
		return q.http.RequestURI
	}
	return q.http.URL.RequestURI()
}

// path returns the escaped path of the request.
func (q *request) path() string { return q.http.URL.EscapedPath() }

// view calls fn with a snapshot of the store. Without a snapshot no token can be
// authenticated, so the answer is 503, never 401 (C-17).
func (s *Server) view(ctx context.Context, fn func(store.View) error) error {
	began := false
	err := s.Store.View(ctx, func(v store.View) error {
		began = true
		return fn(v)
	})
	if err != nil && !began && ctx.Err() == nil {
		return &pdpp.Error{
			Code: pdpp.CodeUnavailable, RetryAfter: 1, Op: "view", Err: err,
			Message: "The store cannot be read at the moment. Try again.",
		}
	}
	return err
}

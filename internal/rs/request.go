package rs

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"pdpp"
	"pdpp/internal/bufpool"
	"pdpp/internal/grant"
	"pdpp/internal/httpx"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

// request is one authenticated read.
type request struct {
	server *Server
	http   *http.Request
	ctx    context.Context // ends with the time for the request
	view   store.View
	reach  *grant.Reach
	known  *knownReach // the reach, with what follows from it
	params *query.Params
	sel    grant.Selector
	vars   vars
	now    time.Time
	prefs  query.Preferences

	hold     *httpx.Hold // what the request holds of the server's memory
	reserved int         // of it, for the answer

	warnings warnings
	body     []byte                          // the answer
	stream   func(http.ResponseWriter) error // sends the answer instead, when the snapshot has ended
}

// read makes the handler of a read route: everything up to the meaning of the
// parameters happens here, in the order of C-20.
func (s *Server) read(isExpensive cost, answer func(*request) error, params ...string) handler {
	return func(w http.ResponseWriter, r *http.Request, vars vars) error {
		who, ctx, leave, err := s.enter(r, readTimeout)
		if err != nil {
			return err
		}
		defer leave()
		req := &request{server: s, http: r, ctx: ctx, vars: vars, now: s.Clock(), hold: httpx.HoldOf(ctx)}
		lent := answers.Get()
		defer func() { lent.Put(req.body) }()
		req.body = lent.Bytes()
		err = req.inTurn(who, isExpensive(r), func(v store.View) error {
			if err := req.admit(v, who); err != nil {
				return err
			}
			if err := req.parse(params...); err != nil {
				return err
			}
			return answer(req)
		})
		if err != nil {
			return storageError(err)
		}
		if req.stream != nil {
			return req.stream(w)
		}
		if err := req.reserve(len(req.body) * who.copies()); err != nil {
			return err
		}
		return req.send(w)
	}
}

// inTurn reads the store when it is the turn of the request. The turn ends with the
// snapshot, also when fn panics.
func (q *request) inTurn(who asker, isExpensive bool, fn func(store.View) error) error {
	done, err := q.server.turns.take(q.ctx, q.server, q.http, who, isExpensive)
	if err != nil {
		return err
	}
	defer done()
	return q.server.view(q.ctx, fn)
}

// asker is who makes a request, not yet judged: by a bearer, or inside the process as
// the caller of the hosted endpoint, which counted the request already.
type asker struct {
	bearer
	caller *Caller // nil: the request came from outside
}

// copies is how often the bytes of an answer are in memory while it is sent. A tool
// call has the body it read, what it makes of it, and its own answer besides.
func (who asker) copies() int {
	if who.caller != nil {
		return 4
	}
	return 1
}

// reserve makes sure that the server has memory for an answer of n bytes (H-69). Small
// answers cost nothing.
func (q *request) reserve(n int) error {
	if n <= max(q.reserved, bufpool.MaxKept) {
		return nil
	}
	n += n / 4 // what append takes ahead
	if err := q.hold.Reserve(n - q.reserved); err != nil {
		return err
	}
	q.reserved = n
	return nil
}

// enter reads the bearer, counts the request against it and starts its time. After
// a nil error the caller calls leave once.
func (s *Server) enter(r *http.Request, most time.Duration) (who asker, ctx context.Context, leave func(), err error) {
	if c := callerOf(r.Context()); c != nil {
		ctx, cancel := context.WithTimeout(r.Context(), most)
		return asker{c.bearer, c}, ctx, cancel, nil
	}
	if who.bearer, err = bearerOf(r); err != nil {
		return who, nil, nil, err
	}
	release, err := s.limit(who.key)
	if err != nil {
		return who, nil, nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), most)
	return who, ctx, func() {
		cancel()
		release()
	}, nil
}

// limit counts a request against its bearer (H-67), before it takes a snapshot:
// a client with many open requests must not keep others from theirs.
func (s *Server) limit(key pdpp.TokenID) (release func(), err error) {
	if err := s.limiter.Acquire(key); err != nil {
		return nil, err
	}
	return func() { s.limiter.Release(key) }, nil
}

// judge finds out who asks.
func (s *Server) judge(v store.View, r *http.Request, who asker, now time.Time) (store.Principal, error) {
	if who.caller != nil {
		return who.caller.principal(v, now)
	}
	return s.authenticate(v, r, who.bearer, now)
}

// admit finds out who asks and what they can reach.
func (q *request) admit(v store.View, who asker) error {
	p, err := q.server.judge(v, q.http, who, q.now)
	if err != nil {
		return err
	}
	q.server.used.note(p, q.now)
	q.hold.Claim(clientOf(p))
	q.view = v
	known, err := q.server.reach(v, p)
	if err != nil {
		return err
	}
	q.reach, q.known = known.reach, known
	if who.caller != nil {
		who.caller.confirmed.Store(true)
	}
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

// target is the request target as received (C-29).
func (q *request) target() string {
	if q.http.RequestURI != "" {
		return q.http.RequestURI
	}
	return q.http.URL.RequestURI()
}

// path is the escaped path of the request.
func (q *request) path() string { return q.http.URL.EscapedPath() }

// view calls fn with a snapshot of the store. A store that cannot give one cannot
// tell who asks either: that is 503, never 401 (C-17).
func (s *Server) view(ctx context.Context, fn func(store.View) error) error {
	began := false
	err := s.Store.View(ctx, func(v store.View) error {
		began = true
		return fn(v)
	})
	if err != nil && !began && ctx.Err() == nil {
		return &pdpp.Error{
			Code: pdpp.CodeUnavailable, RetryAfter: 1, Op: "view", Err: err,
			Message: "The store cannot be read at the moment; try again.",
		}
	}
	return err
}

// storageError turns a store that is busy into a 503 for the caller.
func storageError(err error) error {
	if pdpp.CodeOf(err) == pdpp.CodeBusy {
		return &pdpp.Error{
			Code: pdpp.CodeUnavailable, RetryAfter: 1, Op: "store", Err: err,
			Message: "The store is busy; try again.",
		}
	}
	return err
}

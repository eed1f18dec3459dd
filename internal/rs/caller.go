package rs

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"pdpp"
	"pdpp/internal/httpx"
	"pdpp/internal/store"
)

// Caller is who asks the hosted endpoint, found out by its token (H-41, steps 4 to 6).
// It makes reads inside the process with that token's rights and no others (H-53).
type Caller struct {
	server   *Server
	bearer   bearer
	audience string
	grant    pdpp.GrantID // of the member that reads; "" where the token has a grant of its own

	recognized pdpp.TokenID // as one that was good before; "" for others
	confirmed  atomic.Bool  // the store said in this request that the token is good

	Package pdpp.PackageID // "" when the token stands for one grant
	Members []Member       // of the package, in their order
}

// Member is a grant of a package (H-81).
type Member struct {
	GrantID      pdpp.GrantID
	Connection   pdpp.ConnectionID
	ConnectorKey pdpp.ConnectorKey
	DisplayName  string
	Streams      []string
	Fault        pdpp.Code // why its grant gives nothing; "" for one that can be read (H-83)
	Caller       *Caller   // reads with its grant; nil when there is a fault
}

// Admit reads the bearer of a request to the hosted endpoint of an audience and judges
// it. One that the request before found good is only recognized: whether it still is
// comes out with its first read, in the same snapshot. So nothing is answered before
// Confirm.
func (s *Server) Admit(r *http.Request, audience string) (*Caller, error) {
	who, err := bearerOf(r)
	if err != nil {
		return nil, err
	}
	c := &Caller{server: s, bearer: who, audience: audience}
	if c.recognized = s.good.find(c.goodKey()); c.recognized != "" {
		return c, nil
	}
	return c, c.confirm(r.Context(), r)
}

// Confirm judges the caller of a request by the store as it is now, unless a read of
// this request has done so. It is not hindered by the end of the request: that it ended
// is told to good callers only.
func (c *Caller) Confirm(r *http.Request) error {
	if !c.confirmed.Load() {
		return c.confirm(context.WithoutCancel(r.Context()), r)
	}
	if c.recognized != "" { // the log knows the others
		httpx.SetTokenID(r.Context(), c.recognized)
	}
	return nil
}

func (c *Caller) confirm(ctx context.Context, r *http.Request) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var p store.Principal
	err := c.server.view(ctx, func(v store.View) (err error) {
		p, err = c.judge(v, r)
		return err
	})
	if err != nil {
		c.server.good.forget(c.goodKey())
		if ctx.Err() == nil {
			err = unchecked(err)
		}
		return invalidBearer(err)
	}
	c.confirmed.Store(true)
	if p.Package == nil {
		c.server.good.note(c.goodKey(), p.ID)
	}
	return nil
}

// judge is steps 4 to 6 of H-41.
func (c *Caller) judge(v store.View, r *http.Request) (store.Principal, error) {
	s, now := c.server, c.server.Clock()
	p, err := s.identify(v, r, c.bearer, now)
	if err != nil {
		return p, err
	}
	if err := judgeHosted(p, c.audience, now); err != nil {
		return p, err
	}
	s.used.note(p, now)
	if p.Package != nil {
		return p, c.open(v, p, now)
	}
	_, err = s.reach(v, p) // a grant that nobody can interpret opens nothing (H-49)
	return p, err
}

func (c *Caller) goodKey() goodKey { return goodKey{c.bearer.hash, c.audience} }

// invalidBearer answers a token whose grant or package has ended as one that is not good
// any more (H-49): hosts sign in again at a 401, and would repeat the call at a 403.
func invalidBearer(err error) error {
	var e *pdpp.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case pdpp.CodeGrantRevoked, pdpp.CodeGrantExpired, pdpp.CodeGrantInvalid:
		return &pdpp.Error{Code: pdpp.CodeInvalidToken, Message: e.Message, Op: e.Op, Err: e.Err}
	}
	return err
}

// unchecked makes a failure of the store what it is to a caller: their rights could not
// be found out (H-44).
func unchecked(err error) error {
	if own := (*pdpp.Error)(nil); errors.As(err, &own) {
		return storageError(err)
	}
	return &pdpp.Error{
		Code: pdpp.CodeUnavailable, RetryAfter: 1, Op: "admission", Err: err,
		Message: "What this token opens could not be checked; try again.",
	}
}

// open finds the members of a package. One without a usable member opens nothing
// (H-49).
func (c *Caller) open(v store.View, p store.Principal, now time.Time) error {
	list, err := v.Members(p.Subject, p.Package.ID)
	if err != nil {
		return err
	}
	c.Package = p.Package.ID
	usable := false
	for _, m := range list {
		member, err := c.member(v, p, m, now)
		if err != nil {
			return err
		}
		usable = usable || member.Fault == ""
		c.Members = append(c.Members, member)
	}
	if usable {
		return nil
	}
	code := pdpp.CodeGrantInvalid
	if len(c.Members) > 0 {
		code = c.Members[0].Fault
	}
	return stateError(code)
}

// member finds out what a member of the caller's package gives. One whose grant cannot
// be interpreted gives nothing; the others are not touched by that.
func (c *Caller) member(v store.View, p store.Principal, m store.Member, now time.Time) (Member, error) {
	out := Member{GrantID: m.GrantID, Connection: m.Connection, DisplayName: m.DisplayName, Fault: m.Fault(p.Package.Client, now)}
	if m.Grant != nil {
		out.ConnectorKey = m.Grant.ConnectorKey
	}
	if out.Fault != "" {
		return out, nil
	}
	p.Grant = m.Grant
	known, err := c.server.reach(v, p)
	if pdpp.CodeOf(err) == pdpp.CodeGrantInvalid {
		out.Fault = pdpp.CodeGrantInvalid
		return out, nil
	}
	if err != nil {
		return out, err
	}
	for _, row := range known.reach.Rows {
		out.Streams = append(out.Streams, row.Stream.Name)
	}
	out.Caller = &Caller{server: c.server, bearer: c.bearer, grant: m.GrantID}
	return out, nil
}

// judgeHosted says whether a token opens the hosted endpoint (H-47 to H-49).
func judgeHosted(p store.Principal, audience string, now time.Time) error {
	if p.Kind == pdpp.TokenOwner {
		return &pdpp.Error{
			Code:     pdpp.CodePermission,
			Message:  "An owner token is not accepted here: this needs a grant-scoped client or MCP package token.",
			NextStep: "Ask the owner for a grant that says what may be read; they make one with pdpp grants create.",
		}
	}
	if !slices.Contains(p.Audience, audience) {
		return pdpp.Errorf(pdpp.CodeInvalidToken, "This token was issued for another resource.")
	}
	return checkLife(p, now)
}

// Limit counts the request against its token (H-67). After a nil error release is
// called once.
func (c *Caller) Limit() (release func(), err error) { return c.server.limit(c.bearer.key) }

// principal looks the token up again, and the member's grant, in the snapshot that is
// read: what was revoked meanwhile reads nothing.
func (c *Caller) principal(v store.View, now time.Time) (store.Principal, error) {
	p, err := c.server.lookUp(v, c.bearer.hash, now)
	if err != nil {
		return p, err
	}
	if err := checkLife(p, now); err != nil {
		return p, err
	}
	if c.grant == "" {
		return p, nil
	}
	g, err := v.Grant(p.Subject, c.grant)
	switch {
	case pdpp.CodeOf(err) == pdpp.CodeNotFound:
		return p, stateError(pdpp.CodeGrantInvalid)
	case err != nil:
		return p, unchecked(err)
	}
	p.Grant = &store.GrantState{
		ID: g.ID, ConnectorKey: g.ConnectorKey, Client: g.Client.ID, Revoked: g.Revoked, Consumed: g.Consumed, ExpiresAt: g.ExpiresAt,
	}
	return p, checkState(p, now)
}

package auth

import (
	"context"
	"time"

	"pdpp"
	"pdpp/internal/activity"
	"pdpp/internal/store"
)

// Caller identifies an authenticated request for which the process itself reads /v1, with
// the rights of that request and no others (H-53). The reads send no Authorization
// header.
type Caller struct {
	Bearer
	member pdpp.GrantID  // the grant of the package with which it reads; "" for a token of one grant
	Call   activity.Call // the tool call for which it reads
}

type callerKey struct{}

// WithCaller returns a context for a read that the process makes for c.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the caller of a read inside the process, or nil for a request from
// outside.
func CallerOf(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}

// Recheck authenticates a caller again in the snapshot that is read. It fails if the
// token or the grant was revoked since the request began.
func (a *Authenticator) Recheck(v store.View, c *Caller) (Identity, error) {
	p, err := a.Token(v, c.Bearer)
	if err != nil {
		return Identity{}, err
	}
	now := a.Clock()
	if err := c.check(v, &p, now); err != nil {
		a.countRefusal(&c.Call, p, MCP, err)
		return Identity{}, err
	}
	a.Activity.Use(p, now)
	reach, err := a.reach(v, p)
	return Identity{Principal: p, Reach: reach}, err
}

// check checks that the grant or package of a token has not ended. For a member of a
// package it sets the grant of p to that of the member, and checks it.
func (c *Caller) check(v store.View, p *store.Principal, now time.Time) error {
	if err := checkStatus(*p, now); err != nil || c.member == "" {
		return err
	}
	var err error
	if p.Grant, err = memberGrant(v, p.Subject, c.member); err != nil {
		return err
	}
	return checkGrant(*p, now)
}

// memberGrant reads the state of a member's grant from the store.
func memberGrant(v store.View, subject pdpp.SubjectID, id pdpp.GrantID) (*store.GrantState, error) {
	g, err := v.Grant(subject, id)
	switch {
	case pdpp.CodeOf(err) == pdpp.CodeNotFound:
		return nil, statusError(pdpp.CodeGrantInvalid)
	case isAnswer(err):
		return nil, err
	case err != nil:
		return nil, uncheckedError(err)
	}
	return &store.GrantState{
		ID: g.ID, ConnectorKey: g.ConnectorKey, Client: g.Client.ID, Revoked: g.Revoked, Consumed: g.Consumed, ExpiresAt: g.ExpiresAt,
	}, nil
}

// Member is a grant of a package (H-81).
type Member struct {
	GrantID      pdpp.GrantID
	Connection   pdpp.ConnectionID
	ConnectorKey pdpp.ConnectorKey
	DisplayName  string
	Streams      []string
	Fault        pdpp.Code // why its grant is not usable; "" for a usable one (H-83)
	Caller       *Caller   // for reads with its grant; nil if there is a fault
}

// members returns the members of a package. A package without a usable member is refused
// (H-49).
func (a *Authenticator) members(v store.View, p store.Principal, b Bearer) ([]Member, error) {
	list, err := v.Members(p.Subject, p.Package.ID)
	if err != nil {
		return nil, err
	}
	members := make([]Member, len(list))
	isUsable := false
	for i, m := range list {
		if members[i], err = a.member(v, p, m); err != nil {
			return nil, err
		}
		if members[i].Fault == "" {
			members[i].Caller = &Caller{Bearer: b, member: m.GrantID}
			isUsable = true
		}
	}
	switch {
	case isUsable:
		return members, nil
	case len(members) > 0:
		return nil, statusError(members[0].Fault)
	}
	return nil, statusError(pdpp.CodeGrantInvalid)
}

// member describes a member of the package of p. A member whose grant cannot be
// interpreted has a fault; the others are not affected.
func (a *Authenticator) member(v store.View, p store.Principal, m store.Member) (Member, error) {
	out := Member{GrantID: m.GrantID, Connection: m.Connection, DisplayName: m.DisplayName, Fault: m.Fault(p.Package.Client, a.Clock())}
	if m.Grant != nil {
		out.ConnectorKey = m.Grant.ConnectorKey
	}
	if out.Fault != "" {
		return out, nil
	}
	p.Grant = m.Grant
	reach, err := a.reach(v, p)
	if pdpp.CodeOf(err) == pdpp.CodeGrantInvalid {
		out.Fault = pdpp.CodeGrantInvalid
		return out, nil
	}
	if err != nil {
		return out, err
	}
	for _, row := range reach.Rows {
		out.Streams = append(out.Streams, row.Stream.Name)
	}
	return out, nil
}

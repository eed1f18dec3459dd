package pkgreader

import (
	"context"
	"slices"

	"pdpp"
	"pdpp/internal/rsclient"
)

// readOne reads from the one member that a request is for. It returns that member's
// answer, also when it is an error; no other member is tried (H-87).
func readOne[T any](ctx context.Context, p *Package, stream string, q rsclient.Query, read func(rsclient.Reader) (T, error)) (T, error) {
	m, err := p.choose(ctx, stream, q.Get("connection_id"))
	if err != nil {
		var none T
		return none, err
	}
	return readFrom(p, m, read)
}

// readFrom reads from a member, and remembers whether it may still be read.
func readFrom[T any](p *Package, m *Member, read func(rsclient.Reader) (T, error)) (T, error) {
	got, err := read(m.Reader)
	if e := p.remember(m, err); e != nil {
		return got, e
	}
	return got, err
}

// choose finds the member that a read is for, from the membership alone (H-86).
func (p *Package) choose(ctx context.Context, stream, connection string) (*Member, error) {
	usable := p.usable()
	matching := granters(usable, stream)
	if connection != "" {
		i := slices.IndexFunc(p.Members, func(m Member) bool { return m.Connection == connection })
		switch {
		case i >= 0 && p.Members[i].Unusable == "":
			return &p.Members[i], nil
		case i >= 0:
			return nil, p.unusable(ctx, &p.Members[i])
		case len(matching) > 0:
			return nil, p.choice(ctx, unknownConnection, matching)
		}
	}
	switch {
	case len(usable) == 0:
		return nil, p.empty(ctx)
	case len(usable) == 1:
		return usable[0], nil // also if it does not grant the stream; then its server refuses the read
	case len(matching) == 0:
		return nil, p.notGranted(ctx, "stream", stream)
	case len(matching) == 1:
		return matching[0], nil
	}
	if cause := p.allLost(matching); cause != nil {
		return nil, p.withUnavailable(cause)
	}
	return nil, p.choice(ctx, severalConnections, matching)
}

// allLost returns the error of the first member if all of them have recently been
// refused, because then there is no member to choose; else nil.
func (p *Package) allLost(members []*Member) *rsclient.Error {
	now := p.Clock()
	for _, m := range members {
		if p.Memory.lost(p.ID, m.GrantID, now) == nil {
			return nil
		}
	}
	return p.Memory.lost(p.ID, members[0].GrantID, now)
}

// granters returns the members that grant a stream, or all members if stream is "".
func granters(members []*Member, stream string) []*Member {
	if stream == "" {
		return members
	}
	var list []*Member
	for _, m := range members {
		if m.grants(stream) {
			list = append(list, m)
		}
	}
	return list
}

// unusable returns the error of a read from a member whose grant has ended. It is the
// error that the server of the member would return, without a call.
func (p *Package) unusable(ctx context.Context, m *Member) *rsclient.Error {
	e := p.refuse(ctx, refusal{code: m.Unusable, message: endedMessage})
	return with(e, "next_step", quoted(approveAgain))
}

// empty returns the error of every read of a package without usable members.
func (p *Package) empty(ctx context.Context) *rsclient.Error {
	r := refusal{code: pdpp.CodeGrantInvalid, message: "No source of this package can be read now."}
	if len(p.Members) > 0 {
		r.code = p.Members[0].Unusable
	}
	e := p.withUnavailable(p.refuse(ctx, r))
	return with(e, "next_step", quoted("Ask the owner to approve the sources again."))
}

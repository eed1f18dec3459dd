package pkgreader

import (
	"context"
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rsclient"
	"pdpp/internal/secret"
)

// Member is one grant of a package. It covers one connection, and no other member
// covers that connection (H-82).
type Member struct {
	GrantID      string
	Connection   string
	ConnectorKey string
	DisplayName  string   // the owner's label of the connection; "" if there is none
	Streams      []string // the names that are granted

	// Unusable is why the stored grant cannot be read: grant_revoked, grant_expired or
	// grant_invalid; "" for a member that takes part in reads (H-83).
	Unusable pdpp.Code
	// Reader reads with the grant of this member, until its context ends; nil when the
	// member is unusable.
	Reader rsclient.Reader
}

func (m *Member) grants(stream string) bool { return slices.Contains(m.Streams, stream) }

// Package reads its members. It has no state of its own, so each request can have a new
// one; it is safe for concurrent use.
type Package struct {
	ID      string
	URL     string // of the provider, without a trailing slash
	Members []Member
	Sealer  *query.Sealer // of the cursors of search
	Memory  *Memory       // of the process
	Clock   func() time.Time
	// RequestID returns the id of an answer that the package itself makes. If it is nil,
	// each answer gets a new id.
	RequestID func(context.Context) string
}

var _ rsclient.Reader = (*Package)(nil)

// Provider returns the URL of the provider.
func (p *Package) Provider() string { return p.URL }

// Records reads a page of records of one member.
func (p *Package) Records(ctx context.Context, stream string, q rsclient.Query, want rsclient.Prefer) (*rsclient.Answer, error) {
	return readOne(ctx, p, stream, q, func(r rsclient.Reader) (*rsclient.Answer, error) { return r.Records(ctx, stream, q, want) })
}

// Record reads one record of one member.
func (p *Package) Record(ctx context.Context, stream, id string, q rsclient.Query, want rsclient.Prefer) (*rsclient.Answer, error) {
	return readOne(ctx, p, stream, q, func(r rsclient.Reader) (*rsclient.Answer, error) { return r.Record(ctx, stream, id, q, want) })
}

// FieldWindow reads a piece of a field of one member.
func (p *Package) FieldWindow(ctx context.Context, stream, id string, q rsclient.Query) (*rsclient.Answer, error) {
	return readOne(ctx, p, stream, q, func(r rsclient.Reader) (*rsclient.Answer, error) { return r.FieldWindow(ctx, stream, id, q) })
}

// Aggregate reads one metric of a stream of one member.
func (p *Package) Aggregate(ctx context.Context, stream string, q rsclient.Query) (*rsclient.Answer, error) {
	return readOne(ctx, p, stream, q, func(r rsclient.Reader) (*rsclient.Answer, error) { return r.Aggregate(ctx, stream, q) })
}

// Blob reads a part of a blob of one member.
func (p *Package) Blob(ctx context.Context, id string, q rsclient.Query, part rsclient.Part) (*rsclient.Blob, error) {
	return readOne(ctx, p, "", q, func(r rsclient.Reader) (*rsclient.Blob, error) { return r.Blob(ctx, id, q, part) })
}

// usable returns the members that take part in reads, in their order.
func (p *Package) usable() []*Member {
	list := make([]*Member, 0, len(p.Members))
	for i := range p.Members {
		if p.Members[i].Unusable == "" {
			list = append(list, &p.Members[i])
		}
	}
	return list
}

func (p *Package) requestID(ctx context.Context) string {
	if p.RequestID == nil {
		return secret.ID("req_")
	}
	return p.RequestID(ctx)
}

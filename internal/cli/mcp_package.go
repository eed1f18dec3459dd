package cli

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"pdpp"
	"pdpp/internal/credential"
	"pdpp/internal/pkgreader"
	"pdpp/internal/query"
	"pdpp/internal/rsclient"
)

// heldReader reads with the credential that the holder has when a read begins. It uses the
// token of the credential or, for a package, the tokens of its members (MS-266).
type heldReader struct {
	holder *credential.Holder
	single rsclient.Reader // reads with the token of the credential
	client rsclient.Config // of the reader of a member, except for its token
	sealer *query.Sealer
	memory pkgreader.Memory

	mu      sync.Mutex
	of      *credential.Credential // the package of members
	members []heldMember
}

// heldMember is a member of the package that the holder has.
type heldMember struct {
	credential.Member
	reader    rsclient.Reader
	exchanged *credential.Exchanger // nil: the file has the token
}

var _ rsclient.Reader = (*heldReader)(nil)

// newHeldReader returns the reader of an adapter. Its cursors over several sources are
// valid only in this process (H-91).
func newHeldReader(holder *credential.Holder, client rsclient.Config) (*heldReader, error) {
	single, err := rsclient.New(client)
	if err != nil {
		return nil, err
	}
	key := make([]byte, 32)
	rand.Read(key) // never returns an error
	sealer, err := query.NewSealer(key)
	if err != nil {
		return nil, err
	}
	client.Token, client.Renew = nil, nil
	return &heldReader{holder: holder, single: single, client: client, sealer: sealer}, nil
}

// current returns the reader for the next read. Without a usable credential that is the
// reader of a single one, which reports the error.
func (r *heldReader) current(ctx context.Context) rsclient.Reader {
	cred, ok := r.holder.Package(ctx)
	if !ok {
		return r.single
	}
	return &pkgreader.Package{
		ID: cred.ID, URL: r.Provider(), Members: r.membersOf(ctx, cred, r.client.Clock()), Sealer: r.sealer, Memory: &r.memory, Clock: r.client.Clock,
	}
}

// membersOf returns the members of a package. While the package has not ended, a saved token
// of a member ends only together with its grant (H-186).
func (r *heldReader) membersOf(ctx context.Context, cred *credential.Credential, now time.Time) []pkgreader.Member {
	var list []pkgreader.Member
	for _, m := range r.held(cred) {
		member := pkgreader.Member{
			GrantID: string(m.GrantID), Connection: m.Connection, ConnectorKey: m.ConnectorKey, DisplayName: m.DisplayName, Streams: m.Streams, Reader: m.reader,
		}
		switch {
		case m.Expired(now):
			member.Unusable, member.Reader = pdpp.CodeGrantExpired, nil
		case m.exchanged != nil && m.exchanged.IsGone(ctx):
			member.Unusable, member.Reader = pdpp.CodeGrantRevoked, nil
		}
		list = append(list, member)
	}
	return list
}

// held returns the members of a package with their readers. They stay the same as long as
// the members do, because they keep exchanged tokens.
func (r *heldReader) held(cred *credential.Credential) []heldMember {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cred.SameMembers(r.of) {
		return r.members
	}
	r.of, r.members = cred, nil
	for _, m := range cred.PackageMembers() {
		r.members = append(r.members, r.hold(m))
	}
	return r.members
}

// hold returns a member with its reader. A saved token is not renewed: it ends with its
// grant or package (H-186).
func (r *heldReader) hold(m credential.Member) heldMember {
	held, cfg := heldMember{Member: m}, r.client
	cfg.Token = func(context.Context) (string, error) { return m.Token, nil }
	if m.Token == "" {
		held.exchanged = r.holder.Exchange(m.GrantID)
		cfg.Token = bearerOf(held.exchanged.Token, r.Provider(), cfg.Log)
		cfg.Renew = held.exchanged.Renew
	}
	reader, err := rsclient.New(cfg)
	if err != nil {
		panic(err) // newHeldReader validated the same provider
	}
	held.reader = reader
	return held
}

// Provider implements rsclient.Reader, like the methods below.
func (r *heldReader) Provider() string { return r.single.Provider() }

// Schema reads the schema.
func (r *heldReader) Schema(ctx context.Context, q rsclient.Query) (*rsclient.Answer, error) {
	return r.current(ctx).Schema(ctx, q)
}

// Records reads a page of records.
func (r *heldReader) Records(ctx context.Context, stream string, q rsclient.Query, p rsclient.Prefer) (*rsclient.Answer, error) {
	return r.current(ctx).Records(ctx, stream, q, p)
}

// Record reads one record.
func (r *heldReader) Record(ctx context.Context, stream, id string, q rsclient.Query, p rsclient.Prefer) (*rsclient.Answer, error) {
	return r.current(ctx).Record(ctx, stream, id, q, p)
}

// FieldWindow reads a piece of a field.
func (r *heldReader) FieldWindow(ctx context.Context, stream, id string, q rsclient.Query) (*rsclient.Answer, error) {
	return r.current(ctx).FieldWindow(ctx, stream, id, q)
}

// Aggregate reads one metric of a stream.
func (r *heldReader) Aggregate(ctx context.Context, stream string, q rsclient.Query) (*rsclient.Answer, error) {
	return r.current(ctx).Aggregate(ctx, stream, q)
}

// Search searches.
func (r *heldReader) Search(ctx context.Context, mode string, q rsclient.Query, p rsclient.Prefer) (*rsclient.Answer, error) {
	return r.current(ctx).Search(ctx, mode, q, p)
}

// Blob reads a part of a blob.
func (r *heldReader) Blob(ctx context.Context, id string, q rsclient.Query, part rsclient.Part) (*rsclient.Blob, error) {
	return r.current(ctx).Blob(ctx, id, q, part)
}

package as

import (
	"errors"
	"time"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/store"
)

// access names what an approval created: a grant or a package.
type access struct {
	Grant   pdpp.GrantID   `json:"grant,omitempty"`
	Package pdpp.PackageID `json:"package,omitempty"`
}

// id returns the id of the grant or package.
func (a access) id() string { return string(a.Grant) + string(a.Package) }

// errEnded reports that the grant or package of a token is not usable any more.
var errEnded = errors.New("as: the grant or package has ended")

// rights is a grant or package, with the documents of the grants that can be read now.
type rights struct {
	grant      store.Grant
	pkg        store.Package // empty for a grant
	documents  []*pdpp.Grant // of the grant, or of the usable members
	end        time.Time     // zero: until revoked
	continuous bool          // every document is continuous
}

// load returns the rights of an access at a time. It returns errEnded when none of its
// grants can be read any more.
func (a access) load(v store.View, subject pdpp.SubjectID, now time.Time) (*rights, error) {
	var r *rights
	var err error
	if a.Package != "" {
		r, err = loadPackage(v, subject, a.Package, now)
	} else {
		r, err = loadGrant(v, subject, a.Grant, now)
	}
	if isMissing(err) {
		return nil, errEnded
	}
	if err != nil {
		return nil, err
	}
	r.continuous = true
	for _, doc := range r.documents {
		r.continuous = r.continuous && doc.AccessMode == grant.Continuous
	}
	return r, nil
}

func loadGrant(v store.View, subject pdpp.SubjectID, id pdpp.GrantID, now time.Time) (*rights, error) {
	g, err := v.Grant(subject, id)
	if err != nil {
		return nil, err
	}
	if status := g.Status(now); status != pdpp.GrantActive && status != pdpp.GrantConsumed {
		return nil, errEnded
	}
	doc, err := grant.ParseDocument(g.Document, g.ConnectorKey)
	if err != nil {
		return nil, errEnded
	}
	return &rights{grant: g, documents: []*pdpp.Grant{doc}, end: g.ExpiresAt}, nil
}

// loadPackage reads a package and its usable members (H-83).
func loadPackage(v store.View, subject pdpp.SubjectID, id pdpp.PackageID, now time.Time) (*rights, error) {
	p, err := v.Package(subject, id)
	if err != nil {
		return nil, err
	}
	if p.Status(now) != pdpp.GrantActive {
		return nil, errEnded
	}
	members, err := v.Members(subject, id)
	if err != nil {
		return nil, err
	}
	r := &rights{pkg: p, end: p.ExpiresAt}
	for _, m := range members {
		if m.Fault(p.Client.ID, now) != "" {
			continue
		}
		member, err := loadGrant(v, subject, m.GrantID, now)
		if errors.Is(err, errEnded) {
			continue
		}
		if err != nil {
			return nil, err
		}
		r.documents = append(r.documents, member.documents...)
	}
	if len(r.documents) == 0 {
		return nil, errEnded
	}
	return r, nil
}

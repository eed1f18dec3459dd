package grant

import (
	"errors"
	"time"

	"pdpp"
)

// SingleUseLifetime is how long a single_use grant lasts (H-149).
const SingleUseLifetime = 24 * time.Hour

// Issue identifies a new grant and its client.
type Issue struct {
	ID         pdpp.GrantID
	Subject    pdpp.SubjectID
	ClientID   pdpp.ClientID
	ClientName string
	Now        time.Time
}

// Freeze parses a grant spec (H-15, H-146), resolves it against the catalog and returns
// the grant.
//
// Every error is a *pdpp.Error with CodeInvalidInput. Param is the JSON path of the
// cause, or "" for the spec as a whole. Message also names it and says what to do. The
// messages are for the owner and may list connections.
func Freeze(spec []byte, c *pdpp.Catalog, in Issue) (*pdpp.Grant, error) {
	s, err := parseSpec(spec)
	if err != nil {
		return nil, invalidInput("The grant spec ", err)
	}
	return s.Resolve(c, in)
}

// Resolve resolves a spec against the catalog and returns the grant (H-148). The grant
// names streams, fields and connections that are in the catalog, and later changes of the
// catalog do not extend it. Its own times are whole milliseconds, so that ParseDocument
// returns an equal grant. Errors are those of Freeze.
func (s *Spec) Resolve(c *pdpp.Catalog, in Issue) (*pdpp.Grant, error) {
	g, err := s.resolve(c, in)
	if err != nil {
		return nil, invalidInput("The grant spec ", err)
	}
	return g, nil
}

// invalidInput returns a fault as the error that callers of the package get. subject
// begins the message when the fault is about the text as a whole.
func invalidInput(subject string, err error) error {
	out := &pdpp.Error{Code: pdpp.CodeInvalidInput, Message: subject + err.Error() + "."}
	var f *fault
	if errors.As(err, &f) && f.at != "" {
		out.Param = f.at
		out.Message = err.Error() + "."
	}
	return out
}

func (s *Spec) resolve(c *pdpp.Catalog, in Issue) (*pdpp.Grant, error) {
	m, err := s.source(c)
	if err != nil {
		return nil, err
	}
	g := &pdpp.Grant{
		ID: in.ID, IssuedAt: in.Now.UTC().Truncate(time.Millisecond), SubjectID: in.Subject,
		ClientID: in.ClientID, ClientName: in.ClientName, ConnectorKey: m.ConnectorKey,
		SourceKind: m.SourceKind, SourceID: m.SourceID, ManifestVersion: m.Version, ManifestDigest: m.Digest,
		PurposeCode: s.PurposeCode, PurposeDescription: s.PurposeDescription, AccessMode: s.AccessMode, Retention: s.Retention,
	}
	r := resolver{manifest: m, catalog: c}
	if g.Streams, err = r.streams(s.Streams); err != nil {
		return nil, err
	}
	g.ExpiresAt, err = s.expiry(g.IssuedAt)
	return g, err
}

// Sources returns the registered sources that the spec names by id, by connector key, or
// by both.
func (s *Spec) Sources(c *pdpp.Catalog) []*pdpp.Manifest {
	var found []*pdpp.Manifest
	for _, m := range c.Manifests {
		if (s.SourceID == "" || m.SourceID == s.SourceID) && (s.ConnectorKey == "" || m.ConnectorKey == s.ConnectorKey) {
			found = append(found, m)
		}
	}
	return found
}

// source returns the only source that the spec names.
func (s *Spec) source(c *pdpp.Catalog) (*pdpp.Manifest, error) {
	if s.SourceID == "" && s.ConnectorKey == "" {
		return nil, faultAt("source", "needs connector_key or id; registered connectors are %s", list(keys(c.Manifests)))
	}
	found := s.Sources(c)
	switch len(found) {
	case 0:
		return nil, faultAt("source", "no such source is registered; registered connectors are %s", list(keys(c.Manifests)))
	case 1:
		return found[0], nil
	}
	return nil, faultAt("source", "several connectors have this id; add a connector_key: %s", list(keys(found)))
}

func keys(manifests []*pdpp.Manifest) []pdpp.ConnectorKey {
	var out []pdpp.ConnectorKey
	for _, m := range manifests {
		out = append(out, m.ConnectorKey)
	}
	return out
}

// expiry returns the end of the grant (H-149). A single_use grant ends after a day. The
// spec may name an earlier end; a later one is an error.
func (s *Spec) expiry(issued time.Time) (time.Time, error) {
	end, at := s.ExpiresAt, "expires_at"
	if s.ExpiresIn != 0 {
		end, at = issued.Add(s.ExpiresIn), "expires_in"
	}
	if !end.IsZero() && !end.After(issued) {
		return time.Time{}, faultAt(at, "is not in the future")
	}
	if s.AccessMode == SingleUse {
		day := issued.Add(SingleUseLifetime)
		if end.After(day) {
			return time.Time{}, faultAt(at, "a single_use grant ends 24 hours after it is issued; leave this out or make it earlier")
		}
		if end.IsZero() {
			end = day
		}
	}
	return end, nil
}

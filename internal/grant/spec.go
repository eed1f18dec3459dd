package grant

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"pdpp"
)

const (
	maxSpec    = 64 << 10 // bytes (H-146)
	maxPurpose = 2048     // bytes

	// singleUse is how long a single_use grant lasts (H-149).
	singleUse = 24 * time.Hour
	// maxLifetime bounds expires_in. Without expires_in a grant does not expire.
	maxLifetime = 36500 * 24 * time.Hour

	defaultPurpose = "https://pdpp.dev/purpose/personal_ai_assistant" // H-147
)

// Issue identifies a new grant and its client.
type Issue struct {
	ID         pdpp.GrantID
	Subject    pdpp.SubjectID
	ClientID   pdpp.ClientID
	ClientName string
	Now        time.Time
}

// Freeze resolves a grant spec (H-15, H-146) against the catalog and returns the grant
// (H-148). The grant names streams, fields and connections that are in the catalog, and
// later changes of the catalog do not extend it. Its own times are whole milliseconds,
// so that ParseDocument returns an equal grant.
//
// Every error is a *pdpp.Error with CodeInvalidInput. Param is the JSON path of the
// cause, or "" for the spec as a whole. Message also names it and says what to do. The
// messages are for the owner and may list connections.
func Freeze(spec []byte, c *pdpp.Catalog, in Issue) (*pdpp.Grant, error) {
	g, err := freeze(spec, c, in)
	if err == nil {
		return g, nil
	}
	out := &pdpp.Error{Code: pdpp.CodeInvalidInput, Message: "The grant spec " + err.Error() + "."}
	var f *fault
	if errors.As(err, &f) && f.at != "" {
		out.Param = f.at
		out.Message = err.Error() + "."
	}
	return nil, out
}

func freeze(spec []byte, c *pdpp.Catalog, in Issue) (*pdpp.Grant, error) {
	if len(spec) > maxSpec {
		return nil, &fault{what: "has more than " + strconv.Itoa(maxSpec) + " bytes; split it into several grants"}
	}
	n, err := parse(spec)
	if err != nil {
		return nil, err
	}
	o, err := n.object("type", "source", "streams", "selection_preset", "access_mode",
		"purpose_code", "purpose_description", "retention", "expires_in", "expires_at")
	if err != nil {
		return nil, err
	}
	if o.has("type") {
		if _, err := o.oneOf("type", detailType); err != nil {
			return nil, err
		}
	}
	m, err := specSource(o, c)
	if err != nil {
		return nil, err
	}
	g := &pdpp.Grant{
		ID: in.ID, IssuedAt: in.Now.UTC().Truncate(time.Millisecond), SubjectID: in.Subject,
		ClientID: in.ClientID, ClientName: in.ClientName, ConnectorKey: m.ConnectorKey,
		SourceKind: m.SourceKind, SourceID: m.SourceID, ManifestVersion: m.Version, ManifestDigest: m.Digest,
	}
	r := resolver{manifest: m, catalog: c}
	if g.Streams, err = r.streams(o); err != nil {
		return nil, err
	}
	for _, part := range []func(object, *pdpp.Grant) error{specMode, specPurpose, readRetention, specExpiry} {
		if err := part(o, g); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// specSource returns the registered source that the spec names by id, by connector key,
// or by both.
func specSource(o object, c *pdpp.Catalog) (*pdpp.Manifest, error) {
	source, err := o.needObject("source", "kind", "id", "connector_key")
	if err != nil {
		return nil, err
	}
	if source.has("kind") {
		if _, err := source.oneOf("kind", "connector"); err != nil {
			return nil, err
		}
	}
	id, err := source.optionalText("id")
	if err != nil {
		return nil, err
	}
	key, err := source.optionalText("connector_key")
	if err != nil {
		return nil, err
	}
	if id == "" && key == "" {
		return nil, source.fault("needs connector_key or id; registered connectors are %s", list(keys(c.Manifests)))
	}
	var found []*pdpp.Manifest
	for _, m := range c.Manifests {
		if (id == "" || m.SourceID == id) && (key == "" || string(m.ConnectorKey) == key) {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 0:
		return nil, source.fault("no such source is registered; registered connectors are %s", list(keys(c.Manifests)))
	case 1:
		return found[0], nil
	}
	return nil, source.fault("several connectors have this id; add a connector_key: %s", list(keys(found)))
}

func keys(manifests []*pdpp.Manifest) []pdpp.ConnectorKey {
	var out []pdpp.ConnectorKey
	for _, m := range manifests {
		out = append(out, m.ConnectorKey)
	}
	return out
}

func specMode(o object, g *pdpp.Grant) (err error) {
	g.AccessMode = Continuous
	if o.has("access_mode") {
		g.AccessMode, err = o.oneOf("access_mode", Continuous, SingleUse)
	}
	return err
}

func specPurpose(o object, g *pdpp.Grant) (err error) {
	g.PurposeCode = defaultPurpose
	if n, ok := o.get("purpose_code"); ok {
		if g.PurposeCode, err = n.text(); err != nil {
			return err
		}
		if len(g.PurposeCode) > maxPurpose || strings.ContainsFunc(g.PurposeCode, unicode.IsControl) {
			return n.fault("must be at most %d bytes without control characters", maxPurpose)
		}
	}
	g.PurposeDescription, err = o.optionalText("purpose_description")
	return err
}

// specExpiry sets the end of the grant (H-149). A single_use grant ends after a day. The
// spec may name an earlier end; a later one is an error.
func specExpiry(o object, g *pdpp.Grant) error {
	end, err := o.expiry(g.IssuedAt)
	if err != nil {
		return err
	}
	if g.AccessMode == SingleUse {
		day := g.IssuedAt.Add(singleUse)
		if end.After(day) {
			n, ok := o.get("expires_in")
			if !ok {
				n, _ = o.get("expires_at")
			}
			return n.fault("a single_use grant ends 24 hours after it is issued; leave this out or make it earlier")
		}
		if end.IsZero() {
			end = day
		}
	}
	g.ExpiresAt = end
	return nil
}

// expiry reads expires_in or expires_at. Without either it returns the zero time.
func (o object) expiry(now time.Time) (time.Time, error) {
	in, hasIn := o.get("expires_in")
	at, hasAt := o.get("expires_at")
	switch {
	case hasIn && hasAt:
		return time.Time{}, in.fault("cannot be combined with expires_at; keep one")
	case hasIn:
		s, err := in.text()
		if err != nil {
			return time.Time{}, err
		}
		d, ok := pdpp.ParseDuration(s)
		if !ok || d > maxLifetime {
			return time.Time{}, in.fault("%s is not a duration of at most 36500d; write it like 90d, 12h or 15m", show(s))
		}
		return now.Add(d), nil
	case hasAt:
		t, err := at.time()
		if err != nil {
			return time.Time{}, err
		}
		// Rounded as in the document, before the comparison.
		t = t.Truncate(time.Millisecond)
		if !t.After(now) {
			return time.Time{}, at.fault("is not in the future")
		}
		return t, nil
	}
	return time.Time{}, nil
}

// streams reads the streams of a spec.
func (r *resolver) streams(o object) ([]pdpp.GrantStream, error) {
	if preset, ok := o.get("selection_preset"); ok {
		return nil, preset.fault("unknown preset; list the streams instead")
	}
	n, err := o.need("streams")
	if err != nil {
		return nil, err
	}
	items, err := n.items()
	if err != nil {
		return nil, err
	}
	var out []pdpp.GrantStream
	var seen []string
	for _, item := range items {
		entry, name, err := specStream(item)
		if err != nil {
			return nil, err
		}
		if name == "*" {
			if len(items) > 1 {
				return nil, item.fault("\"*\" must be the only entry; leave out the other streams")
			}
			return r.allStreams(entry)
		}
		if slices.Contains(seen, name) {
			return nil, item.fault("stream %s is listed twice", show(name))
		}
		seen = append(seen, name)
		s, err := r.stream(entry, name)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// specStream reads one entry and its name. necessity is for the consent page and has no
// effect (H-147).
func specStream(n node) (o object, name string, err error) {
	o, err = n.object("name", "fields", "view", "connections", "instance_ids", "time_range", "resources", "necessity")
	if err != nil {
		return o, "", err
	}
	if _, err = o.optionalText("necessity"); err != nil {
		return o, "", err
	}
	name, err = o.needText("name")
	return o, name, err
}

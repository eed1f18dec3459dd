package grant

import (
	"regexp"
	"strings"

	"pdpp"
	"pdpp/internal/rawjson"
)

// documentVersion is the only version of the grant object (G-1).
const documentVersion = "0.1.0"

// Access modes (H-149).
const (
	Continuous = "continuous"
	SingleUse  = "single_use"
)

// maxResources is the largest number of records that a stream of a grant may name (G-2).
const maxResources = 1000

// Document returns the JSON object of G-1. Times of the server have milliseconds
// (C-33); bounds are exact.
func Document(g *pdpp.Grant) []byte {
	w := writer{make([]byte, 0, 1024)}
	w.Object()
	w.Text("version", documentVersion)
	w.Text("grant_id", string(g.ID))
	w.Text("issued_at", pdpp.FormatTime(g.IssuedAt))
	w.OpenObject("subject")
	w.Text("id", string(g.SubjectID))
	w.End("}")
	w.parties(g)
	w.Text("purpose_code", g.PurposeCode)
	w.Optional("purpose_description", g.PurposeDescription)
	w.Text("access_mode", g.AccessMode)
	w.streams(g.Streams)
	w.retention(g.Retention)
	if g.ExpiresAt.IsZero() {
		w.TextOrNull("expires_at", "")
	} else {
		w.Text("expires_at", pdpp.FormatTime(g.ExpiresAt))
	}
	w.End("}")
	return w.Writer
}

// parties writes the client and the source.
func (w *writer) parties(g *pdpp.Grant) {
	w.OpenObject("client")
	w.Text("client_id", string(g.ClientID))
	if g.ClientName != "" {
		w.OpenObject("client_display")
		w.Text("name", g.ClientName)
		w.End("}")
	}
	w.End("}")
	w.OpenObject("source")
	w.Text("kind", g.SourceKind)
	w.Text("id", g.SourceID)
	w.End("}")
	w.OpenObject("source_declaration")
	w.Text("version", g.ManifestVersion)
	w.Optional("digest", g.ManifestDigest)
	w.End("}")
}

// ParseDocument parses the result of Document. connector is the connector key that was
// stored with the grant. An unknown key, an unknown version or a malformed constraint is
// CodeGrantInvalid (G-4): a grant that is not understood completely is not used. The
// cause is for the logs only.
func ParseDocument(doc []byte, connector pdpp.ConnectorKey) (*pdpp.Grant, error) {
	g, err := parseDocument(doc)
	if err != nil {
		return nil, &pdpp.Error{
			Code: pdpp.CodeGrantInvalid, Op: "grant.ParseDocument", Err: err,
			Message:  "This grant cannot be interpreted, so nothing can be read with it.",
			NextStep: "Ask the owner to revoke it and to create a new one.",
		}
	}
	g.ConnectorKey = connector
	return g, nil
}

func parseDocument(doc []byte) (*pdpp.Grant, error) {
	n, err := parse(doc)
	if err != nil {
		return nil, err
	}
	o, err := n.object("version", "grant_id", "issued_at", "subject", "client", "source", "source_declaration",
		"purpose_code", "purpose_description", "access_mode", "streams", "retention", "expires_at")
	if err != nil {
		return nil, err
	}
	// The version comes first, because another version may change the meaning of the rest.
	if _, err := o.oneOf("version", documentVersion); err != nil {
		return nil, err
	}
	g := &pdpp.Grant{}
	for _, part := range []func(object, *pdpp.Grant) error{
		readIdentity, readClient, readSource, readPurpose, readStreams, readExpiry,
	} {
		if err := part(o, g); err != nil {
			return nil, err
		}
	}
	g.Retention, err = readRetention(o)
	return g, err
}

func readIdentity(o object, g *pdpp.Grant) error {
	id, err := o.needText("grant_id")
	if err != nil {
		return err
	}
	g.ID = pdpp.GrantID(id)
	issued, err := o.need("issued_at")
	if err != nil {
		return err
	}
	if g.IssuedAt, err = issued.time(); err != nil {
		return err
	}
	subject, err := o.needObject("subject", "id")
	if err != nil {
		return err
	}
	id, err = subject.needText("id")
	g.SubjectID = pdpp.SubjectID(id)
	return err
}

func readClient(o object, g *pdpp.Grant) error {
	client, err := o.needObject("client", "client_id", "client_display")
	if err != nil {
		return err
	}
	id, err := client.needText("client_id")
	if err != nil {
		return err
	}
	g.ClientID = pdpp.ClientID(id)
	if !client.has("client_display") {
		return nil
	}
	display, err := client.needObject("client_display", "name")
	if err != nil {
		return err
	}
	g.ClientName, err = display.needText("name")
	return err
}

func readSource(o object, g *pdpp.Grant) error {
	source, err := o.needObject("source", "kind", "id")
	if err != nil {
		return err
	}
	if g.SourceKind, err = source.oneOf("kind", "connector"); err != nil {
		return err
	}
	if g.SourceID, err = source.needText("id"); err != nil {
		return err
	}
	// The digest is that of H-148. Grants of other servers may not have it.
	decl, err := o.needObject("source_declaration", "version", "digest")
	if err != nil {
		return err
	}
	if g.ManifestVersion, err = decl.needText("version"); err != nil {
		return err
	}
	g.ManifestDigest, err = decl.optionalText("digest")
	return err
}

func readPurpose(o object, g *pdpp.Grant) (err error) {
	if g.PurposeCode, err = o.needText("purpose_code"); err != nil {
		return err
	}
	if g.PurposeDescription, err = o.optionalText("purpose_description"); err != nil {
		return err
	}
	g.AccessMode, err = o.oneOf("access_mode", Continuous, SingleUse)
	return err
}

// isoDuration matches ISO 8601 durations, and also durations without any part.
var isoDuration = regexp.MustCompile(`^P(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(\d+H)?(\d+M)?(\d+S)?)?)$`)

// readRetention reads retention, which has the same form in a spec; nil when it is
// missing.
func readRetention(o object) (*pdpp.Retention, error) {
	if !o.has("retention") {
		return nil, nil
	}
	r, err := o.needObject("retention", "max_duration", "on_expiry")
	if err != nil {
		return nil, err
	}
	out := &pdpp.Retention{}
	if out.MaxDuration, err = r.optionalText("max_duration"); err != nil {
		return nil, err
	}
	if out.OnExpiry, err = r.optionalText("on_expiry"); err != nil {
		return nil, err
	}
	if *out == (pdpp.Retention{}) {
		return nil, r.fault("needs max_duration, on_expiry, or both")
	}
	d := out.MaxDuration
	if d != "" && (!isoDuration.MatchString(d) || strings.HasSuffix(d, "P") || strings.HasSuffix(d, "T")) {
		n, _ := r.get("max_duration")
		return nil, n.fault("%s is not an ISO 8601 duration; write it like P30D", Show(d))
	}
	return out, nil
}

// readExpiry reads expires_at. Null and a missing key mean until revoked (G-3).
func readExpiry(o object, g *pdpp.Grant) (err error) {
	if n, ok := o.get("expires_at"); ok && rawjson.KindOf(n.raw) == rawjson.KindNull {
		return nil
	}
	g.ExpiresAt, err = o.optionalTime("expires_at")
	return err
}

var streamForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)

// validStreamName reports whether s can be the name of a stream (M-3). Wildcards are not
// valid.
func validStreamName(s string) bool { return streamForm.MatchString(s) && !strings.Contains(s, "..") }

func readStreams(o object, g *pdpp.Grant) error {
	n, err := o.need("streams")
	if err != nil {
		return err
	}
	items, err := n.items()
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, item := range items {
		s, err := readStream(item)
		if err != nil {
			return err
		}
		if seen[s.Name] {
			return item.fault("stream %s is listed twice", Show(s.Name))
		}
		seen[s.Name] = true
		g.Streams = append(g.Streams, s)
	}
	return nil
}

// readStream reads one granted stream (G-2).
func readStream(n node) (s pdpp.GrantStream, err error) {
	o, err := n.object("name", "instance_ids", "fields", "time_constraint", "resources")
	if err != nil {
		return s, err
	}
	if s.Name, err = o.needText("name"); err != nil {
		return s, err
	}
	if !validStreamName(s.Name) {
		return s, o.fault("%s is not a stream name", Show(s.Name))
	}
	ids, err := o.need("instance_ids")
	if err != nil {
		return s, err
	}
	if s.Connections, err = texts(ids, pdpp.ConnectionID.Valid); err != nil {
		return s, err
	}
	fields, err := o.need("fields")
	if err != nil {
		return s, err
	}
	if s.Fields, err = texts(fields, func(string) bool { return true }); err != nil {
		return s, err
	}
	if s.Time, err = readConstraint(o); err != nil {
		return s, err
	}
	s.Resources, err = readResources(o)
	return s, err
}

func readConstraint(o object) (*pdpp.TimeConstraint, error) {
	if !o.has("time_constraint") {
		return nil, nil
	}
	c, err := o.needObject("time_constraint", "field", "since", "until")
	if err != nil {
		return nil, err
	}
	field, err := c.needText("field")
	if err != nil {
		return nil, err
	}
	since, until, err := c.bounds()
	if err != nil {
		return nil, err
	}
	return &pdpp.TimeConstraint{Field: field, Since: since, Until: until}, nil
}

// readResources reads the granted record ids; nil means all records.
func readResources(o object) ([]pdpp.RecordID, error) {
	n, ok := o.get("resources")
	if !ok {
		return nil, nil
	}
	out, err := texts(n, pdpp.RecordID.Valid)
	if len(out) > maxResources {
		return nil, n.fault("has more than %d records", maxResources)
	}
	return out, err
}

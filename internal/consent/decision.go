package consent

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/rawjson"
)

// Decision is what an approval creates.
type Decision struct {
	Grants   []*pdpp.Grant // without ids, in the order of the offer
	Training bool          // the purpose is training of AI models
	Duration Duration
	Until    time.Time // with DurationDate
	Replace  []string  // grants and packages that end with the approval, ascending
}

// IsPackage reports whether the approval creates a package (H-82).
func (d *Decision) IsPackage() bool { return len(d.Grants) > 1 }

// Digest returns the hex SHA-256 of the decision. It does not depend on ids or on the time
// of issue: of the end of the grants it covers the chosen duration, not the instant.
func (d *Decision) Digest() string {
	var w rawjson.Writer
	w.Object()
	w.Text("duration", string(d.Duration))
	if !d.Until.IsZero() {
		w.Text("until", pdpp.FormatTime(d.Until))
	}
	rawjson.List(&w, "replace", d.Replace)
	w.OpenArray("grants")
	for _, g := range d.Grants {
		canonical := *g
		canonical.ID, canonical.IssuedAt, canonical.ExpiresAt = "", time.Time{}, time.Time{}
		w.Object()
		w.Text("connector_key", string(g.ConnectorKey))
		w.Member("grant", grant.Document(&canonical))
		w.End("}")
	}
	w.End("]}")
	sum := sha256.Sum256(w)
	return hex.EncodeToString(sum[:])
}

// combine turns grants of one stream each into the grants of a decision: one per
// connection, or one over all of them if they are to stay together and differ in nothing
// but their connections (H-82).
func combine(parts []*pdpp.Grant, together bool) []*pdpp.Grant {
	if together {
		if one, ok := merge(parts); ok {
			return []*pdpp.Grant{one}
		}
	}
	var out []*pdpp.Grant
	var last pdpp.ConnectionID
	for _, part := range parts {
		stream := part.Streams[0]
		if id := stream.Connections[0]; len(out) == 0 || id != last {
			out, last = append(out, part), id
			continue
		}
		g := out[len(out)-1]
		g.Streams = append(g.Streams, stream)
	}
	return out
}

// merge returns one grant over all connections. It is not possible when a stream has
// different fields, times or records on two connections, or when there are several sources.
func merge(parts []*pdpp.Grant) (*pdpp.Grant, bool) {
	if len(parts) == 0 {
		return nil, false
	}
	out := *parts[0]
	out.Streams = nil
	for _, part := range parts {
		stream := part.Streams[0]
		if part.ConnectorKey != out.ConnectorKey {
			return nil, false
		}
		i := slices.IndexFunc(out.Streams, func(s pdpp.GrantStream) bool { return s.Name == stream.Name })
		switch {
		case i < 0:
			stream.Connections = slices.Clone(stream.Connections)
			out.Streams = append(out.Streams, stream)
		case sameExtent(out.Streams[i], stream):
			out.Streams[i].Connections = append(out.Streams[i].Connections, stream.Connections...)
		default:
			return nil, false
		}
	}
	return &out, true
}

// sameExtent reports whether two streams differ in their connections only.
func sameExtent(a, b pdpp.GrantStream) bool {
	sameTime := a.Time == b.Time || a.Time != nil && b.Time != nil &&
		a.Time.Field == b.Time.Field && a.Time.Since.Equal(b.Time.Since) && a.Time.Until.Equal(b.Time.Until)
	return sameTime && slices.Equal(a.Fields, b.Fields) && slices.Equal(a.Resources, b.Resources)
}

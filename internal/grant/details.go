package grant

import (
	"time"

	"pdpp"
	"pdpp/internal/rawjson"
)

// detailType is the type of an authorization detail (H-146, H-150).
const detailType = "https://pdpp.dev/data-access"

// AppendDetail appends the granted detail of H-150, which describes a grant in a token
// response and in "grants show".
func AppendDetail(dst []byte, g *pdpp.Grant) []byte {
	w := writer{append(dst, '{')}
	w.Text("type", detailType)
	w.Text("grant_id", string(g.ID))
	w.Text("access_mode", g.AccessMode)
	w.Text("purpose_code", g.PurposeCode)
	w.Optional("purpose_description", g.PurposeDescription)
	w.retention(g.Retention)
	w.OpenObject("source")
	w.Text("kind", g.SourceKind)
	w.Text("id", g.SourceID)
	w.Text("connector_key", string(g.ConnectorKey))
	w.End("}")
	w.streams(g.Streams)
	if !g.ExpiresAt.IsZero() {
		w.Text("expires_at", pdpp.FormatTime(g.ExpiresAt))
	}
	w.End("}")
	return w.Writer
}

// writer appends JSON objects member by member.
type writer struct{ rawjson.Writer }

// bound writes a time exactly: rounding would change which records are visible.
func (w *writer) bound(key string, t time.Time) {
	if !t.IsZero() {
		w.Text(key, t.UTC().Format(time.RFC3339Nano))
	}
}

func (w *writer) retention(r *pdpp.Retention) {
	if r == nil {
		return
	}
	w.OpenObject("retention")
	w.Optional("max_duration", r.MaxDuration)
	w.Optional("on_expiry", r.OnExpiry)
	w.End("}")
}

func (w *writer) streams(streams []pdpp.GrantStream) {
	w.OpenArray("streams")
	for i := range streams {
		w.stream(&streams[i])
	}
	w.End("]")
}

// stream writes one granted stream. It also writes an empty constraint, which makes
// ParseDocument fail (G-4): without the constraint the grant would be wider.
func (w *writer) stream(s *pdpp.GrantStream) {
	w.Object()
	w.Text("name", s.Name)
	rawjson.List(&w.Writer, "instance_ids", s.Connections)
	rawjson.List(&w.Writer, "fields", s.Fields)
	if s.Time != nil {
		w.OpenObject("time_constraint")
		w.Text("field", s.Time.Field)
		w.bound("since", s.Time.Since)
		w.bound("until", s.Time.Until)
		w.End("}")
	}
	if s.Resources != nil {
		rawjson.List(&w.Writer, "resources", s.Resources)
	}
	w.End("}")
}

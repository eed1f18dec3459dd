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
	w := writer{dst}
	w.open()
	w.text("type", detailType)
	w.text("grant_id", string(g.ID))
	w.text("access_mode", g.AccessMode)
	w.text("purpose_code", g.PurposeCode)
	w.textIfAny("purpose_description", g.PurposeDescription)
	w.retention(g.Retention)
	w.key("source")
	w.open()
	w.text("kind", g.SourceKind)
	w.text("id", g.SourceID)
	w.text("connector_key", string(g.ConnectorKey))
	w.close()
	w.streams(g.Streams)
	if !g.ExpiresAt.IsZero() {
		w.text("expires_at", pdpp.FormatTime(g.ExpiresAt))
	}
	w.close()
	return w.buf
}

// writer appends JSON objects member by member.
type writer struct{ buf []byte }

func (w *writer) open()  { w.buf = append(w.buf, '{') }
func (w *writer) close() { w.buf = append(w.buf, '}') }

// comma appends a comma unless the next value is the first one of its object or list.
func (w *writer) comma() {
	if n := len(w.buf); n > 0 && w.buf[n-1] != '{' && w.buf[n-1] != '[' {
		w.buf = append(w.buf, ',')
	}
}

func (w *writer) key(name string) {
	w.comma()
	w.buf = append(rawjson.AppendString(w.buf, name), ':')
}

func (w *writer) text(key, value string) {
	w.key(key)
	w.buf = rawjson.AppendString(w.buf, value)
}

func (w *writer) textIfAny(key, value string) {
	if value != "" {
		w.text(key, value)
	}
}

// bound writes a time exactly: rounding would change which records are visible.
func (w *writer) bound(key string, t time.Time) {
	if !t.IsZero() {
		w.text(key, t.UTC().Format(time.RFC3339Nano))
	}
}

func textList[S ~string](w *writer, key string, values []S) {
	w.key(key)
	w.buf = append(w.buf, '[')
	for _, v := range values {
		w.comma()
		w.buf = rawjson.AppendString(w.buf, string(v))
	}
	w.buf = append(w.buf, ']')
}

func (w *writer) retention(r *pdpp.Retention) {
	if r == nil {
		return
	}
	w.key("retention")
	w.open()
	w.textIfAny("max_duration", r.MaxDuration)
	w.textIfAny("on_expiry", r.OnExpiry)
	w.close()
}

func (w *writer) streams(streams []pdpp.GrantStream) {
	w.key("streams")
	w.buf = append(w.buf, '[')
	for i := range streams {
		w.comma()
		w.stream(&streams[i])
	}
	w.buf = append(w.buf, ']')
}

// stream writes one granted stream. It also writes an empty constraint, which makes
// ParseDocument fail (G-4): without the constraint the grant would be wider.
func (w *writer) stream(s *pdpp.GrantStream) {
	w.open()
	w.text("name", s.Name)
	textList(w, "instance_ids", s.Connections)
	textList(w, "fields", s.Fields)
	if s.Time != nil {
		w.key("time_constraint")
		w.open()
		w.text("field", s.Time.Field)
		w.bound("since", s.Time.Since)
		w.bound("until", s.Time.Until)
		w.close()
	}
	if s.Resources != nil {
		textList(w, "resources", s.Resources)
	}
	w.close()
}

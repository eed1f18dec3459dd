package rs_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/sortkey"
)

// universe is a model of a store: random data of two owners and a random grant of the first.
// Every name, id, value and time is a marker, a text that occurs nowhere else. A leak is found
// by searching for markers.
type universe struct {
	streams []*modelStream
	mine    []string // connections of the owner who grants
	records []*modelRecord
	grants  []*modelGrant

	serial int
}

type modelField struct{ name, kind string }

type modelStream struct {
	name      string
	fields    []modelField // the first is the key
	cursor    string
	resources bool
	child     *modelStream // the stream of its relation
	view      []string
}

// Every stream has these fields besides random ones: the time that grants are limited by, and
// the id of a parent record.
func (s *modelStream) consent() string  { return "when_" + s.name }
func (s *modelStream) ref() string      { return "ref_" + s.name }
func (s *modelStream) relation() string { return "rel_" + s.name }
func (s *modelStream) viewID() string   { return "view_" + s.name }

func (s *modelStream) kind(field string) string {
	for _, f := range s.fields {
		if f.name == field {
			return f.kind
		}
	}
	return ""
}

type modelRecord struct {
	theirs   bool // of the other owner
	conn, id string
	stream   *modelStream
	emitted  time.Time
	names    []string          // fields in stored order
	values   map[string]string // raw JSON
	deleted  bool
}

type modelGrant struct {
	stream       *modelStream
	fields       []string
	conns        []string
	since, until time.Time
	resources    []string
}

const theirConn = "cin_theirs"

func labelOf(conn string) string { return "Label of " + conn }

// drawUniverse draws one to three streams with records on up to three connections, and a grant
// of a part of them.
func drawUniverse(t *rapid.T) *universe {
	u := &universe{}
	for i := range rapid.IntRange(1, 3).Draw(t, "streams") {
		u.streams = append(u.streams, drawStream(t, string(rune('a'+i))))
	}
	for i, s := range u.streams[1:] {
		if rapid.Bool().Draw(t, "related") {
			u.streams[i].child = s
		}
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "connections") {
		u.mine = append(u.mine, fmt.Sprintf("cin_mine%d", i))
	}
	for _, s := range u.streams {
		for _, conn := range u.mine {
			u.drawRecords(t, s, conn, false)
		}
		// The other owner has a connection with the same id, and one more.
		u.drawRecords(t, s, u.mine[0], true)
		u.drawRecords(t, s, theirConn, true)
	}
	u.drawGrants(t)
	return u
}

func drawStream(t *rapid.T, letter string) *modelStream {
	s := &modelStream{name: "strm_" + letter, resources: rapid.Bool().Draw(t, "by resource")}
	s.fields = []modelField{{"id", "string"}, {s.consent(), "date-time"}, {s.ref(), "string"}}
	for i := range rapid.IntRange(1, 4).Draw(t, "fields") {
		kind := rapid.SampledFrom([]string{"string", "integer", "date-time", "object"}).Draw(t, "kind")
		s.fields = append(s.fields, modelField{fmt.Sprintf("fld_%s%d", letter, i), kind})
	}
	ordered := []string{""}
	for _, f := range s.fields {
		if f.kind == "integer" || f.kind == "date-time" {
			ordered = append(ordered, f.name)
		}
	}
	s.cursor = rapid.SampledFrom(ordered).Draw(t, "cursor field")
	for _, f := range s.fields[1:] {
		if rapid.Bool().Draw(t, "in view") {
			s.view = append(s.view, f.name)
		}
	}
	return s
}

// rare draws true with a probability of 1 in 2^n. It does not draw from a range, because rapid
// prefers small numbers.
func rare(t *rapid.T, n int, label string) bool {
	for range n {
		if !rapid.Bool().Draw(t, label) {
			return false
		}
	}
	return true
}

func (u *universe) next() int { u.serial++; return u.serial }

func (u *universe) drawRecords(t *rapid.T, s *modelStream, conn string, theirs bool) {
	for i := range rapid.IntRange(1, 6).Draw(t, "records") {
		r := &modelRecord{
			theirs: theirs, conn: conn, stream: s, id: fmt.Sprintf("idm%04dq", u.next()), values: map[string]string{},
			emitted: time.Date(2026, 3, 1, 0, 0, 0, u.next()*int(time.Millisecond), time.UTC),
			deleted: rare(t, 3, "deleted"),
		}
		if rare(t, 2, "shared id") {
			r.id = fmt.Sprintf("shared%d", i) // the same on every connection
		}
		for _, f := range s.fields {
			if raw := u.drawValue(t, r, f); raw != "" {
				r.names = append(r.names, f.name)
				r.values[f.name] = raw
			}
		}
		r.names = append(r.names, "undeclared")
		r.values["undeclared"] = fmt.Sprintf(`"vmk%04dq"`, u.next())
		u.records = append(u.records, r)
	}
}

// parents returns the records that r may refer to: those of its parent stream on its
// connection, or any record if there are none.
func (u *universe) parents(r *modelRecord) []*modelRecord {
	var out []*modelRecord
	for _, p := range u.records {
		if p.stream.child == r.stream && p.conn == r.conn && p.theirs == r.theirs {
			out = append(out, p)
		}
	}
	if out == nil {
		return u.records
	}
	return out
}

// drawValue draws the raw JSON of a value, or "" if the record does not have the field.
func (u *universe) drawValue(t *rapid.T, r *modelRecord, f modelField) string {
	n := u.next()
	if f.name == "id" {
		return fmt.Sprintf("%q", r.id)
	}
	if parents := u.parents(r); f.name == r.stream.ref() && len(parents) > 0 {
		return fmt.Sprintf("%q", rapid.SampledFrom(parents).Draw(t, "parent").id)
	}
	switch {
	case rare(t, 4, "absent"):
		return ""
	case rare(t, 4, "null"):
		return "null"
	case rare(t, 4, "of another type"):
		return fmt.Sprintf(`["vmk%04dq"]`, n)
	case rare(t, 4, "long") && f.kind == "string": // kept in pieces
		return fmt.Sprintf(`"%svmk%04dq"`, strings.Repeat("x", 20_000), n)
	}
	switch f.kind {
	case "integer":
		return fmt.Sprint(700_000_000 + n)
	case "date-time":
		day := rapid.IntRange(1, 28).Draw(t, "day")
		return fmt.Sprintf(`"2026-01-%02dT10:20:30.%06dZ"`, day, 500_000+n)
	case "object":
		return fmt.Sprintf(`{"inner":"vmk%04dq"}`, n)
	}
	return fmt.Sprintf(`"vmk%04dq"`, n)
}

func (u *universe) drawGrants(t *rapid.T) {
	for i, s := range u.streams {
		if i > 0 && rare(t, 2, "not granted") {
			continue
		}
		g := &modelGrant{stream: s, fields: []string{"id"}}
		for _, f := range s.fields[1:] {
			if rapid.Bool().Draw(t, "granted") {
				g.fields = append(g.fields, f.name)
			}
		}
		for _, c := range u.mine {
			if rapid.Bool().Draw(t, "on connection") {
				g.conns = append(g.conns, c)
			}
		}
		if len(g.conns) == 0 {
			g.conns = u.mine[:1]
		}
		if rare(t, 2, "in time") {
			g.since = time.Date(2026, 1, rapid.IntRange(1, 14).Draw(t, "since"), 0, 0, 0, 0, time.UTC)
			g.until = g.since.AddDate(0, 0, rapid.IntRange(1, 14).Draw(t, "days"))
		}
		if s.resources && rare(t, 1, "by id") {
			g.resources = []string{"shared0", "never_stored"}
			for _, r := range u.records {
				if r.stream == s && rapid.Bool().Draw(t, "chosen") && !slices.Contains(g.resources, r.id) {
					g.resources = append(g.resources, r.id)
				}
			}
		}
		u.grants = append(u.grants, g)
	}
}

// grantOf returns the grant of a stream, or nil.
func (u *universe) grantOf(stream string) *modelGrant {
	for _, g := range u.grants {
		if g.stream.name == stream {
			return g
		}
	}
	return nil
}

// sees reports whether a record is visible (REC-27 to REC-29), independently of the product
// code.
func (g *modelGrant) sees(r *modelRecord) bool {
	if g == nil || g.stream != r.stream || r.theirs || r.deleted || !slices.Contains(g.conns, r.conn) {
		return false
	}
	if g.resources != nil && !slices.Contains(g.resources, r.id) {
		return false
	}
	if g.since.IsZero() {
		return true
	}
	t, ok := timeValue(r.values[g.stream.consent()])
	return ok && !t.Before(g.since) && t.Before(g.until)
}

func timeValue(raw string) (time.Time, bool) {
	var s string
	if json.Unmarshal([]byte(raw), &s) != nil || s == "" {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, err == nil
}

// visible returns the visible records of a granted stream.
func (u *universe) visible(g *modelGrant) []*modelRecord {
	var out []*modelRecord
	for _, r := range u.records {
		if g.sees(r) {
			out = append(out, r)
		}
	}
	return out
}

// spec returns the grant in the form in which an owner writes it.
func (u *universe) spec() string {
	var streams []string
	for _, g := range u.grants {
		parts := []string{
			fmt.Sprintf(`"name":%q`, g.stream.name), `"fields":` + jsonOf(g.fields), `"instance_ids":` + jsonOf(g.conns),
		}
		if !g.since.IsZero() {
			parts = append(parts, fmt.Sprintf(`"time_range":{"since":%q,"until":%q}`, g.since.Format(time.RFC3339), g.until.Format(time.RFC3339)))
		}
		if g.resources != nil {
			parts = append(parts, `"resources":`+jsonOf(g.resources))
		}
		streams = append(streams, "{"+strings.Join(parts, ",")+"}")
	}
	return `{"source":{"connector_key":"src"},"streams":[` + strings.Join(streams, ",") + `]}`
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// manifestJSON declares the streams, each with the fields that keep returns.
func (u *universe) manifestJSON(keep func(*modelStream) []string) string {
	var streams []string
	for _, s := range u.streams {
		names := keep(s)
		if names == nil {
			continue
		}
		streams = append(streams, s.declare(names, s.child != nil && slices.Contains(keep(s.child), s.child.ref())))
	}
	return `{"protocol_version":"0.1.0","declaration_version":"1","source":{"kind":"connector","id":"https://reg.test/c/src"},
		"display":{"name":"Source"},"streams":[` + strings.Join(streams, ",") + `]}`
}

func (s *modelStream) declare(names []string, related bool) string {
	properties := map[string]any{}
	ranges, all := map[string][]string{}, map[string]any{}
	var times, sums, texts []string
	for _, name := range names {
		property := map[string]any{"type": []string{s.kind(name), "null"}}
		properties[name] = property
		switch s.kind(name) {
		case "date-time":
			property["type"], property["format"] = []string{"string", "null"}, "date-time"
			ranges[name] = []string{"gte", "lt"}
			times = append(times, name)
		case "integer":
			property["x_pdpp_role"] = "amount"
			ranges[name] = []string{"gte", "lt"}
			sums = append(sums, name)
		case "string":
			property["x_pdpp_role"] = "secondary"
			texts = append(texts, name)
		}
	}
	has := func(name string) bool { return slices.Contains(names, name) }
	aggregations := map[string]any{"count": true, "group_by": texts, "count_distinct": texts}
	if sums != nil {
		aggregations["sum"] = sums
	}
	if ordered := append(slices.Clone(sums), times...); ordered != nil {
		aggregations["min"], aggregations["max"] = ordered, ordered
	}
	if times != nil {
		aggregations["group_by_time"] = times
	}
	query := map[string]any{"range_filters": ranges, "search": map[string]any{"lexical_fields": texts}, "aggregations": aggregations}
	for k, v := range map[string]any{
		"name": s.name, "semantics": "mutable_state", "primary_key": []string{"id"}, "query": query,
		"schema":    map[string]any{"type": "object", "properties": properties, "required": []string{"id"}},
		"selection": map[string]bool{"fields": true, "resources": s.resources},
	} {
		all[k] = v
	}
	if has(s.cursor) {
		all["cursor_field"] = s.cursor
	}
	if has(s.consent()) {
		all["consent_time_field"] = s.consent()
	}
	if view := slices.DeleteFunc(slices.Clone(s.view), func(n string) bool { return !has(n) }); len(view) > 0 {
		all["views"] = []any{map[string]any{"id": s.viewID(), "label": "View", "fields": view}}
	}
	if related {
		c := s.child
		all["relationships"] = []any{map[string]any{"name": c.relation(), "stream": c.name, "foreign_key": c.ref(), "cardinality": "has_many"}}
		query["expand"] = []any{map[string]any{"name": c.relation(), "default_limit": 2, "max_limit": 5}}
	}
	return jsonOf(all)
}

// line returns the ingest line of a record with the named fields.
func (r *modelRecord) line(names []string) string {
	var members []string
	for _, n := range r.names {
		if slices.Contains(names, n) {
			members = append(members, fmt.Sprintf("%q:%s", n, r.values[n]))
		}
	}
	return fmt.Sprintf(`{"key":%q,"data":{%s},"emitted_at":%q}`, r.id, strings.Join(members, ","), pdpp.FormatTime(r.emitted))
}

// markers returns the markers of the universe, and the encoded sort values.
func (u *universe) markers() (all []string) {
	for _, s := range u.streams {
		all = append(all, s.name, s.relation(), s.viewID())
		for _, f := range s.fields[1:] {
			all = append(all, f.name)
		}
	}
	for _, c := range append(slices.Clone(u.mine), theirConn) {
		all = append(all, c, labelOf(c))
	}
	for _, r := range u.records {
		all = append(all, r.markers(r.names)...)
	}
	return all
}

func (r *modelRecord) markers(names []string) []string {
	out := []string{pdpp.FormatTime(r.emitted)}
	if !strings.HasPrefix(r.id, "shared") {
		out = append(out, r.id)
	}
	for _, n := range names {
		raw, ok := r.values[n]
		if !ok || n == "id" {
			continue
		}
		if i := strings.Index(raw, "vmk"); i >= 0 {
			out = append(out, raw[i:i+len("vmk0000q")])
		}
		switch kind := r.stream.kind(n); {
		case kind == "integer" && raw[0] == '7':
			key, _ := sortkey.FromJSON(pdpp.KindInteger, []byte(raw))
			out = append(out, raw, string(key))
		case kind == "date-time" && strings.HasPrefix(raw, `"2026`):
			key, _ := sortkey.FromJSON(pdpp.KindDateTime, []byte(raw))
			out = append(out, raw[1:len(raw)-1], string(key))
		}
	}
	return out
}

// hidden returns the markers outside the grant.
func (u *universe) hidden() []string {
	granted := map[string]bool{}
	for _, g := range u.grants {
		for _, m := range append(append(append([]string{g.stream.name}, g.fields...), g.conns...), g.resources...) {
			granted[m] = true
		}
		for _, c := range g.conns {
			granted[labelOf(c)] = true
		}
		if !g.since.IsZero() {
			granted[g.stream.consent()] = true // X-8 shows the constraint
		}
		if slices.ContainsFunc(g.stream.view, func(n string) bool { return slices.Contains(g.fields, n) }) {
			granted[g.stream.viewID()] = true
		}
		if c := g.stream.child; c != nil && u.grantOf(c.name) != nil && slices.Contains(u.grantOf(c.name).fields, c.ref()) {
			granted[c.relation()] = true
		}
		for _, r := range u.visible(g) {
			for _, m := range r.markers(g.fields) {
				granted[m] = true
			}
			if raw := r.values[g.stream.ref()]; raw != "" && slices.Contains(g.fields, g.stream.ref()) {
				granted[strings.Trim(raw, `"`)] = true // a parent's id
			}
		}
	}
	return slices.DeleteFunc(u.markers(), func(m string) bool { return granted[m] })
}

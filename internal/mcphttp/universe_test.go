package mcphttp_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/rs/resttest"
)

// A universe is a store of two owners in which every name, id and value has a marker:
// text that occurs nowhere else, so that a leak is found by looking for markers.
type universe struct {
	*fixture
	connectors []string
	streams    []*modelStream
	conns      []*modelConn
	records    []*modelRecord
	of         map[string]fact // by marker
	serial     int
}

type modelStream struct {
	connector, name string
	fields          []string // when, text, long, number, category
}

type modelConn struct{ connector, id, label string }

type modelRecord struct {
	conn   *modelConn // nil: of the other owner
	stream *modelStream
	id     string
	when   time.Time
}

// fact is what a marker reveals. Nil members do not matter.
type fact struct {
	conn   *modelConn
	label  bool // of conn
	stream *modelStream
	record *modelRecord
	field  string
	theirs bool // of the other owner
}

func (u *universe) mark(f fact) string {
	u.serial++
	m := fmt.Sprintf("zq%05dz", u.serial)
	u.of[m] = f
	return m
}

const common = "ordinary" // a word of every text

func newUniverse(t testing.TB) *universe {
	t.Helper()
	u := &universe{fixture: &fixture{World: resttest.New(t)}, of: map[string]fact{}}
	other := u.As(u.Owner("other"))
	for _, connector := range []string{"alpha", "beta"} {
		u.connectors = append(u.connectors, connector)
		var streams []*modelStream
		for range 3 {
			s := &modelStream{connector: connector}
			s.name = u.mark(fact{stream: s})
			for range 5 {
				name := u.mark(fact{})
				u.of[name] = fact{stream: s, field: name}
				s.fields = append(s.fields, name)
			}
			streams = append(streams, s)
		}
		u.streams = append(u.streams, streams...)
		u.Manifest(manifestOf(connector, streams))
		other.Manifest(manifestOf(connector, streams))
		for range 3 {
			c := &modelConn{connector: connector}
			c.id = "cin_" + u.mark(fact{conn: c})
			c.label = "Label " + u.mark(fact{conn: c, label: true})
			u.Connect(connector, c.id, c.label)
			u.conns = append(u.conns, c)
			for _, s := range streams {
				u.fill(u.World, c, c.id, s)
			}
		}
		theirs := "cin_" + u.mark(fact{theirs: true})
		other.Connect(connector, theirs, u.mark(fact{theirs: true}))
		for _, s := range streams {
			u.fill(other, nil, theirs, s)
		}
	}
	u.open(nil, nil)
	return u
}

// manifestOf declares streams of one shape.
func manifestOf(connector string, streams []*modelStream) string {
	var list []string
	for _, s := range streams {
		shape := `{"name":"STREAM","semantics":"mutable_state","primary_key":["id"],"cursor_field":"WHEN","consent_time_field":"WHEN",` +
			`"selection":{"fields":true,"resources":false},"schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},` +
			`"WHEN":{"type":"string","format":"date-time","x_pdpp_role":"event-time"},"TEXT":{"type":"string","x_pdpp_role":"primary-title"},` +
			`"LONG":{"type":"string","x_pdpp_role":"primary-text"},"NUMBER":{"type":"integer"},"CATEGORY":{"type":"string"}}},` +
			`"query":{"range_filters":{"WHEN":["gte","lt"],"NUMBER":["gte","lt"]},"search":{"lexical_fields":["TEXT","LONG"]},` +
			`"aggregations":{"count":true,"sum":["NUMBER"],"min":["NUMBER"],"max":["NUMBER"],"group_by":["CATEGORY"],"group_by_time":["WHEN"],"count_distinct":["CATEGORY"]}}}`
		list = append(list, strings.NewReplacer("STREAM", s.name, "WHEN", s.fields[0], "TEXT", s.fields[1], "LONG", s.fields[2],
			"NUMBER", s.fields[3], "CATEGORY", s.fields[4]).Replace(shape))
	}
	return `{"protocol_version":"0.1.0","declaration_version":"2026-02-01","connector_key":"` + connector + `","source":{"kind":"connector","id":"` + connector +
		`"},"display":{"name":"` + connector + `"},"streams":[` + strings.Join(list, ",") + `]}`
}

// fill stores records of a stream, one for each of six months.
func (u *universe) fill(w *resttest.World, c *modelConn, connection string, s *modelStream) {
	var lines []string
	for month := range 6 {
		r := &modelRecord{conn: c, stream: s}
		r.id = u.mark(fact{record: r, theirs: c == nil})
		value := func(field int) fact { return fact{record: r, field: s.fields[field], theirs: c == nil} }
		r.when = time.Date(2026, time.Month(month+1), 1+u.serial%27, 1, u.serial/60%60, 1+u.serial%59, 0, time.UTC)
		when, number := r.when.Format(time.RFC3339), fmt.Sprint(700_000_000+u.serial)
		u.of[when+r.id], u.of[number] = value(0), value(3) // a time may be that of several records
		long := u.mark(value(2)) + strings.Repeat(" "+common+" padding", 400) + " " + u.mark(value(2)) + strings.Repeat(" more "+common, 400) + " " + u.mark(value(2))
		lines = append(lines, fmt.Sprintf(`{"key":%q,"data":{"id":%q,%q:%q,%q:%q,%q:%q,%q:%s,%q:%q}}`, r.id, r.id, s.fields[0], when,
			s.fields[1], common+" "+u.mark(value(1)), s.fields[2], long, s.fields[3], number, s.fields[4], u.mark(value(4))))
		if c != nil {
			u.records = append(u.records, r)
		}
	}
	w.Ingest(connection, s.name, lines...)
}

// modelGrant is a grant of one connection.
type modelGrant struct {
	conn         *modelConn
	fields       map[*modelStream][]string
	since, until time.Time // zero: open
	revoked      bool
	id           pdpp.GrantID
}

// spec returns the grant as a spec (H-146).
func (g *modelGrant) spec() string {
	bounds := map[string]string{}
	if !g.since.IsZero() {
		bounds["since"] = g.since.Format(time.RFC3339)
	}
	if !g.until.IsZero() {
		bounds["until"] = g.until.Format(time.RFC3339)
	}
	var streams []map[string]any
	for s, fields := range g.fields {
		entry := map[string]any{"name": s.name, "connections": []string{g.conn.id}, "fields": append([]string{"id"}, fields...)}
		if len(bounds) > 0 {
			entry["time_range"] = bounds
		}
		streams = append(streams, entry)
	}
	raw, err := json.Marshal(map[string]any{"source": map[string]string{"connector_key": g.conn.connector}, "streams": streams})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// shows reports whether a grant covers a record.
func (g *modelGrant) shows(r *modelRecord) bool {
	_, granted := g.fields[r.stream]
	return !g.revoked && granted && r.conn == g.conn && !r.when.Before(g.since) && (g.until.IsZero() || r.when.Before(g.until))
}

// allows reports whether a grant covers the fact of a marker.
func (g *modelGrant) allows(f fact) bool {
	switch {
	case f.theirs:
		return false
	case f.conn != nil:
		return f.conn == g.conn && (!g.revoked || !f.label)
	case f.record != nil:
		return g.shows(f.record) && (f.field == "" || slices.Contains(g.fields[f.record.stream], f.field))
	case f.field != "":
		return !g.revoked && slices.Contains(g.fields[f.stream], f.field)
	}
	_, granted := g.fields[f.stream]
	return !g.revoked && granted && f.stream.connector == g.conn.connector
}

// drawGrant draws a grant of a connection.
func (u *universe) drawGrant(t *rapid.T, c *modelConn) *modelGrant {
	g := &modelGrant{conn: c, fields: map[*modelStream][]string{}}
	for _, s := range u.streams {
		if s.connector != c.connector || len(g.fields) > 0 && rapid.Bool().Draw(t, "skip stream") {
			continue
		}
		g.fields[s] = []string{}
		for _, f := range s.fields {
			if rapid.Bool().Draw(t, "field") {
				g.fields[s] = append(g.fields[s], f)
			}
		}
	}
	month := func(n int) time.Time { return time.Date(2026, time.Month(n), 15, 0, 0, 0, 0, time.UTC) }
	if rapid.Bool().Draw(t, "since") {
		g.since = month(rapid.IntRange(1, 3).Draw(t, "since month"))
	}
	if rapid.Bool().Draw(t, "until") {
		g.until = month(rapid.IntRange(4, 6).Draw(t, "until month"))
	}
	return g
}

var (
	markers  = regexp.MustCompile(`zq\d{5}z|\b7\d{8}\b`)
	instants = regexp.MustCompile(`\b2026-\d\d-\d\dT\d\d:\d\d:\d\d`)
	packed   = regexp.MustCompile(`[A-Za-z0-9_-]{12,}`)
)

// leaks returns the markers of a text that no grant allows and that were not in the
// request. It also decodes encoded parts of the text.
func (u *universe) leaks(grants []*modelGrant, request, text string) (found []string) {
	all := unpacked(text)
	request = unpacked(request)
	allowed := func(f fact) bool { return slices.ContainsFunc(grants, func(g *modelGrant) bool { return g.allows(f) }) }
	for _, m := range markers.FindAllString(all, -1) {
		if f, known := u.of[m]; known && !strings.Contains(request, m) && !allowed(f) && !slices.Contains(found, m) {
			found = append(found, m)
		}
	}
	for _, at := range instants.FindAllString(all, -1) {
		if u.isHiddenTime(at, allowed) && !strings.Contains(request, at) && !slices.Contains(found, at) {
			found = append(found, at)
		}
	}
	return found
}

// unpacked returns a text and its decoded parts.
func unpacked(text string) string {
	var b strings.Builder
	b.WriteString(text)
	for _, token := range packed.FindAllString(text, -1) {
		for cut := range 4 { // wherever the encoding begins
			piece := token[cut:]
			if raw, err := base64.RawURLEncoding.DecodeString(piece[:len(piece)/4*4]); err == nil {
				b.WriteByte(' ')
				b.Write(raw)
			}
		}
	}
	return b.String()
}

// isHiddenTime reports whether a time occurs only in hidden fields.
func (u *universe) isHiddenTime(at string, allowed func(fact) bool) bool {
	hidden := false
	for _, r := range u.records {
		if strings.HasPrefix(r.when.Format(time.RFC3339), at) {
			if allowed(fact{record: r, field: r.stream.fields[0]}) {
				return false
			}
			hidden = true
		}
	}
	return hidden
}

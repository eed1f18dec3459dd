package pages

import (
	"time"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

// overview is what the pages show of the data of an owner: how much there is, and from
// when to when.
type overview struct {
	view    store.View
	subject pdpp.SubjectID
	catalog *pdpp.Catalog
	usage   map[bindingKey]store.Usage
}

type bindingKey struct {
	connection pdpp.ConnectionID
	stream     string
}

func newOverview(v store.View, subject pdpp.SubjectID) (*overview, error) {
	catalog, err := v.Catalog(subject)
	if err != nil {
		return nil, err
	}
	usage, err := v.Usage(subject)
	if err != nil {
		return nil, err
	}
	o := &overview{view: v, subject: subject, catalog: catalog, usage: map[bindingKey]store.Usage{}}
	for _, u := range usage {
		o.usage[bindingKey{u.Connection, u.Stream}] = u
	}
	return o, nil
}

func (o *overview) records(c pdpp.ConnectionID, stream string) int64 {
	return o.usage[bindingKey{c, stream}].Records
}

// span returns the values of the time field in the first and the last record of a stream,
// in the order in which a list returns them. It is empty when the stream is not sorted by
// a time.
func (o *overview) span(c pdpp.ConnectionID, s *pdpp.Stream) (from, to time.Time, err error) {
	f := s.Field(s.CursorField)
	if f == nil || !f.Kind.IsTime() || o.records(c, s.Name) == 0 {
		return from, to, nil
	}
	for _, end := range []struct {
		desc bool
		time *time.Time
	}{{false, &from}, {true, &to}} {
		q := query.List{
			Subject: o.subject, Sources: []query.Source{{Connection: c, Stream: s}}, Order: query.Order{By: query.ByCursor, Desc: end.desc}, Limit: 1,
		}
		err := o.first(q, func(r *store.Record) error {
			value, _ := rawjson.Get(r.Body, s.CursorField)
			text, _ := rawjson.String(value)
			*end.time = parseTime(text)
			return nil
		})
		if err != nil {
			return from, to, err
		}
	}
	return from, to, nil
}

func (o *overview) first(q query.List, visit func(*store.Record) error) error {
	done := false
	_, err := o.view.List(q, func(r *store.Record) (bool, error) {
		if done {
			return false, nil
		}
		done = true
		return true, visit(r)
	})
	return err
}

// parseTime reads a date or a time; zero when it is neither.
func parseTime(s string) time.Time {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}

// extent is how much there is of something, and from when to when. The times are zero if
// they are not known.
type extent struct {
	records  int64
	from, to time.Time
}

// extentOf returns the extent of a stream of a connection; nothing if the stream is not
// declared any more.
func (o *overview) extentOf(c pdpp.ConnectionID, key pdpp.ConnectorKey, stream string) (e extent, err error) {
	m := o.catalog.Manifest(key)
	if m == nil || m.Stream(stream) == nil {
		return e, nil
	}
	e.records = o.records(c, stream)
	e.from, e.to, err = o.span(c, m.Stream(stream))
	return e, err
}

// with returns the extent of both.
func (e extent) with(other extent) extent {
	e.records += other.records
	if e.from.IsZero() || !other.from.IsZero() && other.from.Before(e.from) {
		e.from = other.from
	}
	if other.to.After(e.to) {
		e.to = other.to
	}
	return e
}

// text writes an extent: "1,234 records, 3 May 2021 to 2 June 2026".
func (e extent) text() string {
	text := countOf(e.records, "record", "records")
	switch {
	case e.from.IsZero() && e.to.IsZero():
		return text
	case day(e.from, "") == day(e.to, ""):
		return text + ", " + day(e.to, "")
	}
	return text + ", " + day(e.from, "the beginning") + " to " + day(e.to, "now")
}

// latestText writes the size of an extent and its end.
func (e extent) latestText() string {
	text := countOf(e.records, "record", "records")
	if !e.to.IsZero() {
		text += ", the latest of " + day(e.to, "")
	}
	return text
}

// sampleField is a field of a record as a page shows it.
type sampleField struct{ Name, Value string }

// sampleLength is the number of characters of a value that a page shows.
const sampleLength = 160

// sample returns the newest record of a stream that a grant covers, with exactly the
// fields that the client would see; nil when there is none. Long texts are shortened.
func (o *overview) sample(g *pdpp.Grant, c pdpp.ConnectionID, stream string) (fields []sampleField, err error) {
	reach := grant.ForClient(g, o.catalog)
	for _, row := range reach.Rows {
		if row.Stream.Name != stream {
			continue
		}
		q := query.List{
			Subject: o.subject, Limit: 1, Order: query.Order{By: query.ByEmitted, Desc: true},
			Sources: []query.Source{{Connection: c, Stream: row.Stream, Time: row.Access.Time, Resources: row.Access.Resources}},
		}
		err = o.first(q, func(r *store.Record) error {
			for name, value := range rawjson.Members(r.Body) {
				if row.Access.Granted(string(name)) {
					fields = append(fields, sampleField{clean(string(name), nameLength), sampleText(value)})
				}
			}
			return nil
		})
	}
	return fields, err
}

// sampleText returns a value for people: a string without quotes, anything else as JSON.
func sampleText(value []byte) string {
	switch rawjson.KindOf(value) {
	case rawjson.KindStub:
		return "(a long text)"
	case rawjson.KindNull:
		return "—"
	}
	if text, ok := rawjson.String(value); ok {
		return clean(text, sampleLength)
	}
	return clean(string(value), sampleLength)
}

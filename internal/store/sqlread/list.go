package sqlread

import (
	"bytes"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
)

// recordCursor reads the records of one source in the order of a list.
type recordCursor struct {
	conn       Conn
	query      *sqlgen.Query
	list       query.List
	source     int // index into the query's sources
	connection pdpp.ConnectionID

	segments []sqlgen.Segment // not yet read
	rows     Rows             // of the current segment; nil between segments
	cur      store.Record
}

func (c *recordCursor) next() (bool, error) {
	for {
		if c.rows == nil {
			if len(c.segments) == 0 {
				return false, nil
			}
			rows, err := c.conn.Query(c.query.List(c.list.Order, c.segments[0], c.list.After, c.list.Limit+1))
			if err != nil {
				return false, err
			}
			c.rows, c.segments = rows, c.segments[1:]
		}
		row, err := c.rows.Step()
		if err != nil {
			return false, err
		}
		if !row {
			c.close()
			continue
		}
		if c.read(); c.query.Verify(c.cur.Body) {
			return true, nil
		}
	}
}

func (c *recordCursor) read() {
	readRecord(&c.cur, c.rows, c.source)
	switch c.list.Order.By {
	case query.ByCursor:
		c.cur.Order = c.rows.Bytes(4)
	case query.ByID:
		c.cur.Order = c.cur.ID
	case query.ByEmitted:
		c.cur.Order = sqlgen.EmittedKey(c.rows.Int(2), c.cur.ID)
	}
}

func readRecord(r *store.Record, rows Rows, source int) {
	r.Source = source
	r.Ref = store.Ref(rows.Int(0))
	r.ID = rows.Bytes(1)
	r.EmittedAt = fromMillis(rows.Int(2))
	r.Body = rows.Bytes(3)
}

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func (c *recordCursor) close() {
	if c.rows != nil {
		c.rows.Close()
		c.rows = nil
	}
}

// before reports whether the record of c precedes the record of o.
func (c *recordCursor) before(o *recordCursor) bool {
	if c.list.Order.By == query.ByCursor {
		// Records without a sort value are last in both directions.
		_, none, _ := store.OrderSegments()
		cn, on := bytes.Compare(c.cur.Order, none) >= 0, bytes.Compare(o.cur.Order, none) >= 0
		if cn != on {
			return on
		}
	}
	order := bytes.Compare(c.cur.Order, o.cur.Order)
	if order == 0 {
		order = strings.Compare(string(c.connection), string(o.connection))
	}
	if c.list.Order.Desc {
		order = -order
	}
	return order < 0
}

// List implements store.Records.
func (r *Reader) List(q query.List, visit func(*store.Record) (bool, error)) (more bool, err error) {
	cursors, err := r.recordCursors(q)
	if err != nil {
		return false, err
	}
	return merge(cursors, (*recordCursor).before, func(c *recordCursor) (bool, error) { return visit(&c.cur) })
}

func (r *Reader) recordCursors(q query.List) ([]*recordCursor, error) {
	var out []*recordCursor
	for i, src := range q.Sources {
		s, ok, err := r.Source(q.Subject, src)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if q.Order.By == query.ByCursor && s.Stale.HasOrder() {
			return nil, store.ErrRebuilding(s.Stream.Name)
		}
		compiled, err := sqlgen.Compile(r.dialect, s, q.Order.By, r.conn.Probe)
		if err != nil {
			return nil, err
		}
		if compiled.Empty() {
			continue
		}
		c := r.recordCursor(compiled, s, q)
		c.source = i
		out = append(out, c)
	}
	return out, nil
}

func (r *Reader) recordCursor(compiled *sqlgen.Query, s sqlgen.Source, q query.List) *recordCursor {
	return &recordCursor{
		conn: r.conn, query: compiled, list: q, connection: s.Connection,
		segments: sqlgen.Segments(q.Order, s.Stream, q.After),
	}
}

// Count implements store.Records.
func (r *Reader) Count(q query.List) (int64, error) {
	var total int64
	for _, src := range q.Sources {
		s, ok, err := r.Source(q.Subject, src)
		if err != nil {
			return 0, err
		}
		if !ok {
			continue
		}
		n, err := r.count(s)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

func (r *Reader) count(s sqlgen.Source) (n int64, err error) {
	if len(s.Conditions()) == 0 && s.Resources == nil {
		return r.number(sqlgen.RecordCount(r.dialect, s))
	}
	q, err := sqlgen.Compile(r.dialect, s, query.ByCursor, r.conn.Probe)
	if err != nil || q.Empty() {
		return 0, err
	}
	if !q.NeedsVerify() {
		return r.number(q.Count())
	}
	err = r.eachRecord(q, s, func(*store.Record) { n++ })
	return n, err
}

// eachRecord visits the records of one source that meet all its conditions. It is for
// queries with NeedsVerify only: the statements of others have a LIMIT.
func (r *Reader) eachRecord(q *sqlgen.Query, s sqlgen.Source, visit func(*store.Record)) error {
	c := r.recordCursor(q, s, query.List{Order: query.Order{By: query.ByCursor}})
	defer c.close()
	for {
		ok, err := c.next()
		if err != nil || !ok {
			return err
		}
		visit(&c.cur)
	}
}

// LastEmitted implements store.Records.
func (r *Reader) LastEmitted(subject pdpp.SubjectID, src query.Source) (last time.Time, found bool, err error) {
	q := query.List{
		Subject: subject, Sources: []query.Source{src}, Limit: 1,
		Order: query.Order{By: query.ByEmitted, Desc: true},
	}
	_, err = r.List(q, func(rec *store.Record) (bool, error) {
		if found {
			return false, nil
		}
		last, found = rec.EmittedAt, true
		return true, nil
	})
	return last, found, err
}

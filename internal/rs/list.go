package rs

import (
	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

// listRecords answers GET /v1/streams/{stream}/records (REC-6 to REC-11, and the
// changes feed of REC-31 to REC-37).
func listRecords(q *request) error {
	rows, err := q.streamRows(q.vars.get("stream"))
	if err != nil {
		return err
	}
	if q.wantsChanges() {
		return listChanges(q, rows)
	}
	l, err := q.parseList()
	if err != nil {
		return err
	}
	plan, err := q.plan(rows, l.readParams)
	if err != nil {
		return err
	}
	q.prefs = query.ListPreferences.Parse(q.http.Header["Prefer"])
	list := query.List{
		Subject: q.reach.Subject, Sources: plan.sources, Limit: l.limit.N,
		Order: query.OrderOf(l.sort, plan.rows),
	}
	scope := query.ScopeOf(q.reach.Subject, q.reach.GrantID, q.path(), query.OrderName(list.Order, plan.rows), q.params)
	if l.cursor != "" {
		if list.After, err = q.server.Cursors.OpenPosition(scope, l.cursor, q.now); err != nil {
			return err
		}
	}
	q.warnings.limitClamped(l.limit)

	w := q.newPage(plan, l.limit.N)
	more, err := q.view.List(list, w.add)
	if err != nil {
		return err
	}
	end := w.end(more)
	if end.hasMore {
		end.cursor = q.server.Cursors.SealPosition(scope, w.last, q.now)
	}
	if end.count, err = q.count(l.count, list); err != nil {
		return err
	}
	q.closeList(end, q.presentation(plan))
	return nil
}

// listParams are the parameters of a list of records.
type listParams struct {
	readParams
	limit  query.Limit
	cursor string
	count  string
}

func (q *request) parseList() (l listParams, err error) {
	if l.limit, err = q.params.Limit(); err != nil {
		return l, err
	}
	if l.cursor, err = q.params.One("cursor"); err != nil {
		return l, err
	}
	if l.count, err = q.params.OneOf("count", "none", "estimated", "exact"); err != nil {
		return l, err
	}
	if l.sort, err = q.params.Sort(); err != nil {
		return l, err
	}
	if l.filters, err = q.params.Filters(); err != nil {
		return l, err
	}
	if l.selection, err = q.params.Selection(); err != nil {
		return l, err
	}
	l.expand, err = q.params.Expand()
	return l, err
}

// count counts the whole filtered set if the request asks for it (REC-11).
func (q *request) count(kind string, list query.List) (count, error) {
	if kind == "none" {
		return notCounted, nil
	}
	n, err := q.view.Count(list)
	return count{kind: "exact", value: n}, err
}

// pageBytes returns the size at which a page, or a list of children, ends.
func (q *request) pageBytes() int {
	if q.prefs.PageBytes != 0 {
		return q.prefs.PageBytes
	}
	return pdpp.MaxPageBytes
}

// pageWriter writes one page of records.
type pageWriter struct {
	*request
	plan  *plan
	limit int

	start         int // offset of the data array
	taken         int
	limitedBySize bool
	last          query.Position

	asChange store.Change // a record of a plain list, for addItem
}

// newPage begins the answer of a list.
func (q *request) newPage(p *plan, limit int) *pageWriter {
	q.body.Literal(`{"object":"list","data":[`)
	return &pageWriter{request: q, plan: p, limit: limit, start: len(q.body) - 1}
}

// add writes a record, unless the page is full.
func (w *pageWriter) add(r *store.Record) (taken bool, err error) {
	w.asChange.Record = *r
	return w.addItem(&w.asChange)
}

// addItem writes a record or a tombstone, unless the page is full.
func (w *pageWriter) addItem(c *store.Change) (taken bool, err error) {
	if w.taken == w.limit {
		return false, nil
	}
	before := len(w.body)
	if err := w.item(c, w.prefs.FieldPreview); err != nil {
		return false, err
	}
	if w.size() > w.pageBytes() {
		if w.taken > 0 {
			w.body = w.body[:before]
			w.limitedBySize = true
			return false, nil
		}
		if err := w.shrink(c, before); err != nil {
			return false, err
		}
	}
	w.taken++
	if len(w.plan.shapes[c.Source].expansions) > 0 {
		w.takeRelated()
	}
	w.last.Key = append(w.last.Key[:0], c.Order...)
	w.last.Connection = w.plan.shapes[c.Source].connection
	return true, nil
}

func (w *pageWriter) item(c *store.Change, preview int) error {
	s := w.plan.shapes[c.Source]
	if c.Removed != store.NotRemoved {
		w.tombstone(s, c)
		return nil
	}
	return w.record(s, &c.Record, preview)
}

// size returns the length of the data array with the items so far.
func (w *pageWriter) size() int { return len(w.body) - w.start + 1 }

// end returns how the page ended.
func (w *pageWriter) end(more bool) page {
	w.tally.Add(w.tally.Key.Stream, int64(w.taken))
	if w.limitedBySize {
		w.warnings.pageLimited(w.pageBytes(), w.taken, w.limit, w.prefs.PageBytes != 0)
	}
	return page{hasMore: more, count: notCounted}
}

// shrink writes the first item again with shorter previews until it fits into the page, if
// the request prefers both (REC-40).
func (w *pageWriter) shrink(c *store.Change, before int) error {
	if w.prefs.PageBytes == 0 || w.prefs.FieldPreview == 0 {
		return nil
	}
	for n := w.prefs.FieldPreview; n > 64 && w.size() > w.pageBytes(); {
		n = max(64, n/2)
		w.body = w.body[:before]
		if err := w.item(c, n); err != nil {
			return err
		}
	}
	return nil
}

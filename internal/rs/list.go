package rs

import (
	"bytes"

	"pdpp/internal/query"
	"pdpp/internal/store"
)

// listRecords answers GET /v1/streams/{stream}/records (REC-6 to REC-11).
func listRecords(q *request) error {
	rows, err := q.reach.Stream(q.vars["stream"], q.sel)
	if err != nil {
		return err
	}
	l, err := q.parseList()
	if err != nil {
		return err
	}
	plan, err := q.plan(rows, l.wish)
	if err != nil {
		return err
	}
	q.prefs = query.ParsePrefer(q.http.Header["Prefer"], true)
	list := query.List{
		Subject: q.reach.Subject, Sources: plan.sources, Limit: l.limit.N,
		Order: query.OrderOf(l.sort, plan.rows),
	}
	scope := query.ScopeOf(q.reach.Subject, q.reach.GrantID, q.path(), query.OrderName(list.Order, plan.rows), q.params)
	if l.cursor != "" {
		if list.After, err = q.server.cursors.OpenPosition(scope, l.cursor, q.now); err != nil {
			return err
		}
	}
	q.warnings.limitClamped(l.limit)

	w := pageWriter{request: q, plan: plan, limit: l.limit.N}
	end, err := w.write(list)
	if err != nil {
		return err
	}
	if end.hasMore {
		end.cursor = q.server.cursors.SealPosition(scope, w.last, q.now)
	}
	if end.count, err = q.count(l.count, list); err != nil {
		return err
	}
	q.closeList(end, q.presentation(plan))
	return nil
}

// listWish is a parsed records list.
type listWish struct {
	wish
	limit  query.Limit
	cursor string
	count  string
}

func (q *request) parseList() (l listWish, err error) {
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

// count counts the whole filtered set when asked to (REC-11).
func (q *request) count(kind string, list query.List) (count, error) {
	if kind == "none" {
		return notCounted, nil
	}
	n, err := q.view.Count(list)
	return count{kind: "exact", value: n}, err
}

// pageBytes is the size at which a page, or a list of children, ends.
func (q *request) pageBytes() int {
	if q.prefs.PageBytes != 0 {
		return q.prefs.PageBytes
	}
	return query.MaxPageBytes
}

// pageWriter writes one page of records.
type pageWriter struct {
	*request
	plan  *plan
	limit int

	taken   int
	limited bool // the page ended by its size
	last    query.Position
}

func (w *pageWriter) write(list query.List) (page, error) {
	w.body = appendText(w.body, `{"object":"list","data":[`)
	start := len(w.body) - 1
	pageBytes := w.pageBytes()
	more, err := w.view.List(list, func(r *store.Record) (bool, error) {
		if w.taken == w.limit {
			return false, nil
		}
		before := len(w.body)
		if w.taken > 0 {
			w.body = append(w.body, ',')
		}
		if err := w.record(w.plan.shapes[r.Source], r, w.prefs.FieldPreview); err != nil {
			return false, err
		}
		if len(w.body)-start+1 > pageBytes && !w.fits(r, before, start, pageBytes) {
			w.body = w.body[:before]
			w.limited = true
			return false, nil
		}
		w.taken++
		w.last.Key = append(w.last.Key[:0], r.Order...)
		w.last.Connection = w.plan.shapes[r.Source].connection
		return true, nil
	})
	if w.limited {
		w.warnings.pageLimited(pageBytes, w.taken, w.limit, w.prefs.PageBytes != 0)
	}
	w.last.Key = bytes.Clone(w.last.Key)
	return page{hasMore: more}, err
}

// fits decides about a record that carries the page past its size: the first one
// stays, with shorter previews when that was asked for (REC-40); others do not.
func (w *pageWriter) fits(r *store.Record, before, start, pageBytes int) bool {
	if w.taken > 0 {
		return false
	}
	if w.prefs.PageBytes == 0 || w.prefs.FieldPreview == 0 {
		return true
	}
	for n := w.prefs.FieldPreview; n > 64 && len(w.body)-start+1 > pageBytes; {
		n = max(64, n/2)
		w.body = w.body[:before]
		if err := w.record(w.plan.shapes[r.Source], r, n); err != nil {
			return true // the same record was written a moment ago
		}
	}
	return true
}

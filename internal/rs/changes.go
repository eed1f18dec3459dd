package rs

import (
	"errors"

	"pdpp"
	"pdpp/internal/auth"
	"pdpp/internal/grant"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

// maxScan is the number of changes that one page looks at. Most of them may be outside
// the grant. A page that reaches this bound is short.
const maxScan = 50_000

// wantsChanges reports whether a list request is for changes: it has a bookmark, or the
// page cursor of a changes session, with which changes_since is ignored (REC-36).
func (q *request) wantsChanges() bool {
	if q.params.Has("changes_since") {
		return true
	}
	cursor, err := q.params.One("cursor")
	return err == nil && query.ChangePages.Has(cursor)
}

// listChanges answers a list with changes_since (REC-31 to REC-37).
func listChanges(q *request, rows []grant.Row) error {
	w, err := q.parseChanges()
	if err != nil {
		return err
	}
	plan, err := q.plan(rows, w.readParams)
	if err != nil {
		return err
	}
	q.prefs = query.ListPreferences.Parse(q.http.Header["Prefer"])
	feed, err := q.openFeed(plan, w)
	if err != nil {
		return err
	}
	q.warnings.limitClamped(w.limit)
	out := q.newPage(plan, w.limit.N)
	more, err := feed.read(out)
	if err != nil {
		return feed.pruned(err)
	}
	end := out.end(more)
	if more {
		end.cursor = q.server.Cursors.SealSession(feed.scope, feed.session, q.now)
	} else {
		end.bookmark = q.server.Cursors.SealBookmark(feed.bookmarkScope, feed.shown, feed.session.Until, feed.session.Began)
	}
	q.closeList(end, q.presentation(plan))
	return nil
}

// changesParams are the parameters of a read of changes.
type changesParams struct {
	readParams
	limit  query.Limit
	cursor string
	since  string
}

func (q *request) parseChanges() (w changesParams, err error) {
	if err := q.refuseWithChanges(); err != nil {
		return w, err
	}
	if w.limit, err = q.params.Limit(); err != nil {
		return w, err
	}
	if w.cursor, err = q.params.One("cursor"); err != nil {
		return w, err
	}
	if w.since, err = q.params.One("changes_since"); err != nil {
		return w, err
	}
	w.selection, err = q.params.Selection()
	return w, err
}

// refuseWithChanges refuses the parameters that a changes feed cannot have (REC-31).
func (q *request) refuseWithChanges() error {
	for _, name := range []string{"filter", "sort", "order", "count"} {
		if q.params.Has(name) {
			return pdpp.BadParam(name, "%s cannot be combined with changes_since. Read the changes without it, and apply it to your own copy of the records.", name)
		}
	}
	for _, name := range []string{"expand", "expand_limit"} {
		if q.params.Has(name) {
			return &pdpp.Error{
				Code: pdpp.CodeInvalidExpand, Param: name,
				Message: name + " cannot be combined with changes_since. Read the changes of the related stream.",
			}
		}
	}
	return nil
}

// feed is one page of a changes session.
type feed struct {
	*request
	plan          *plan
	scope         query.Scope // for page cursors
	bookmarkScope query.Scope
	shown         query.Shown
	paged         bool // the request has a page cursor
	session       query.Session
}

// openFeed finds the start of the page: the position of a cursor or of a bookmark, or the
// beginning. The first page sets the horizon (REC-32).
func (q *request) openFeed(p *plan, w changesParams) (*feed, error) {
	shown, err := q.shown()
	if err != nil {
		return nil, err
	}
	f := &feed{
		request: q, plan: p, paged: w.cursor != "", shown: shown,
		scope:         query.ScopeOf(q.reach.Subject, q.reach.GrantID, q.path(), "changes/"+string(shown[:]), q.params),
		bookmarkScope: query.BookmarkScope(q.reach.Subject, q.reach.GrantID, q.vars.get("stream")),
	}
	if f.paged {
		f.session, err = q.server.Cursors.OpenSession(f.scope, w.cursor, q.now)
		return f, err
	}
	f.session.Began = q.now
	if f.session.Start = w.since == "beginning"; !f.session.Start {
		f.session.Since, err = q.server.Cursors.OpenBookmark(f.bookmarkScope, shown, w.since, q.now)
		if err != nil {
			return nil, err
		}
		f.session.After = f.session.Since.Number
	}
	f.session.Until, err = q.view.Horizon(q.reach.Subject)
	return f, err
}

// shown returns a digest of what the grant shows of the stream on all connections. A
// bookmark is valid only while it stays the same.
func (q *request) shown() (query.Shown, error) {
	type key struct{ stream string }
	name := q.vars.get("stream")
	rows, err := q.reach.Stream(name, grant.Selector{})
	if err != nil {
		return query.Shown{}, err
	}
	return auth.Derive(q.reach, key{name}, func() query.Shown { return query.ShownOf(rows) }), nil
}

// read writes the page and advances the session.
func (f *feed) read(out *pageWriter) (more bool, err error) {
	if f.session.Start {
		list := query.List{
			Subject: f.reach.Subject, Sources: f.plan.sources, Limit: out.limit, After: f.session.At,
		}
		at, more, err := f.view.Snapshot(list, f.session.Until.Number, maxScan, out.add)
		if at != nil {
			f.session.At = at
		}
		return more, err
	}
	changes := query.Changes{
		Subject: f.reach.Subject, Sources: f.plan.sources, Since: f.session.Since,
		Until: f.session.Until.Number, After: f.session.After, Scan: maxScan,
	}
	for _, s := range f.plan.shapes {
		changes.Shown = append(changes.Shown, s.projection)
	}
	walk, err := f.view.Changed(changes, out.addItem)
	f.session.After = walk.After
	return walk.More, err
}

// pruned returns the error of an expired session if the change log no longer reaches back
// to its position (REC-37), and any other error unchanged.
func (f *feed) pruned(err error) error {
	switch {
	case !errors.Is(err, store.ErrPruned):
		return err
	case f.paged:
		return query.ChangePages.Expired()
	}
	return query.Bookmarks.Expired()
}

// tombstone writes the item of a removed record (REC-35).
func (q *request) tombstone(s *shape, c *store.Change) {
	w := &q.body
	w.Literal(`{"object":"record"`)
	w.Text("id", string(c.ID))
	w.Text("stream", s.row.Stream.Name)
	w.Flag("deleted", true)
	if c.Removed == store.RemovedDeleted {
		writeTime(w, "deleted_at", c.DeletedAt)
		w.Text("removed_reason", "deleted")
	} else {
		w.Text("removed_reason", "out_of_scope")
	}
	writeTime(w, "emitted_at", c.EmittedAt)
	w.Raw(s.tail)
	w.End("}")
}

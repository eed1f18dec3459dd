package rs

import (
	"net/url"
	"slices"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/query"
	"pdpp/internal/sortkey"
	"pdpp/internal/store"
)

// expand writes the member expanded of a parent record that begins at start (REC-26).
func (q *request) expand(s *shape, parent *store.Record, start, preview int) error {
	id := string(parent.ID)
	q.body.OpenObject("expanded")
	for _, e := range s.expansions {
		q.body.Key(e.Name)
		if err := q.relation(s, e, id, start, preview); err != nil {
			return err
		}
	}
	q.body.End("}")
	return nil
}

// relation writes the children of one relation. A list of children ends when the parent
// record, which begins at start, exceeds the page size.
func (q *request) relation(s *shape, e query.Expansion, id string, start, preview int) error {
	list, child, ok, err := q.children(s, e, id)
	if err != nil {
		return err
	}
	empty := len(q.body)
	if e.HasMany {
		q.body.Literal(`{"object":"list","data":[`)
	}
	more, taken := false, 0
	if ok {
		more, err = q.view.List(list, func(r *store.Record) (bool, error) {
			if taken == e.Limit || e.HasMany && len(q.body)-start > q.pageBytes() {
				return false, nil
			}
			taken++
			return true, q.record(child, r, preview)
		})
		if err != nil {
			return err
		}
		q.related.Add(child.row.Stream.Name, int64(taken))
	}
	if !e.HasMany {
		if len(q.body) == empty {
			q.body.Literal("null")
		}
		return nil
	}
	q.body.End("]")
	q.body.Flag("has_more", more)
	q.body.Text("url", childrenURL(e, id, s.connection))
	q.body.End("}")
	return nil
}

// children returns the query for a parent's children. ok is false when there can be none:
// the related stream is not granted on the parent's connection, or the id cannot be a
// value of the foreign key.
func (q *request) children(s *shape, e query.Expansion, id string) (list query.List, child *shape, ok bool, err error) {
	i := slices.IndexFunc(e.Child.Connections, func(c pdpp.Connection) bool { return c.ID == s.connection })
	if i < 0 {
		q.warnings.skippedRelation(e.Relation, s.connection)
		return list, nil, false, nil
	}
	projection, err := query.Project(query.Selection{}, e.Child.Access)
	if err != nil {
		return list, nil, false, err
	}
	key := e.Child.Stream.Field(e.ForeignKey)
	operand, ok := sortkey.FromText(key.Kind, id)
	list = query.List{
		Subject: q.reach.Subject, Limit: e.Limit,
		Order: query.OrderOf(query.Sort{Desc: true}, []grant.Row{e.Child}),
		Sources: []query.Source{{
			Connection: s.connection, Stream: e.Child.Stream,
			Time: e.Child.Access.Time, Resources: e.Child.Access.Resources,
			Where: []query.Condition{{Field: key, Op: pdpp.OpEq, Key: operand}},
		}},
	}
	return list, newShape(e.Child, projection, nil).on(e.Child, e.Child.Connections[i]), ok, nil
}

// childrenURL returns the URL of a list of all children.
func childrenURL(e query.Expansion, id string, conn pdpp.ConnectionID) string {
	return "/v1/streams/" + url.PathEscape(e.Stream) + "/records?filter[" + url.QueryEscape(e.ForeignKey) + "]=" +
		url.QueryEscape(id) + "&connection_id=" + url.QueryEscape(string(conn))
}

package sqlread

import (
	"sync"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
)

// Bindings caches the row numbers of bindings and their fields. They never change,
// so they are valid in every later transaction. The zero value is an empty cache.
type Bindings struct{ m sync.Map } // sqlgen.BindingKey -> *bindingRows

type bindingRows struct {
	owner   int64
	binding int64
	fields  map[string]int64
}

// findBinding returns the row numbers of a binding; nil if it does not exist. A cached
// entry without a field that the stream declares now is read again.
func (r *Reader) findBinding(key sqlgen.BindingKey, s *pdpp.Stream) (*bindingRows, error) {
	if cached, ok := r.bindings.m.Load(key); ok {
		n := cached.(*bindingRows)
		if len(n.fields) >= len(s.Fields) && n.covers(s) {
			return n, nil
		}
	}
	n, err := r.readBinding(key)
	if err == nil && n != nil && r.committed {
		r.bindings.m.Store(key, n)
	}
	return n, err
}

func (n *bindingRows) covers(s *pdpp.Stream) bool {
	for _, f := range s.Fields {
		if n.fields[f.Name] == 0 {
			return false
		}
	}
	return true
}

func (r *Reader) readBinding(key sqlgen.BindingKey) (*bindingRows, error) {
	rows, err := r.conn.Query(sqlgen.Binding(r.dialect, key))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var n *bindingRows
	for {
		row, err := rows.Step()
		if err != nil || !row {
			return n, err
		}
		if n == nil {
			n = &bindingRows{binding: rows.Int(0), owner: rows.Int(1), fields: make(map[string]int64)}
		}
		n.fields[rows.Text(2)] = rows.Int(3)
	}
}

// Binding implements store.Records.
func (r *Reader) Binding(subject pdpp.SubjectID, c pdpp.Connection, s *pdpp.Stream) (*store.Binding, error) {
	n, err := r.findBinding(sqlgen.BindingKey{Subject: subject, Connection: c.ID, Stream: s.Name}, s)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return nil, pdpp.Errorf(pdpp.CodeConnectionNotFound, "There is no such connection.")
	}
	b := &store.Binding{
		Subject: subject, Connection: c, Stream: s, Layout: store.LayoutDigest(s),
		ID: n.binding, Owner: n.owner, FieldIDs: make([]int64, len(s.Fields)),
	}
	for i, f := range s.Fields {
		b.FieldIDs[i] = n.fields[f.Name]
	}
	return b, nil
}

// Source finds the row numbers of a source. It returns false when the source cannot
// have a visible record, and ErrRebuilding when its conditions need index entries
// that are being rebuilt.
func (r *Reader) Source(subject pdpp.SubjectID, src query.Source) (sqlgen.Source, bool, error) {
	n, err := r.findBinding(sqlgen.BindingKey{Subject: subject, Connection: src.Connection, Stream: src.Stream.Name}, src.Stream)
	if err != nil || n == nil {
		return sqlgen.Source{}, false, err
	}
	all, err := r.conn.Stale()
	if err != nil {
		return sqlgen.Source{}, false, err
	}
	stale := all[n.binding]
	if err := checkFresh(stale, src); err != nil {
		return sqlgen.Source{}, false, err
	}
	s := sqlgen.Source{
		Source: src, Subject: n.owner, Binding: n.binding, Stale: stale,
		FieldID: func(f *pdpp.Field) int64 { return n.fields[f.Name] },
	}
	ok, err := r.mayMatch(s)
	return s, ok, err
}

// checkFresh refuses a source with a condition on stale index entries. The grant's
// time range is a condition too.
func checkFresh(stale *store.Stale, src query.Source) error {
	if stale == nil {
		return nil
	}
	for _, c := range src.Conditions() {
		if c.Field == nil || stale.Has(c.Field.Name) {
			return store.ErrRebuilding(src.Stream.Name)
		}
	}
	return nil
}

// mayMatch returns false if the conditions name a record id that is not visible. A
// client must not learn from the response time whether a record exists that its time
// range hides. Only the look-up of Get takes the same time in both cases, so no other
// statement may look for such a record.
func (r *Reader) mayMatch(s sqlgen.Source) (visible bool, err error) {
	if s.Time == nil || len(s.Where) == 0 {
		return true, nil
	}
	id, plain, ok := sqlgen.ConditionID(s)
	if !ok {
		return true, nil
	}
	err = r.getOne(sqlgen.ForGet(r.dialect, plain), id, 0, func(*store.Record) error {
		visible = true
		return nil
	})
	return visible, err
}

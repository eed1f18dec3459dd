package sqlite

import (
	"slices"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

// bindAll binds every connection of every subject.
func (t *tx) bindAll() error {
	subjects, err := t.Subjects()
	if err != nil {
		return err
	}
	for _, s := range subjects {
		c, err := t.Catalog(s.ID)
		if err != nil {
			return err
		}
		for _, conn := range c.Connections {
			if m := c.Manifest(conn.Connector); m != nil {
				if err := t.bind(s.ID, conn, m, nil); err != nil { // the former layout is unknown
					return err
				}
			}
		}
	}
	return nil
}

// bind adds the missing bindings and fields of a manifest for a connection, and starts
// the re-index of records whose declaration changed. former is the manifest before this
// one; nil if there was none or it is unknown.
func (t *tx) bind(subject pdpp.SubjectID, c pdpp.Connection, m, former *pdpp.Manifest) error {
	owner, err := t.owner(subject)
	if err != nil {
		return err
	}
	for _, s := range m.Streams {
		layout := store.LayoutDigest(s)
		id, err := t.addBinding(owner, c.ID, s, layout)
		if err != nil {
			return err
		}
		if err := t.updateLayout(id, s, former); err != nil {
			return err
		}
		if err := t.noteTime(id, s); err != nil {
			return err
		}
		if err := t.noteTerms(id, s); err != nil { // after updateLayout, which copies the former values
			return err
		}
	}
	return nil
}

// updateLayout starts the re-index of a binding if the layout of its stream has changed.
func (t *tx) updateLayout(binding int64, s *pdpp.Stream, former *pdpp.Manifest) error {
	layout := store.LayoutDigest(s)
	known, err := queryText(t.conn, `SELECT layout FROM bindings WHERE binding = ?`, binding)
	if err != nil || known == layout {
		return err
	}
	var before *pdpp.Stream
	if former != nil {
		before = former.Stream(s.Name)
	}
	if before != nil && store.LayoutDigest(before) != known {
		before = nil
	}
	return t.changeLayout(binding, layout, store.StaleAfter(before, s))
}

// searchForms returns how the fields of a binding are represented in the search text.
func (t *tx) searchForms(binding int64) (map[string]store.SearchForm, error) {
	return t.searchFormsIn(`SELECT name, field, lexical, token, blob FROM fields WHERE binding = ? AND (lexical OR token OR blob)`, binding)
}

func (t *tx) searchFormsIn(sql string, args ...any) (map[string]store.SearchForm, error) {
	fields := make(map[string]store.SearchForm)
	err := each(t.conn, func(s *engine.Stmt) error {
		fields[s.Text(0)] = store.SearchForm{Number: s.Int(1), Lexical: s.Int(2) != 0, Token: pdpp.Kind(s.Int(3)), Blob: s.Int(4) != 0}
		return nil
	}, sql, args...)
	return fields, err
}

// noteTime stores which field's former values are in the change log. The generation grows
// at the end of the transaction.
func (t *tx) noteTime(binding int64, s *pdpp.Stream) error {
	return t.conn.Exec(`UPDATE bindings SET time_field = ?, retimed = 1 + (SELECT value FROM meta WHERE name = 'generation')
		WHERE binding = ? AND time_field IS NOT ?`, s.ConsentTimeField, binding, s.ConsentTimeField)
}

// noteTerms stores how the fields of a stream are represented in the search text.
func (t *tx) noteTerms(binding int64, s *pdpp.Stream) error {
	if err := t.conn.Exec(`UPDATE fields SET lexical = 0, token = 0, blob = 0 WHERE binding = ?`, binding); err != nil {
		return err
	}
	for _, f := range s.Fields {
		var token pdpp.Kind
		slot := store.SlotOf(s, f)
		if slot == store.SlotToken {
			token = f.Kind
		}
		err := t.conn.Exec(`UPDATE fields SET lexical = ?, token = ?, blob = ? WHERE binding = ? AND name = ?`,
			slices.Contains(s.LexicalFields, f.Name), int64(token), slot == store.SlotBlob, binding, f.Name)
		if err != nil {
			return err
		}
	}
	return nil
}

// addBinding adds a binding and its fields unless they exist, and returns its number.
func (t *tx) addBinding(owner int64, c pdpp.ConnectionID, s *pdpp.Stream, layout string) (int64, error) {
	err := t.conn.Exec(`INSERT INTO bindings (subject, connection_id, stream, layout) VALUES (?, ?, ?, ?)
		ON CONFLICT DO NOTHING`, owner, string(c), s.Name, layout)
	if err != nil {
		return 0, err
	}
	id, err := queryInt(t.conn, `SELECT binding FROM bindings WHERE subject = ? AND connection_id = ? AND stream = ?`,
		owner, string(c), s.Name)
	if err != nil {
		return 0, err
	}
	for _, f := range s.Fields {
		err := t.conn.Exec(`INSERT INTO fields (subject, binding, name) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
			owner, id, f.Name)
		if err != nil {
			return 0, err
		}
	}
	return id, nil
}

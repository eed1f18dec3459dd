package sqlite

import (
	"slices"
	"sync"

	"pdpp"
	"pdpp/internal/store"
)

// numbers are the row numbers of a binding and its fields. They never change, so
// they are kept across transactions once they were read from a snapshot.
type numbers struct {
	owner   int64
	binding int64
	fields  map[string]int64
}

type bindingKey struct {
	subject    pdpp.SubjectID
	connection pdpp.ConnectionID
	stream     string
}

type bindingCache struct{ m sync.Map } // bindingKey -> *numbers

// numbers looks up a binding; nil when it does not exist. A cached entry that
// lacks a field the stream now declares is read again.
func (t *tx) numbers(key bindingKey, s *pdpp.Stream) (*numbers, error) {
	if cached, ok := t.db.bindings.m.Load(key); ok {
		n := cached.(*numbers)
		if len(n.fields) >= len(s.Fields) && n.covers(s) {
			return n, nil
		}
	}
	n, err := t.readNumbers(key)
	if err == nil && n != nil && t.reader != nil {
		t.db.bindings.m.Store(key, n)
	}
	return n, err
}

func (n *numbers) covers(s *pdpp.Stream) bool {
	for _, f := range s.Fields {
		if n.fields[f.Name] == 0 {
			return false
		}
	}
	return true
}

func (t *tx) readNumbers(key bindingKey) (*numbers, error) {
	s, err := t.conn.Query(`SELECT b.binding, b.subject FROM bindings b JOIN subjects s USING (subject)
		WHERE s.subject_id = ? AND b.connection_id = ? AND b.stream = ?`,
		string(key.subject), string(key.connection), key.stream)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	row, err := s.Step()
	if err != nil || !row {
		return nil, err
	}
	n := &numbers{binding: s.Int(0), owner: s.Int(1)}
	n.fields, err = t.fieldNumbers(n.binding)
	return n, err
}

// fieldNumbers reads the numbers of a binding's fields by name.
func (t *tx) fieldNumbers(binding int64) (map[string]int64, error) {
	s, err := t.conn.Query(`SELECT name, field FROM fields WHERE binding = ?`, binding)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	fields := make(map[string]int64)
	for {
		row, err := s.Step()
		if err != nil || !row {
			return fields, err
		}
		fields[s.Text(0)] = s.Int(1)
	}
}

// Binding implements store.Records.
func (t *tx) Binding(subject pdpp.SubjectID, c pdpp.Connection, s *pdpp.Stream) (*store.Binding, error) {
	n, err := t.numbers(bindingKey{subject, c.ID, s.Name}, s)
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
				if err := t.bind(s.ID, conn, m, nil); err != nil { // how records were indexed is not known
					return err
				}
			}
		}
	}
	return nil
}

// bind makes sure that every stream of the manifest has its binding and fields
// for the connection, and that its records will be indexed as declared. former is the
// manifest before this one; nil: there was none, or it is not known.
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
		if err := t.follow(id, s, former); err != nil {
			return err
		}
		if err := t.noteTime(id, s); err != nil {
			return err
		}
		if err := t.noteTerms(id, s); err != nil { // only now: follow keeps what was there before
			return err
		}
	}
	return nil
}

// follow has the records of a binding indexed as its stream is declared now.
func (t *tx) follow(binding int64, s *pdpp.Stream, former *pdpp.Manifest) error {
	layout := store.LayoutDigest(s)
	known, err := t.textOf(`SELECT layout FROM bindings WHERE binding = ?`, binding)
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
	return t.relayout(binding, layout, store.StaleAfter(before, s))
}

// textOf reads the first column of the first row; "" when there is none.
func (t *tx) textOf(sql string, args ...any) (string, error) {
	s, err := t.conn.Query(sql, args...)
	if err != nil {
		return "", err
	}
	defer s.Close()
	if row, err := s.Step(); err != nil || !row {
		return "", err
	}
	return s.Text(0), nil
}

// termed reads how the fields of a binding stand in the search text.
func (t *tx) termed(binding int64) (map[string]store.Termed, error) {
	return t.termedIn(`SELECT name, field, lexical, token, blob FROM fields WHERE binding = ? AND (lexical OR token OR blob)`, binding)
}

func (t *tx) termedIn(sql string, args ...any) (map[string]store.Termed, error) {
	s, err := t.conn.Query(sql, args...)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	fields := make(map[string]store.Termed)
	for {
		row, err := s.Step()
		if err != nil || !row {
			return fields, err
		}
		fields[s.Text(0)] = store.Termed{Number: s.Int(1), Lexical: s.Int(2) != 0, Token: pdpp.Kind(s.Int(3)), Blob: s.Int(4) != 0}
	}
}

// noteTime writes down which field the log keeps former times of. The generation
// grows at the end of the transaction.
func (t *tx) noteTime(binding int64, s *pdpp.Stream) error {
	return t.conn.Exec(`UPDATE bindings SET time_field = ?, retimed = 1 + (SELECT value FROM meta WHERE name = 'generation')
		WHERE binding = ? AND time_field IS NOT ?`, s.ConsentTimeField, binding, s.ConsentTimeField)
}

// noteTerms writes down how the fields of a stream stand in the search text.
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

// addBinding adds what is missing of a binding and its fields, and gives its
// number.
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

package store

import (
	"bytes"

	"pdpp/internal/rawjson"
)

// Outcome is what Ingest did with a document.
type Outcome uint8

// The outcomes.
const (
	Stored    Outcome = iota // inserted or replaced
	Unchanged                // the stored content is the same; nothing happened
	Deleted                  // a record was removed
	Absent                   // there was no record to delete; nothing happened
)

// Outcome returns what Ingest has to do with a document. stored is the body of the record
// with its id, nil if there is none.
func (d *Document) Outcome(stored []byte) Outcome {
	switch {
	case d.Delete && stored == nil:
		return Absent
	case d.Delete:
		return Deleted
	case stored != nil && bytes.Equal(stored, d.Body):
		return Unchanged
	}
	return Stored
}

// LogFields returns the names of the fields that a document changes, for the change log: a
// JSON array, which is empty unless the document replaces a record (REC-32).
func (d *Document) LogFields(stored []byte) string {
	if stored == nil || d.Delete {
		return "[]"
	}
	names := []byte{'['}
	for i, name := range changedFields(stored, d.Body) {
		if i > 0 {
			names = append(names, ',')
		}
		names = rawjson.AppendString(names, name)
	}
	return string(append(names, ']'))
}

// changedFields returns the names of the top-level fields in which two stored bodies
// differ: first those of before in their order, then the new ones.
func changedFields(before, after []byte) []string {
	var names []string
	rest := make(map[string][]byte)
	for name, value := range rawjson.Members(after) {
		rest[string(name)] = value
	}
	for name, value := range rawjson.Members(before) {
		now, ok := rest[string(name)]
		delete(rest, string(name))
		if !ok || !sameValue(now, value) {
			names = append(names, string(name))
		}
	}
	for name := range rawjson.Members(after) {
		if _, ok := rest[string(name)]; ok {
			names = append(names, string(name))
		}
	}
	return names
}

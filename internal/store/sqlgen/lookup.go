package sqlgen

import (
	"pdpp"
	"pdpp/internal/store"
)

// BindingKey names a binding.
type BindingKey struct {
	Subject    pdpp.SubjectID
	Connection pdpp.ConnectionID
	Stream     string
}

// Binding selects the numbers of a binding and its subject, and, row by row, the
// names and numbers of its fields.
func Binding(d Dialect, k BindingKey) Statement {
	return statement(d, `SELECT b.binding, b.subject, f.name, f.field FROM bindings b JOIN subjects s ON s.subject = b.subject
		LEFT JOIN fields f ON f.binding = b.binding WHERE s.subject_id = ? AND b.connection_id = ? AND b.stream = ?`,
		string(k.Subject), string(k.Connection), k.Stream)
}

// RecordCount selects the number of all records of a source's binding.
func RecordCount(d Dialect, src Source) Statement {
	return statement(d, `SELECT record_count FROM bindings WHERE subject = ? AND binding = ?`, src.Subject, src.Binding)
}

// Pieces selects the pieces of a long value from one piece on, each with its index.
func Pieces(d Dialect, ref store.Ref, ordinal, from int) Statement {
	return statement(d, `SELECT raw, piece FROM pieces WHERE record = ? AND ordinal = ? AND piece >= ? ORDER BY piece`, int64(ref), ordinal, from)
}

// TermCounts selects the term counts of a record.
func TermCounts(d Dialect, ref store.Ref) Statement {
	return statement(d, `SELECT term_counts FROM records WHERE record = ?`, int64(ref))
}

// Upload selects the media type and the size of a blob that was uploaded for the
// connection of a source.
func Upload(d Dialect, src Source, sha256 string) Statement {
	return statement(d, `SELECT mime_type, size_bytes FROM blobs WHERE subject = ? AND connection_id = ? AND sha256 = ?`,
		src.Subject, string(src.Connection), sha256)
}

// statement returns a constant text with its arguments.
func statement(d Dialect, text string, args ...any) Statement {
	b := builder{d: d}
	b.add(text, args...)
	return b.statement()
}

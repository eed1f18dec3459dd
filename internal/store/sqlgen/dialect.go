package sqlgen

import (
	"strings"

	"pdpp"
)

// Dialect is what differs between databases. Everything else in the statements is
// SQL that SQLite and PostgreSQL both accept, with the same meaning.
type Dialect interface {
	// Param is the n-th parameter, counted from 1.
	Param(n int) string
	// IndexHint names the index to walk, after a table's alias; "" leaves the
	// choice to the database.
	IndexHint(index string) string
	// WalkedBody is the body of a record while records_by_order is walked, since
	// that index may contain short bodies.
	WalkedBody() string
	// OneOf tests whether column is in the list that IDList makes one argument of.
	OneOf(column, param string) string
	IDList(ids []pdpp.RecordID) any
	// Token finds the records with a term, which is the one argument of Where.
	Token() TermJoin
	// Words finds the records with at least one term of every group. arg is the
	// one argument of Where.
	Words(groups [][]string) (join TermJoin, arg any)
}

// TermJoin is how a database finds records by their terms.
type TermJoin struct {
	From   string // the table of terms, under the alias i
	Where  string // the condition, with one ?
	Record string // the column with the number of the record
}

// Statement is SQL text with its arguments.
type Statement struct {
	SQL  string
	Args []any
}

// builder joins text and arguments. Each ? in a text stands for the next of its
// arguments.
type builder struct {
	d    Dialect
	text strings.Builder
	args []any
}

func (b *builder) add(text string, args ...any) {
	if b.args == nil {
		b.text.Grow(512) // most statements are shorter
		b.args = make([]any, 0, 8)
	}
	for _, arg := range args {
		before, after, _ := strings.Cut(text, "?")
		b.args = append(b.args, arg)
		b.text.WriteString(before)
		b.text.WriteString(b.d.Param(len(b.args)))
		text = after
	}
	b.text.WriteString(text)
}

func (b *builder) statement() Statement { return Statement{b.text.String(), b.args} }

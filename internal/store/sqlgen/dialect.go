package sqlgen

import (
	"strings"

	"pdpp"
)

// Dialect is what differs between the databases.
type Dialect interface {
	// Param is the n-th parameter, counted from 1.
	Param(n int) string
	// Using names the index to walk, after a table's alias; "" to leave it to
	// the database.
	Using(index string) string
	// WalkedBody is a record's body while records_by_order is walked, where an
	// index may hold short ones.
	WalkedBody() string
	// OneOf tests membership of column in the list given as one argument.
	OneOf(column, param string) string
	// Tokens is the table of terms under the alias i, the condition that a row
	// has the term given as one argument, and the column with its record.
	Tokens() (from, where, record string)
	// Words is Tokens for rows that have at least one term of every group; arg
	// is the argument of the condition.
	Words(groups [][]string) (from, where, record string, arg any)
	// List makes the argument of OneOf.
	List(ids []pdpp.RecordID) any
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

package sqlite

import (
	"encoding/json"
	"strings"

	"pdpp"
	"pdpp/internal/store/sqlgen"
	"pdpp/internal/store/sqlread"
)

// dialect implements sqlgen.Dialect for SQLite.
type dialect struct{}

// Param implements sqlgen.Dialect.
func (dialect) Param(int) string { return "?" }

// IndexHint implements sqlgen.Dialect.
func (dialect) IndexHint(index string) string { return " INDEXED BY " + index }

// WalkedBody implements sqlgen.Dialect. It reads short bodies from the index, without a
// look-up of the record.
func (dialect) WalkedBody() string { return "coalesce(r.short_body, r.body)" }

// OneOf implements sqlgen.Dialect.
func (dialect) OneOf(column, param string) string {
	return column + " IN (SELECT value FROM json_each(" + param + "))"
}

// IDList implements sqlgen.Dialect.
func (dialect) IDList(ids []pdpp.RecordID) any {
	text, err := json.Marshal(ids)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(text)
}

// Token implements sqlgen.Dialect.
func (dialect) Token() sqlgen.TermJoin {
	return sqlgen.TermJoin{From: "search i", Where: "i.search MATCH '\"' || ? || '\"'", Record: "i.rowid"}
}

// Words implements sqlgen.Dialect.
func (dialect) Words(groups [][]string) (sqlgen.TermJoin, any) {
	var b strings.Builder
	for i, group := range groups {
		if i > 0 {
			b.WriteString(" AND ")
		}
		for j, term := range group {
			b.WriteString([]string{`("`, ` OR "`}[min(j, 1)])
			b.WriteString(term) // letters, marks, digits and dots
			b.WriteByte('"')
		}
		b.WriteByte(')')
	}
	return sqlgen.TermJoin{From: "search i", Where: "i.search MATCH ?", Record: "i.rowid"}, b.String()
}

// Query implements sqlread.Conn.
func (t *tx) Query(s sqlgen.Statement) (sqlread.Rows, error) {
	stmt, err := t.conn.Query(s.SQL, s.Args...)
	if err != nil {
		return nil, err
	}
	return stmt, nil
}

// Probe implements sqlread.Conn.
func (t *tx) Probe(s sqlgen.Statement) (int64, error) { return queryInt(t.conn, s.SQL, s.Args...) }

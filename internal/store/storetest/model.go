package storetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

// Model is a subject of a store together with its expected content, in a map. It compares
// values with math/big and time, not with the store's encodings.
type Model struct {
	w       *world
	decl    decl
	records map[pdpp.ConnectionID]map[string]modelRecord
	stored  int // how many records were stored so far
}

type modelRecord struct {
	emittedAt time.Time
	stored    int // index in the order of storing
	body      string
	fields    map[string]json.RawMessage
}

// Question is a query with the texts it was made from.
type Question struct {
	List  query.List
	conds []cond
	time  *pdpp.TimeConstraint
}

// EachModel tries something on many subjects, each with a few changes behind it. They
// share a store, so this also checks that subjects are separate.
func EachModel(t *testing.T, s store.Store, try func(rt *rapid.T, m *Model)) {
	t.Helper()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		m := newModel(rt, s, fmt.Sprint("subject ", run))
		for range rapid.IntRange(1, 4).Draw(rt, "changes") {
			m.Change(rt)
		}
		try(rt, m)
	})
}

// newModel adds an empty subject to a store.
func newModel(t tb, s store.Store, name string) *Model {
	t.Helper()
	return &Model{
		w: subjectIn(t, s, name), decl: entries(),
		records: map[pdpp.ConnectionID]map[string]modelRecord{connA: {}, connB: {}},
	}
}

// Answer returns what the store should list: all records that match the question, from
// the start of the order.
func (m *Model) Answer(q Question) []Row {
	stream := q.List.Sources[0].Stream
	var found []sortable
	for _, src := range q.List.Sources {
		for id, r := range m.records[src.Connection] {
			if src.Resources != nil && !slices.Contains(src.Resources, pdpp.RecordID(id)) || !r.meets(stream, q) {
				continue
			}
			row := Row{Connection: src.Connection, ID: id, EmittedAt: r.emittedAt, Body: r.body}
			found = append(found, sortable{row, r.sortValue(stream, q.List.Order.By)})
		}
	}
	slices.SortFunc(found, func(a, b sortable) int { return a.compare(b, q.List.Order.Desc) })
	rows := make([]Row, 0, len(found))
	for _, f := range found {
		rows = append(rows, f.row)
	}
	return rows
}

func (r modelRecord) meets(s *pdpp.Stream, q Question) bool {
	for _, c := range q.conds {
		kind := s.Field(c.field).Kind
		have, ok := valueOf(kind, r.fields[c.field])
		operand, _ := operandOf(kind, c.operand)
		if !ok || !holds(compareValues(have, operand), c.op) {
			return false
		}
	}
	if q.time == nil {
		return true
	}
	f := s.Field(q.time.Field)
	if f == nil || !f.Kind.IsTime() {
		return false
	}
	have, ok := valueOf(f.Kind, r.fields[f.Name])
	if !ok {
		return false
	}
	t := have.(time.Time)
	return (q.time.Since.IsZero() || !t.Before(q.time.Since)) && (q.time.Until.IsZero() || t.Before(q.time.Until))
}

func holds(c int, op pdpp.Op) bool {
	switch op {
	case pdpp.OpEq:
		return c == 0
	case pdpp.OpGte:
		return c >= 0
	case pdpp.OpGt:
		return c > 0
	case pdpp.OpLte:
		return c <= 0
	}
	return c < 0
}

type sortable struct {
	row   Row
	value any // nil if there is none
}

func (r modelRecord) sortValue(s *pdpp.Stream, by query.OrderBy) any {
	switch {
	case by == query.ByEmitted:
		return r.emittedAt
	case by == query.ByCursor && s.CursorField != "":
		if v, ok := valueOf(s.Field(s.CursorField).Kind, r.fields[s.CursorField]); ok {
			return v
		}
	}
	return nil
}

// compare follows REC-7: value, id, connection; missing values are last either way.
func (a sortable) compare(b sortable, desc bool) int {
	c := 0
	switch {
	case a.value == nil && b.value != nil:
		return 1
	case a.value != nil && b.value == nil:
		return -1
	case a.value != nil:
		c = compareValues(a.value, b.value)
	}
	c = cmp.Or(c, strings.Compare(a.row.ID, b.row.ID), strings.Compare(string(a.row.Connection), string(b.row.Connection)))
	if desc {
		return -c
	}
	return c
}

// valueOf reads a JSON value as kind; false when it is not of that kind.
func valueOf(kind pdpp.Kind, raw json.RawMessage) (any, bool) {
	if len(raw) == 0 {
		return nil, false
	}
	if raw[0] == '"' {
		var s string
		if json.Unmarshal(raw, &s) != nil || !(kind == pdpp.KindString || kind.IsTime()) {
			return nil, false
		}
		return operandOf(kind, s)
	}
	if kind == pdpp.KindString || kind.IsTime() {
		return nil, false
	}
	return operandOf(kind, string(raw))
}

func operandOf(kind pdpp.Kind, text string) (any, bool) {
	switch {
	case kind == pdpp.KindString:
		return text, true
	case kind.IsTime():
		t, ok := pdpp.ParseTime(text)
		return t, ok
	case kind == pdpp.KindBoolean:
		return text, text == "true" || text == "false"
	case kind.IsNumeric():
		var n json.Number
		if json.Unmarshal([]byte(text), &n) != nil || text == "null" {
			return nil, false
		}
		r, ok := new(big.Rat).SetString(text)
		return r, ok && (kind == pdpp.KindNumber || r.IsInt())
	}
	return nil, false
}

func compareValues(a, b any) int {
	switch a := a.(type) {
	case *big.Rat:
		return a.Cmp(b.(*big.Rat))
	case time.Time:
		return a.Compare(b.(time.Time))
	}
	return strings.Compare(a.(string), b.(string))
}

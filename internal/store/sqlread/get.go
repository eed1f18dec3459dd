package sqlread

import (
	"bytes"
	"errors"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
)

// Get implements store.Records.
func (r *Reader) Get(q query.Get, visit func(*store.Record) error) error {
	for i, src := range q.Sources {
		s, ok, err := r.Source(q.Subject, src)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		compiled := sqlgen.ForGet(r.dialect, s)
		if compiled.Empty() || !compiled.AllowsID(q.ID) {
			continue
		}
		if err := r.getOne(compiled, q.ID, i, visit); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) getOne(q *sqlgen.Query, id pdpp.RecordID, source int, visit func(*store.Record) error) error {
	s := q.Get(id)
	if q.HidesByTime() {
		record, ok, err := r.near(q, id)
		if err != nil || !ok {
			return err
		}
		s = q.Shown(record, id)
	}
	return r.first(s, func(rows Rows) error {
		var rec store.Record
		readRecord(&rec, rows, source)
		rec.Order = rows.Bytes(4)
		if len(rec.Body) == 0 || !q.Verify(rec.Body) {
			return nil
		}
		return visit(&rec)
	})
}

// near returns the number of the record with an id. If there is none, it returns the
// number of some other record, so that both cases take the same time; false if the
// binding is empty.
func (r *Reader) near(q *sqlgen.Query, id pdpp.RecordID) (record int64, ok bool, err error) {
	err = r.first(q.Near(id), func(rows Rows) error {
		const next, first = 0, 1
		col := next
		if rows.IsNull(next) {
			col = first
		}
		record, ok = rows.Int(col), !rows.IsNull(col)
		return nil
	})
	return record, ok, err
}

// ErrDamaged means that a piece of a long value is missing.
var ErrDamaged = errors.New("a piece of a long value is missing; the database is damaged")

// Long implements store.Records.
func (r *Reader) Long(ref store.Ref, stub store.Stub, from int, piece func([]byte) bool) error {
	next := from / store.PieceChars
	rows, err := r.conn.Query(sqlgen.Pieces(r.dialect, ref, stub.Ordinal, next))
	if err != nil {
		return err
	}
	defer rows.Close()
	for ; ; next++ {
		row, err := rows.Step()
		if err != nil {
			return err
		}
		if !row && next*store.PieceChars >= stub.Chars && stub.Chars > 0 {
			return nil
		}
		if !row || rows.Int(1) != int64(next) {
			return ErrDamaged
		}
		if !piece(rows.Bytes(0)) {
			return nil
		}
	}
}

// Whole returns a stored body with its long values in place of their stubs.
func (r *Reader) Whole(ref store.Ref, body []byte) ([]byte, error) {
	var out []byte
	var err error
	rest := body
	for _, value := range rawjson.Members(body) {
		if rawjson.KindOf(value) != rawjson.KindStub {
			continue
		}
		before, after, _ := bytes.Cut(rest, value) // no other part of a body contains the NUL bytes of a stub
		rest = after
		if out, err = r.appendLong(append(out, before...), ref, store.ParseStub(value)); err != nil {
			return nil, err
		}
	}
	return append(out, rest...), nil
}

// appendLong appends a value that is stored in pieces.
func (r *Reader) appendLong(dst []byte, ref store.Ref, stub store.Stub) ([]byte, error) {
	dst = stub.Quote(dst)
	err := r.Long(ref, stub, 0, func(piece []byte) bool {
		dst = append(dst, piece...)
		return true
	})
	return stub.Quote(dst), err
}

package storetest

import (
	"bytes"
	"time"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

// Row is a record as a reader sees it, with its long values in place.
type Row struct {
	Connection pdpp.ConnectionID
	ID         string
	EmittedAt  time.Time
	Body       string
}

// everything is a limit that no test reaches.
const everything = 100000

// page reads one page; next is nil when there is no more.
func page(v store.View, q query.List) (rows []Row, next *query.Position, err error) {
	var last query.Position
	more, err := v.List(q, func(r *store.Record) (bool, error) {
		if len(rows) == q.Limit {
			return false, nil
		}
		body, err := whole(v, r)
		if err != nil {
			return false, err
		}
		c := q.Sources[r.Source].Connection
		rows = append(rows, Row{Connection: c, ID: string(r.ID), EmittedAt: r.EmittedAt, Body: body})
		last = query.Position{Key: bytes.Clone(r.Order), Connection: c}
		return true, nil
	})
	if more {
		next = &last
	}
	return rows, next, err
}

// whole replaces the stubs of a record by its long values, as readers do.
func whole(v store.View, r *store.Record) (string, error) {
	if bytes.IndexByte(r.Body, 0) < 0 {
		return string(r.Body), nil
	}
	var out []byte
	rest := r.Body
	for _, value := range rawjson.Members(r.Body) {
		if rawjson.KindOf(value) != rawjson.KindStub {
			continue
		}
		before, after, _ := bytes.Cut(rest, value)
		rest = after
		stub := store.ParseStub(value)
		out = stub.Quote(append(out, before...))
		err := v.Long(r.Ref, stub, 0, func(piece []byte) bool {
			out = append(out, piece...)
			return true
		})
		if err != nil {
			return "", err
		}
		out = stub.Quote(out)
	}
	return string(append(out, rest...)), nil
}

// list reads all records of a query in one page.
func (w *world) list(q query.List) []Row {
	w.Helper()
	q.Subject, q.Limit = w.subject, everything
	var rows []Row
	w.view(func(v store.View) (err error) {
		rows, _, err = page(v, q)
		return err
	})
	return rows
}

// pages reads all records of a query in pages, each in its own View.
func (w *world) pages(q query.List, size int) []Row {
	w.Helper()
	q.Subject, q.Limit = w.subject, size
	var all []Row
	for {
		var rows []Row
		var next *query.Position
		w.view(func(v store.View) (err error) {
			rows, next, err = page(v, q)
			return err
		})
		all = append(all, rows...)
		if next == nil {
			return all
		}
		if len(rows) != size {
			w.Fatalf("a page that is not the last has %d records, want %d", len(rows), size)
		}
		q.After = next
	}
}

func (w *world) count(sources ...query.Source) int64 {
	w.Helper()
	return read(w, func(v store.View) (int64, error) { return v.Count(query.List{Subject: w.subject, Sources: sources}) })
}

// get reads a record id from sources.
func (w *world) get(id string, sources ...query.Source) []Row {
	w.Helper()
	var rows []Row
	w.view(func(v store.View) error {
		q := query.Get{Subject: w.subject, Sources: sources, ID: pdpp.RecordID(id)}
		return v.Get(q, func(r *store.Record) error {
			body, err := whole(v, r)
			rows = append(rows, Row{sources[r.Source].Connection, string(r.ID), r.EmittedAt, body})
			return err
		})
	})
	return rows
}

// ids returns the record ids of rows, with the connection's letter where a test reads
// from several.
func ids(rows []Row) []string {
	out := make([]string, 0, len(rows))
	for _, r := range rows {
		out = append(out, r.ID)
	}
	return out
}

func places(rows []Row) []string {
	out := make([]string, 0, len(rows))
	for _, r := range rows {
		out = append(out, r.ID+"@"+string(r.Connection[len(r.Connection)-1:]))
	}
	return out
}

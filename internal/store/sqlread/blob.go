package sqlread

import (
	"slices"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
)

// FindBlob implements store.Blobs.
func (r *Reader) FindBlob(q query.Blob) (store.Blob, error) {
	hash, ok := q.ID.SHA256()
	if !ok {
		return store.Blob{}, store.BlobNotFound()
	}
	missing := store.BlobNotFound()
	for _, src := range q.Sources {
		s, ok, err := r.Source(q.Subject, src.Source)
		if err != nil {
			return store.Blob{}, err
		}
		if !ok {
			continue
		}
		// This is checked whether or not the blob exists, because the answer must not
		// reveal which blobs exist.
		if slices.ContainsFunc(src.Fields, func(f *pdpp.Field) bool { return s.Stale.Has(f.Name) }) {
			missing = store.ErrRebuilding(src.Stream.Name)
		}
		b, uploaded, err := r.upload(s, hash)
		if err != nil {
			return store.Blob{}, err
		}
		if !uploaded {
			continue
		}
		if found, err := r.refersIn(s, src.Fields, q.ID); err != nil || found {
			return b, err
		}
	}
	return store.Blob{}, missing
}

// upload finds the blob among those of a source's connection.
func (r *Reader) upload(s sqlgen.Source, hash string) (b store.Blob, found bool, err error) {
	err = r.first(sqlgen.Upload(r.dialect, s, hash), func(rows Rows) error {
		b, found = store.Blob{Owner: s.Subject, SHA256: hash, MediaType: rows.Text(0), Size: rows.Int(1)}, true
		return nil
	})
	return b, found, err
}

// refersIn reports whether a visible record refers to a blob in one of the fields.
func (r *Reader) refersIn(s sqlgen.Source, fields []*pdpp.Field, id pdpp.BlobID) (bool, error) {
	for _, f := range fields {
		if found, err := r.refers(s, f, id); err != nil || found {
			return found, err
		}
	}
	return false, nil
}

// refers reports whether a visible record refers to a blob in a field. The token in
// the index is a short digest, so the value of each record found by it is compared.
func (r *Reader) refers(s sqlgen.Source, f *pdpp.Field, id pdpp.BlobID) (bool, error) {
	referring, ok := sqlgen.Referring(r.dialect, s, f, id)
	if !ok {
		return false, nil
	}
	rows, err := r.conn.Query(referring)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for {
		row, err := rows.Step()
		if err != nil || !row {
			return false, err
		}
		value, _ := rawjson.Get(rows.Bytes(3), f.Name)
		if rawjson.KindOf(value) == rawjson.KindStub {
			if value, err = r.appendLong(nil, store.Ref(rows.Int(0)), store.ParseStub(value)); err != nil {
				return false, err
			}
		}
		if store.RefersTo(value, id) {
			return true, nil
		}
	}
}

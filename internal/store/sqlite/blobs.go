package sqlite

import (
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
)

const (
	findBlob = `SELECT mime_type, size_bytes FROM blobs WHERE subject = ? AND connection_id = ? AND sha256 = ?`
	putBlob  = `INSERT INTO blobs (subject, connection_id, sha256, mime_type, size_bytes, uploaded_at)
		SELECT subject, connection_id, ?, ?, ?, ? FROM connections WHERE subject = ? AND connection_id = ?
		ON CONFLICT DO UPDATE SET mime_type = excluded.mime_type, size_bytes = excluded.size_bytes,
			uploaded_at = excluded.uploaded_at, idle_since = NULL`
	hasBlob    = `SELECT 1 FROM blobs WHERE subject = ? AND sha256 = ? LIMIT 1`
	lastWrite  = `SELECT max(t) FROM (SELECT max(uploaded_at) AS t FROM blobs UNION ALL SELECT max(last_ingest) FROM bindings)`
	sweepBlobs = `SELECT subject, connection_id, sha256, uploaded_at, idle_since, size_bytes FROM blobs
		WHERE (subject, connection_id, sha256) > (?, ?, ?) ORDER BY subject, connection_id, sha256 LIMIT ?`
	noteIdle   = `UPDATE blobs SET idle_since = ? WHERE subject = ? AND connection_id = ? AND sha256 = ?`
	dropBlob   = `DELETE FROM blobs WHERE subject = ? AND connection_id = ? AND sha256 = ?`
	blobFields = `SELECT f.field FROM bindings b JOIN fields f USING (binding) WHERE b.subject = ? AND b.connection_id = ? AND f.blob`
)

// OwnerNumber implements store.Blobs.
func (t *tx) OwnerNumber(id pdpp.SubjectID) (int64, error) { return t.owner(id) }

// HasBlob implements store.Blobs.
func (t *tx) HasBlob(owner int64, sha256 string) (bool, error) {
	n, err := queryInt(t.conn, hasBlob, owner, sha256)
	return n != 0, err
}

// LastWrite implements store.Blobs.
func (t *tx) LastWrite() (time.Time, error) {
	ms, err := queryInt(t.conn, lastWrite)
	if err != nil || ms == 0 {
		return time.Time{}, err
	}
	return time.UnixMilli(ms).UTC(), nil
}

// PutBlob implements store.BlobsWriter.
func (t *tx) PutBlob(subject pdpp.SubjectID, c pdpp.ConnectionID, b store.Blob, now time.Time) error {
	owner, err := t.owner(subject)
	if err != nil {
		return err
	}
	err = t.conn.Exec(putBlob, b.SHA256, b.MediaType, b.Size, millis(now), owner, string(c))
	if err == nil && t.conn.Changes() == 0 {
		err = pdpp.Errorf(pdpp.CodeConnectionNotFound, "There is no such connection.")
	}
	return err
}

// FindBlob implements store.Blobs.
func (t *tx) FindBlob(q query.Blob) (store.Blob, error) {
	hash, ok := q.ID.SHA256()
	if !ok {
		return store.Blob{}, store.BlobNotFound()
	}
	missing := store.BlobNotFound()
	for _, src := range q.Sources {
		s, ok, err := t.source(q.Subject, src.Source)
		if err != nil {
			return store.Blob{}, err
		}
		if !ok {
			continue
		}
		// Whatever was uploaded: the answer must not tell which blobs there are.
		if slices.ContainsFunc(src.Fields, func(f *pdpp.Field) bool { return s.Stale.Has(f.Name) }) {
			missing = store.ErrRebuilding(src.Stream.Name)
		}
		b, uploaded, err := t.uploaded(s, hash)
		if err != nil {
			return store.Blob{}, err
		}
		if !uploaded {
			continue
		}
		if found, err := t.refersIn(s, src.Fields, q.ID); err != nil || found {
			return b, err
		}
	}
	return store.Blob{}, missing
}

// refersIn reports whether a visible record refers to a blob in one of the fields. What
// is not indexed yet is not found.
func (t *tx) refersIn(s sqlgen.Source, fields []*pdpp.Field, id pdpp.BlobID) (bool, error) {
	for _, f := range fields {
		if found, err := t.refers(s, f, id); err != nil || found {
			return found, err
		}
	}
	return false, nil
}

// uploaded finds the blob among those of a source's connection.
func (t *tx) uploaded(s sqlgen.Source, hash string) (store.Blob, bool, error) {
	stmt, err := t.conn.Query(findBlob, s.Subject, string(s.Connection), hash)
	if err != nil {
		return store.Blob{}, false, err
	}
	defer stmt.Close()
	row, err := stmt.Step()
	if err != nil || !row {
		return store.Blob{}, false, err
	}
	return store.Blob{Owner: s.Subject, SHA256: hash, MediaType: stmt.Text(0), Size: stmt.Int(1)}, true, nil
}

// refers reports whether a visible record refers to a blob in a field. The token
// that led to a record is a short digest, so its value is looked at.
func (t *tx) refers(s sqlgen.Source, f *pdpp.Field, id pdpp.BlobID) (bool, error) {
	referring, ok := sqlgen.Referring(dialect{}, s, f, id)
	if !ok {
		return false, nil
	}
	stmt, err := t.conn.Query(referring.SQL, referring.Args...)
	if err != nil {
		return false, err
	}
	defer stmt.Close()
	for {
		row, err := stmt.Step()
		if err != nil || !row {
			return false, err
		}
		value, _ := rawjson.Get(stmt.Bytes(3), f.Name)
		if rawjson.KindOf(value) == rawjson.KindStub {
			if value, err = t.appendLong(nil, store.Ref(stmt.Int(0)), store.ParseStub(value)); err != nil {
				return false, err
			}
		}
		if store.RefersTo(value, id) {
			return true, nil
		}
	}
}

// swept is an upload that a sweep looks at.
type swept struct {
	store.BlobPlace
	uploaded, idle, size int64
	isIdle               bool
}

// SweepBlobs implements store.BlobsWriter.
func (t *tx) SweepBlobs(s store.Sweep) (done store.Swept, err error) {
	some, err := t.someBlobs(s)
	if err != nil {
		return done, err
	}
	for i := range some {
		b := &some[i]
		dropped, err := t.sweep(s, b)
		if err != nil {
			return done, err
		}
		if !dropped {
			continue
		}
		needed, err := t.HasBlob(b.Owner, b.SHA256)
		if err != nil {
			return done, err
		}
		if !needed {
			done.Unneeded = append(done.Unneeded, store.Blob{Owner: b.Owner, SHA256: b.SHA256, Size: b.size})
		}
	}
	if len(some) == s.Limit {
		done.Next = &some[len(some)-1].BlobPlace
	}
	return done, nil
}

func (t *tx) someBlobs(s store.Sweep) ([]swept, error) {
	var from store.BlobPlace
	if s.After != nil {
		from = *s.After
	}
	stmt, err := t.conn.Query(sweepBlobs, from.Owner, string(from.Connection), from.SHA256, s.Limit)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	var out []swept
	for {
		row, err := stmt.Step()
		if err != nil || !row {
			return out, err
		}
		out = append(out, swept{
			store.BlobPlace{Owner: stmt.Int(0), Connection: pdpp.ConnectionID(stmt.Text(1)), SHA256: stmt.Text(2)},
			stmt.Int(3), stmt.Int(4), stmt.Int(5), !stmt.IsNull(4),
		})
	}
}

// sweep looks at one upload and reports whether it was forgotten.
func (t *tx) sweep(s store.Sweep, b *swept) (dropped bool, err error) {
	inUse, err := t.referred(b.BlobPlace)
	if err != nil {
		return false, err
	}
	old := millis(s.Now.Add(-s.Grace))
	switch {
	case inUse && b.isIdle:
		return false, t.conn.Exec(noteIdle, nil, b.Owner, string(b.Connection), b.SHA256)
	case inUse:
		return false, nil
	case !b.isIdle || s.Anew:
		return false, t.conn.Exec(noteIdle, millis(s.Now), b.Owner, string(b.Connection), b.SHA256)
	case b.idle <= old && b.uploaded <= old:
		return true, t.conn.Exec(dropBlob, b.Owner, string(b.Connection), b.SHA256)
	}
	return false, nil
}

// referred reports whether any record of a connection may refer to a blob, in any
// field that ever was declared to. A token that two ids share keeps both: to keep
// too much is no harm.
func (t *tx) referred(p store.BlobPlace) (bool, error) {
	fields, err := t.conn.Query(blobFields, p.Owner, string(p.Connection))
	if err != nil {
		return false, err
	}
	defer fields.Close()
	for {
		row, err := fields.Step()
		if err != nil || !row {
			return false, err
		}
		q := sqlgen.Referred(dialect{}, fields.Int(0), pdpp.BlobIDOf(p.SHA256))
		if n, err := queryInt(t.conn, q.SQL, q.Args...); err != nil || n != 0 {
			return n != 0, err
		}
	}
}

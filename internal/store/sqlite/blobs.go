package sqlite

import (
	"time"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
	"pdpp/internal/store/sqlite/engine"
)

const (
	putBlob = `INSERT INTO blobs (subject, connection_id, sha256, mime_type, size_bytes, uploaded_at)
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

// swept is an upload that a sweep checks.
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
	return all(t.conn, func(stmt *engine.Stmt) swept {
		return swept{
			store.BlobPlace{Owner: stmt.Int(0), Connection: pdpp.ConnectionID(stmt.Text(1)), SHA256: stmt.Text(2)},
			stmt.Int(3), stmt.Int(4), stmt.Int(5), !stmt.IsNull(4),
		}
	}, sweepBlobs, from.Owner, string(from.Connection), from.SHA256, s.Limit)
}

// sweep checks one upload and reports whether it removed it.
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

// referred reports whether any record of a connection may refer to a blob, in any field
// that is a blob reference. If two ids share a token, both blobs are kept, which does no
// harm.
func (t *tx) referred(p store.BlobPlace) (bool, error) {
	fields, err := all(t.conn, func(s *engine.Stmt) int64 { return s.Int(0) }, blobFields, p.Owner, string(p.Connection))
	if err != nil {
		return false, err
	}
	for _, field := range fields {
		q := sqlgen.Referred(dialect{}, field, pdpp.BlobIDOf(p.SHA256))
		if n, err := queryInt(t.conn, q.SQL, q.Args...); err != nil || n != 0 {
			return n != 0, err
		}
	}
	return false, nil
}

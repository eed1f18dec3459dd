package sqlite

import (
	"time"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

// Reads implements store.Activity.
func (t *tx) Reads(subject pdpp.SubjectID, since time.Time) ([]store.ReadCount, error) {
	owner, err := t.owner(subject)
	if err != nil {
		return nil, err
	}
	return all(t.conn, func(s *engine.Stmt) store.ReadCount {
		return store.ReadCount{
			ReadKey: store.ReadKey{
				Subject: subject, Day: store.Day(s.Int(0)), Grant: pdpp.GrantID(s.Text(1)), Package: pdpp.PackageID(s.Text(2)),
				Via: s.Text(3), Stream: s.Text(4),
			},
			Reads: s.Int(5), Records: s.Int(6), Refusals: s.Int(7),
		}
	}, `SELECT day, grant_id, package_id, via, stream, reads, records, refusals FROM reads
		WHERE subject = ? AND day >= ? ORDER BY day DESC, grant_id, package_id, via, stream`, owner, int64(store.DayOf(since)))
}

// Refusals implements store.Activity.
func (t *tx) Refusals(subject pdpp.SubjectID) ([]store.Refusal, error) {
	owner, err := t.owner(subject)
	if err != nil {
		return nil, err
	}
	return all(t.conn, func(s *engine.Stmt) store.Refusal {
		return store.Refusal{
			Subject: subject, Grant: pdpp.GrantID(s.Text(0)), Package: pdpp.PackageID(s.Text(1)),
			At: fromMillis(s.Int(2)), Via: s.Text(3), Code: pdpp.Code(s.Text(4)),
		}
	}, `SELECT grant_id, package_id, at, via, code FROM refusals WHERE subject = ? ORDER BY at DESC, grant_id, package_id`, owner)
}

// Audits implements store.Activity.
func (t *tx) Audits(subject pdpp.SubjectID, limit int) ([]store.Audit, error) {
	owner, err := t.ownerOrNone(subject)
	if err != nil {
		return nil, err
	}
	return all(t.conn, func(s *engine.Stmt) store.Audit {
		return store.Audit{
			At: fromMillis(s.Int(0)), Action: store.Action(s.Text(1)), Actor: store.Actor(s.Text(2)), Subject: subject,
			Client: pdpp.ClientID(s.Text(3)), Grant: pdpp.GrantID(s.Text(4)), Package: pdpp.PackageID(s.Text(5)), Token: pdpp.TokenID(s.Text(6)),
			Code: pdpp.Code(s.Text(7)), RequestID: s.Text(8), Address: s.Text(9), Times: s.Int(10),
		}
	}, `SELECT at, action, actor, client_id, grant_id, package_id, token_id, code, request_id, address, times FROM audits
		WHERE subject = ? ORDER BY at DESC, audit DESC LIMIT ?`, owner, limit)
}

// ownerOrNone returns the number of an owner, and 0 for "".
func (t *tx) ownerOrNone(subject pdpp.SubjectID) (int64, error) {
	if subject == "" {
		return 0, nil
	}
	return t.owner(subject)
}

// AddReads implements store.ActivityWriter.
func (t *tx) AddReads(counts []store.ReadCount) error {
	for _, c := range counts {
		owner, err := t.owner(c.Subject)
		if err != nil {
			return err
		}
		isFull, err := queryInt(t.conn, `SELECT
				NOT EXISTS (SELECT 1 FROM reads WHERE subject = ?1 AND day = ?2 AND grant_id = ?3 AND package_id = ?4 AND via = ?5 AND stream = ?6)
				AND (SELECT count(*) FROM reads WHERE subject = ?1 AND day = ?2 AND via <> ?7) >= ?8`,
			owner, int64(c.Day), string(c.Grant), string(c.Package), c.Via, c.Stream, store.ViaOther, store.MaxReadRows)
		if err != nil {
			return err
		}
		if isFull != 0 {
			c.Grant, c.Package, c.Via, c.Stream = "", "", store.ViaOther, ""
		}
		err = t.conn.Exec(`INSERT INTO reads (subject, day, grant_id, package_id, via, stream, reads, records, refusals)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET reads = reads + excluded.reads, records = records + excluded.records, refusals = refusals + excluded.refusals`,
			owner, int64(c.Day), string(c.Grant), string(c.Package), c.Via, c.Stream, c.Reads, c.Records, c.Refusals)
		if err != nil {
			return err
		}
	}
	return nil
}

// AddRefusals implements store.ActivityWriter.
func (t *tx) AddRefusals(refusals []store.Refusal) error {
	for _, r := range refusals {
		owner, err := t.owner(r.Subject)
		if err != nil {
			return err
		}
		err = t.conn.Exec(`INSERT INTO refusals (subject, grant_id, package_id, at, via, code) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET at = excluded.at, via = excluded.via, code = excluded.code WHERE excluded.at >= at`,
			owner, string(r.Grant), string(r.Package), millis(r.At), r.Via, string(r.Code))
		if err != nil {
			return err
		}
	}
	return nil
}

// AddAudit implements store.ActivityWriter.
func (t *tx) AddAudit(a store.Audit) error {
	owner, err := t.ownerOrNone(a.Subject)
	if err != nil {
		return err
	}
	day, onConflict := int64(store.DayOf(a.At)), ""
	if a.Action == store.BearerRefused {
		isFull, err := queryInt(t.conn, `SELECT
				NOT EXISTS (SELECT 1 FROM audits WHERE action = 'bearer_refused' AND subject = ?1 AND day = ?2 AND token_id = ?3 AND address = ?4 AND code = ?5)
				AND (SELECT count(*) FROM audits WHERE action = 'bearer_refused' AND subject = ?1 AND day = ?2) >= ?6`,
			owner, day, string(a.Token), a.Address, string(a.Code), store.MaxRefusedRows)
		if err != nil {
			return err
		}
		if isFull != 0 {
			a = store.Audit{At: a.At, Action: a.Action, Actor: a.Actor, Subject: a.Subject, Times: a.Times}
		}
		onConflict = ` ON CONFLICT (subject, day, token_id, address, code) WHERE action = 'bearer_refused'
			DO UPDATE SET times = times + excluded.times, at = max(at, excluded.at), request_id = excluded.request_id`
	}
	return t.conn.Exec(`INSERT INTO audits (subject, day, at, action, actor, client_id, grant_id, package_id, token_id, code, request_id, address, times)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, max(1, ?))`+onConflict,
		owner, day, millis(a.At), string(a.Action), string(a.Actor), string(a.Client), string(a.Grant), string(a.Package),
		string(a.Token), string(a.Code), a.RequestID, a.Address, a.Times)
}

// PruneActivity implements store.ActivityWriter.
func (t *tx) PruneActivity(before time.Time, limit int) (n int64, err error) {
	day := int64(store.DayOf(before))
	for _, prune := range []struct {
		sql string
		end int64
	}{
		{`DELETE FROM reads WHERE (subject, day, grant_id, package_id, via, stream) IN
			(SELECT subject, day, grant_id, package_id, via, stream FROM reads WHERE day < ? LIMIT ?)`, day},
		{`DELETE FROM audits WHERE audit IN (SELECT audit FROM audits WHERE day < ? LIMIT ?)`, day},
		{`DELETE FROM refusals WHERE (subject, grant_id, package_id) IN
			(SELECT subject, grant_id, package_id FROM refusals WHERE at < ? LIMIT ?)`, millis(store.Day(day).Time())},
	} {
		if err := t.conn.Exec(prune.sql, prune.end, limit); err != nil {
			return n, err
		}
		n += int64(t.conn.Changes())
	}
	return n, nil
}

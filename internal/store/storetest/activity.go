package storetest

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/store"
)

var activityTests = []test{
	{"H-196 reads", testReads},
	{"H-196 rows of a day", testReadRowsAreBounded},
	{"H-196 refusals", testRefusals},
	{"H-197 audit", testAudit},
	{"H-197 refused bearers", testRefusedBearers},
	{"H-197 changes", testAudited},
	{"prune", testPruneActivity},
}

// dayNo returns the n-th day of the tests' time.
func dayNo(n int) store.Day { return store.DayOf(start) + store.Day(n) }

func (w *world) readCount(d int, g pdpp.GrantID, via, stream string, n int64) store.ReadCount {
	return store.ReadCount{
		ReadKey: store.ReadKey{Subject: w.subject, Grant: g, Day: dayNo(d), Via: via, Stream: stream}, Reads: n, Records: 10 * n, Refusals: n % 2,
	}
}

func (w *world) addReads(counts ...store.ReadCount) {
	w.Helper()
	w.update(func(tx store.Tx) error { return tx.AddReads(counts) })
}

func (w *world) reads(since time.Time) []store.ReadCount {
	w.Helper()
	return read(w, func(v store.View) ([]store.ReadCount, error) { return v.Reads(w.subject, since) })
}

func testReads(t *testing.T, open Opener) {
	w := newWorld(t, open)
	other := subjectIn(t, w.store, "bea")
	refused := store.ReadCount{ReadKey: store.ReadKey{Subject: w.subject, Package: "gpkg_1", Day: dayNo(1), Via: "/mcp"}, Refusals: 1}
	w.addReads(w.readCount(0, "grt_1", "search", "", 1), w.readCount(1, "grt_1", "search", "", 2), refused)
	w.addReads(w.readCount(1, "grt_1", "search", "", 3), w.readCount(1, "grt_2", "fetch", "entries", 1), other.readCount(1, "grt_3", "search", "", 7))
	sum := w.readCount(1, "grt_1", "search", "", 5)
	want := []store.ReadCount{refused, sum, w.readCount(1, "grt_2", "fetch", "entries", 1)}
	if diff := cmp.Diff(want, w.reads(start.Add(30*time.Hour))); diff != "" {
		t.Errorf("Reads of the second day (-want +got):\n%s", diff)
	}
	want = append(want, w.readCount(0, "grt_1", "search", "", 1))
	if diff := cmp.Diff(want, w.reads(start)); diff != "" {
		t.Errorf("Reads of both days (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]store.ReadCount{other.readCount(1, "grt_3", "search", "", 7)}, other.reads(start)); diff != "" {
		t.Errorf("Reads of the other owner (-want +got):\n%s", diff)
	}
	err := w.store.View(t.Context(), func(v store.View) error {
		_, err := v.Reads("own_nobody", start)
		return err
	})
	if pdpp.CodeOf(err) != pdpp.CodeNotFound {
		t.Errorf("Reads of an unknown owner = %v, want not_found", err)
	}
}

func testReadRowsAreBounded(t *testing.T, open Opener) {
	w := newWorld(t, open)
	other := subjectIn(t, w.store, "bea")
	var counts []store.ReadCount
	for i := range store.MaxReadRows + 5 {
		counts = append(counts, w.readCount(0, pdpp.GrantID("grt_"+strconv.Itoa(i)), "search", "", 2))
	}
	w.addReads(counts...)
	w.addReads(counts[0], counts[len(counts)-1], w.readCount(1, "grt_x", "search", "", 1))
	other.addReads(other.readCount(0, "grt_y", "search", "", 1))
	got := w.reads(start)
	var total int64
	for _, c := range got {
		total += c.Reads
	}
	if want := int64(2*len(counts) + 2 + 2 + 1); len(got) != store.MaxReadRows+2 || total != want {
		t.Errorf("%d rows with %d reads, want %d with %d", len(got), total, store.MaxReadRows+2, want)
	}
	rest := w.readCount(0, "", store.ViaOther, "", 12)
	if diff := cmp.Diff(rest, got[1]); diff != "" {
		t.Errorf("the row of the rest (-want +got):\n%s", diff)
	}
	if got := other.reads(start); len(got) != 1 || got[0].Grant != "grt_y" {
		t.Errorf("another owner has %v, want a row of its own", got)
	}
}

func testRefusals(t *testing.T, open Opener) {
	w := newWorld(t, open)
	other := subjectIn(t, w.store, "bea")
	refuse := func(w *world, n int, g pdpp.GrantID, p pdpp.PackageID) store.Refusal {
		return store.Refusal{Subject: w.subject, Grant: g, Package: p, At: at(n), Via: "/mcp", Code: pdpp.CodeGrantExpired}
	}
	w.update(func(tx store.Tx) error {
		return tx.AddRefusals([]store.Refusal{
			refuse(w, 1, "grt_1", ""), refuse(w, 3, "grt_1", ""), refuse(w, 2, "grt_1", ""), refuse(w, 5, "", "gpkg_1"), refuse(other, 9, "grt_1", ""),
		})
	})
	got := read(w, func(v store.View) ([]store.Refusal, error) { return v.Refusals(w.subject) })
	if diff := cmp.Diff([]store.Refusal{refuse(w, 5, "", "gpkg_1"), refuse(w, 3, "grt_1", "")}, got); diff != "" {
		t.Errorf("Refusals (-want +got):\n%s", diff)
	}
}

func (w *world) audit(rows ...store.Audit) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		for _, a := range rows {
			if err := tx.AddAudit(a); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *world) audits(subject pdpp.SubjectID, limit int) []store.Audit {
	w.Helper()
	return read(w, func(v store.View) ([]store.Audit, error) { return v.Audits(subject, limit) })
}

func testAudit(t *testing.T, open Opener) {
	w := newWorld(t, open)
	other := subjectIn(t, w.store, "bea")
	row := func(w *world, n int) store.Audit {
		return store.Audit{
			At: at(n), Action: store.GrantCreated, Actor: store.ByOperator, Subject: w.subject, Client: "cli_1", Grant: "grt_1",
			Package: "gpkg_1", Token: "tok_1", RequestID: "req_1", Address: "192.0.2.1", Times: 1,
		}
	}
	w.audit(row(w, 1), row(w, 2), row(w, 2), row(other, 4))
	if diff := cmp.Diff([]store.Audit{row(w, 2), row(w, 2), row(w, 1)}, w.audits(w.subject, 10)); diff != "" {
		t.Errorf("Audits (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]store.Audit{row(w, 2)}, w.audits(w.subject, 1)); diff != "" {
		t.Errorf("the newest (-want +got):\n%s", diff)
	}
	if got := w.audits("", 10); len(got) != 0 {
		t.Errorf("rows of no owner: %v", got)
	}
}

func testRefusedBearers(t *testing.T, open Opener) {
	w := newWorld(t, open)
	row := func(n int, subject pdpp.SubjectID, token pdpp.TokenID, times int64) store.Audit {
		return store.Audit{
			At: at(n), Action: store.BearerRefused, Actor: store.ByClient, Subject: subject, Token: token, Code: pdpp.CodeInvalidToken,
			RequestID: "req_" + strconv.Itoa(n), Address: "192.0.2.1", Times: times,
		}
	}
	w.audit(row(1, w.subject, "tok_1", 2), row(5, w.subject, "tok_1", 3), row(6, w.subject, "tok_2", 1), row(7, "", "", 4))
	want := []store.Audit{row(6, w.subject, "tok_2", 1), row(5, w.subject, "tok_1", 5)}
	if diff := cmp.Diff(want, w.audits(w.subject, 10)); diff != "" {
		t.Errorf("refused bearers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]store.Audit{row(7, "", "", 4)}, w.audits("", 10)); diff != "" {
		t.Errorf("refused bearers of no owner (-want +got):\n%s", diff)
	}
	var many []store.Audit
	for i := range store.MaxRefusedRows + 5 {
		a := row(8, "", "", 1)
		a.Address = "192.0.2." + strconv.Itoa(1000+i)
		many = append(many, a)
	}
	w.audit(many...)
	got := w.audits("", 2*store.MaxRefusedRows)
	var total int64
	for _, a := range got {
		total += a.Times
	}
	if len(got) != store.MaxRefusedRows+1 || total != int64(len(many))+4 {
		t.Errorf("%d rows of %d refusals, want %d of %d", len(got), total, store.MaxRefusedRows+1, len(many)+4)
	}
	w.audit(store.Audit{At: at(9), Action: store.GrantRevoked, Actor: store.ByOwner, Subject: w.subject})
	if got := w.audits(w.subject, 1); got[0].Action != store.GrantRevoked {
		t.Errorf("the newest row is %v, want a change, whatever was refused before", got[0])
	}
}

func testPruneActivity(t *testing.T, open Opener) {
	w := newWorld(t, open)
	for i := range 5 {
		at := dayNo(i).Time().Add(time.Hour)
		w.addReads(w.readCount(i, "grt_1", "search", "", 1))
		w.audit(store.Audit{At: at, Action: store.GrantCreated, Actor: store.ByOperator, Subject: w.subject})
		w.update(func(tx store.Tx) error {
			return tx.AddRefusals([]store.Refusal{{Subject: w.subject, Grant: pdpp.GrantID("grt_" + strconv.Itoa(i)), At: at}})
		})
	}
	before := dayNo(3).Time().Add(20 * time.Hour) // the rows of days 0, 1 and 2
	for _, want := range []int64{6, 3, 0} {
		w.update(func(tx store.Tx) error {
			n, err := tx.PruneActivity(before, 2)
			if n != want {
				t.Errorf("PruneActivity = %d, want %d", n, want)
			}
			return err
		})
	}
	refusals := read(w, func(v store.View) ([]store.Refusal, error) { return v.Refusals(w.subject) })
	if reads, audits := w.reads(start), w.audits(w.subject, 10); len(reads) != 2 || len(audits) != 2 || len(refusals) != 2 {
		t.Errorf("%d reads, %d audit rows and %d refusals are left, want 2 of each", len(reads), len(audits), len(refusals))
	}
}

// testAudited: a change of rights in an audited transaction has a row; a change that fails
// or changes nothing has none.
func testAudited(t *testing.T, open Opener) {
	w := rightsWorld(t, open)
	by := store.Cause{Actor: store.ByOwner, RequestID: "req_1", Address: "192.0.2.1"}
	change := func(by store.Cause, fn func(store.Tx) error) {
		t.Helper()
		w.update(store.Audited(by, fn))
	}
	member := grantNo(w, "grt_3", 30)
	change(by, func(tx store.Tx) error {
		if err := tx.CreateGrant(member); err != nil {
			return err
		}
		p := store.Package{ID: "gpkg_1", Subject: w.subject, Client: tally, IssuedAt: at(31)}
		if _, err := tx.CreatePackage(p, []store.NewMember{{Grant: member.ID, Connection: connA}}); err != nil {
			return err
		}
		return tx.CreateToken(tokenNo(w, "tok_3", "grt_3"), store.HashToken("three"))
	})
	renewed := by
	renewed.Actor = store.ByClient
	change(renewed, func(tx store.Tx) error { return tx.CreateToken(tokenNo(w, "tok_4", "grt_3"), store.HashToken("four")) })
	for range 2 {
		change(by, func(tx store.Tx) error {
			if _, _, err := tx.RevokeToken(w.subject, "tok_3", at(32)); err != nil {
				return err
			}
			if _, _, _, err := tx.RevokePackage(w.subject, "gpkg_1", at(33)); err != nil {
				return err
			}
			_, _, err := tx.RevokeGrant(w.subject, "grt_1", at(34))
			return err
		})
	}
	err := w.store.Update(t.Context(), store.Audited(by, func(tx store.Tx) error {
		_, _, err := tx.RevokeGrant(w.subject, "grt_none", at(35))
		return err
	}))
	if pdpp.CodeOf(err) != pdpp.CodeNotFound {
		t.Errorf("RevokeGrant of an unknown grant = %v, want not_found", err)
	}
	row := func(n int, action store.Action, g pdpp.GrantID, p pdpp.PackageID, token pdpp.TokenID) store.Audit {
		return store.Audit{
			At: at(n), Action: action, Actor: by.Actor, Subject: w.subject, Client: tally.ID, Grant: g, Package: p, Token: token,
			RequestID: by.RequestID, Address: by.Address, Times: 1,
		}
	}
	want := []store.Audit{
		row(34, store.GrantRevoked, "grt_1", "", ""),
		row(33, store.PackageRevoked, "", "gpkg_1", ""),
		row(32, store.TokenRevoked, "grt_3", "", "tok_3"),
		row(31, store.PackageCreated, "", "gpkg_1", ""),
		row(30, store.GrantCreated, "grt_3", "", ""),
		row(3, store.TokenCreated, "grt_3", "", "tok_3"),
	}
	if diff := cmp.Diff(want, w.audits(w.subject, 100)); diff != "" {
		t.Errorf("audit rows (-want +got):\n%s", diff)
	}
}

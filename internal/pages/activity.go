package pages

import (
	"cmp"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// activity is what was read of an owner's data in the last 30 days, and the latest
// refusals (H-196).
type activity struct {
	reads    []store.ReadCount
	refusals []store.Refusal
	now      time.Time
}

func readActivity(v store.View, subject pdpp.SubjectID, now time.Time) (a activity, err error) {
	a.now = now
	if a.reads, err = v.Reads(subject, now.AddDate(0, 0, 1-chartDays)); err != nil {
		return a, err
	}
	a.refusals, err = v.Refusals(subject)
	return a, err
}

// of returns the activity of some grants and packages.
func (a activity) of(includes func(pdpp.GrantID, pdpp.PackageID) bool) activity {
	out := activity{now: a.now}
	for _, c := range a.reads {
		if includes(c.Grant, c.Package) {
			out.reads = append(out.reads, c)
		}
	}
	for _, r := range a.refusals {
		if includes(r.Grant, r.Package) {
			out.refusals = append(out.refusals, r)
		}
	}
	return out
}

// ofGrant returns the activity of one grant.
func (a activity) ofGrant(id pdpp.GrantID) activity {
	return a.of(func(g pdpp.GrantID, _ pdpp.PackageID) bool { return g == id })
}

// ofGrants returns the activity of grants and of their packages.
func (a activity) ofGrants(grants []store.Grant) activity {
	ids, packages := map[pdpp.GrantID]bool{}, map[pdpp.PackageID]bool{}
	for _, g := range grants {
		ids[g.ID] = true
		if g.Package != "" {
			packages[g.Package] = true
		}
	}
	return a.of(func(g pdpp.GrantID, p pdpp.PackageID) bool { return ids[g] || packages[p] })
}

// chart draws the reads by day; nil when there were none.
func (a activity) chart() *chart {
	byDay := map[string]int64{}
	for _, c := range a.reads {
		byDay[c.Day.String()] += c.Reads
	}
	return newChart(byDay, a.now)
}

// activityRow is a row of what a client has read.
type activityRow struct{ Day, Route, Stream, Reads, Records, Refused string }

// maxActivityRows is the number of rows that a page shows; pdpp grants activity shows all.
const maxActivityRows = 200

// rows returns the rows of a table, the newest first. more reports whether there are older
// ones.
func (a activity) rows() (rows []activityRow, more bool) {
	for _, c := range a.reads {
		if len(rows) == maxActivityRows {
			return rows, true
		}
		rows = append(rows, activityRow{
			Day: day(c.Day.Time(), ""), Route: c.Via, Stream: cmp.Or(clean(c.Stream, nameLength), "—"),
			Reads: thousands(c.Reads), Records: thousands(c.Records), Refused: thousands(c.Refusals),
		})
	}
	return rows, false
}

// latestRefusal describes the latest refusal; "" when there was none.
func (a activity) latestRefusal() string {
	if len(a.refusals) == 0 {
		return ""
	}
	r := a.refusals[0]
	reason, ok := refusalTexts[r.Code]
	if !ok {
		reason = string(r.Code)
	}
	return moment(r.At, "") + ", by " + r.Via + ": " + reason
}

var refusalTexts = map[pdpp.Code]string{
	pdpp.CodeGrantRevoked:      "you had revoked the access",
	pdpp.CodeGrantExpired:      "the access had ended",
	pdpp.CodeGrantInvalid:      "the stored access is not valid",
	pdpp.CodeStreamNotAllowed:  "it asked for data that it may not read",
	pdpp.CodeFieldNotGranted:   "it asked for a field that it may not read",
	pdpp.CodeInsufficientScope: "it asked for more than it may read",
	pdpp.CodePermission:        "it tried something that only you may do",
	pdpp.CodeInvalidToken:      "its token is for another address",
}

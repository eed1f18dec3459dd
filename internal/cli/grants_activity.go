package cli

import (
	"context"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// grantsActivity is `pdpp grants activity` (H-189).
type grantsActivity struct {
	ID   string `arg:"" optional:"" help:"Grant (grt_…) or package (gpkg_…); without it, all of them."`
	Days int    `default:"30" placeholder:"N" help:"Days to show, today included, at most 400 (default: ${default})."`
	jsonFlag
}

// activityAnswer is the object of H-189.
type activityAnswer struct {
	Since    string        `json:"since"`
	Activity []activityRow `json:"activity"`
	Refusals []refusalRow  `json:"refusals"`
}

type activityRow struct {
	Day       string  `json:"day"`
	GrantID   *string `json:"grant_id"`
	PackageID *string `json:"package_id"`
	Client    *string `json:"client"`
	Via       string  `json:"via"`
	Stream    *string `json:"stream"`
	Reads     int64   `json:"reads"`
	Records   int64   `json:"records"`
	Refusals  int64   `json:"refusals"`
}

type refusalRow struct {
	GrantID   *string   `json:"grant_id"`
	PackageID *string   `json:"package_id"`
	Client    *string   `json:"client"`
	At        string    `json:"at"`
	Via       string    `json:"via"`
	Code      pdpp.Code `json:"code"`
}

// grantActivity is what was read and refused, with the names of clients by the id of
// their grants and packages.
type grantActivity struct {
	reads    []store.ReadCount
	refusals []store.Refusal
	clients  map[string]string
}

const maxActivityDays = int(store.KeepActivity / day)

// Run implements the command.
func (c *grantsActivity) Run(ctx context.Context, a *app) error {
	if c.Days < 1 || c.Days > maxActivityDays {
		return pdpp.Errorf(pdpp.CodeUsage, "--days does not accept %d: write a number from 1 to %d.", c.Days, maxActivityDays)
	}
	since := a.Now().UTC().AddDate(0, 0, 1-c.Days)
	return a.withExistingOwner(ctx, func(s session) error {
		var found grantActivity
		err := s.store.View(ctx, func(v store.View) (err error) {
			found, err = c.find(v, s.owner.ID, since)
			return err
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return a.printJSON(found.answer(since))
		}
		return a.print(found.text(since))
	})
}

// find reads the activity of the owner's grants, or of the one that is named.
func (c *grantsActivity) find(v store.View, owner pdpp.SubjectID, since time.Time) (found grantActivity, err error) {
	if found.clients, err = clientsByRight(v, owner); err != nil {
		return found, err
	}
	if _, ok := found.clients[c.ID]; c.ID != "" && !ok {
		return found, pdpp.Errorf(pdpp.CodeNotFound, "There is no grant or package %s. To list them, run: pdpp grants list --status all", c.ID)
	}
	reads, err := v.Reads(owner, since)
	if err != nil {
		return found, err
	}
	for _, r := range reads {
		if c.includes(r.Grant, r.Package) {
			found.reads = append(found.reads, r)
		}
	}
	refusals, err := v.Refusals(owner)
	for _, r := range refusals {
		if c.includes(r.Grant, r.Package) {
			found.refusals = append(found.refusals, r)
		}
	}
	return found, err
}

func (c *grantsActivity) includes(g pdpp.GrantID, p pdpp.PackageID) bool {
	return c.ID == "" || c.ID == rightID(g, p)
}

// rightID returns the id of a grant, or of a package without one.
func rightID(g pdpp.GrantID, p pdpp.PackageID) string {
	if g != "" {
		return string(g)
	}
	return string(p)
}

// clientsByRight returns the names of clients by the ids of their grants and packages.
func clientsByRight(v store.View, owner pdpp.SubjectID) (map[string]string, error) {
	names := map[string]string{}
	grants, err := v.Grants(owner, store.GrantFilter{})
	if err != nil {
		return nil, err
	}
	for _, g := range grants {
		names[string(g.ID)] = g.Client.Name
	}
	packages, err := v.Packages(owner)
	for _, p := range packages {
		names[string(p.ID)] = p.Client.Name
	}
	return names, err
}

func (f grantActivity) answer(since time.Time) activityAnswer {
	out := activityAnswer{Since: store.DayOf(since).String(), Activity: []activityRow{}, Refusals: []refusalRow{}}
	for _, r := range f.reads {
		out.Activity = append(out.Activity, activityRow{
			Day: r.Day.String(), GrantID: orNull(string(r.Grant)), PackageID: orNull(string(r.Package)), Client: orNull(f.clients[rightID(r.Grant, r.Package)]),
			Via: r.Via, Stream: orNull(r.Stream), Reads: r.Reads, Records: r.Records, Refusals: r.Refusals,
		})
	}
	for _, r := range f.refusals {
		out.Refusals = append(out.Refusals, refusalRow{
			GrantID: orNull(string(r.Grant)), PackageID: orNull(string(r.Package)), Client: orNull(f.clients[rightID(r.Grant, r.Package)]),
			At: pdpp.FormatTime(r.At), Via: r.Via, Code: r.Code,
		})
	}
	return out
}

func (f grantActivity) text(since time.Time) string {
	var b strings.Builder
	if len(f.reads) == 0 {
		b.WriteString("Nothing was read since " + store.DayOf(since).String() + ".\n")
	} else {
		rows := [][]string{{"DAY", "CLIENT", "GRANT", "BY", "STREAM", "READS", "RECORDS", "REFUSED"}}
		for _, r := range f.reads {
			id := rightID(r.Grant, r.Package)
			rows = append(rows, []string{
				r.Day.String(), f.clients[id], id, r.Via, r.Stream, thousands(r.Reads), thousands(r.Records), thousands(r.Refusals),
			})
		}
		b.WriteString(table(rows...))
	}
	if len(f.refusals) > 0 {
		rows := [][]string{{"LATEST REFUSAL", "CLIENT", "GRANT", "BY", "CODE"}}
		for _, r := range f.refusals {
			id := rightID(r.Grant, r.Package)
			rows = append(rows, []string{when(r.At, ""), f.clients[id], id, r.Via, string(r.Code)})
		}
		b.WriteString("\n" + table(rows...))
	}
	return b.String()
}

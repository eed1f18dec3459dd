package activity

import (
	"maps"
	"slices"
	"sync"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// maxPending is the number of keys of reads, and of refused bearers, that are counted
// separately between two writes. Further ones are counted together, for each owner.
const maxPending = 4096

// counts collects what was read and refused since the last write.
type counts struct {
	mu       sync.Mutex
	reads    map[store.ReadKey]*store.ReadCount
	refusals map[right]store.Refusal // no more than there are grants and packages
	bearers  map[bearer]*store.Audit
}

// right is a grant or a package.
type right struct {
	grant pdpp.GrantID
	pack  pdpp.PackageID
}

// bearer says which refused bearers are counted together.
type bearer struct {
	subject pdpp.SubjectID
	day     store.Day
	token   pdpp.TokenID
	address string
	code    pdpp.Code
}

func newCounts() counts {
	return counts{
		reads: map[store.ReadKey]*store.ReadCount{}, refusals: map[right]store.Refusal{}, bearers: map[bearer]*store.Audit{},
	}
}

// isFull reports whether further keys are counted together.
func (c *counts) isFull() bool { return len(c.reads) >= maxPending || len(c.bearers) >= maxPending }

// row returns the count of a key.
func (c *counts) row(k store.ReadKey) *store.ReadCount {
	row := c.reads[k]
	if row == nil && len(c.reads) >= maxPending {
		k = store.ReadKey{Subject: k.Subject, Day: k.Day, Via: store.ViaOther}
		row = c.reads[k]
	}
	if row == nil {
		row = &store.ReadCount{ReadKey: k}
		c.reads[k] = row
	}
	return row
}

// read counts one read and the records that it returned.
func (c *counts) read(t *Tally, day store.Day) {
	k := t.Key
	k.Day = day
	row := c.row(k)
	row.Reads++
	for stream, n := range t.streams() {
		if stream == t.Key.Stream {
			row.Records += n
			continue
		}
		k.Stream = stream
		c.row(k).Records += n
	}
}

// refuse counts one refusal.
func (c *counts) refuse(k store.ReadKey, code pdpp.Code, now time.Time) {
	k.Day = store.DayOf(now)
	c.row(k).Refusals++
	c.latest(store.Refusal{Subject: k.Subject, Grant: k.Grant, Package: k.Package, At: now, Via: k.Via, Code: code})
}

// latest keeps the later one of two refusals.
func (c *counts) latest(r store.Refusal) {
	of := right{r.Grant, r.Package}
	if !c.refusals[of].At.After(r.At) {
		c.refusals[of] = r
	}
}

// refuseBearer counts refusals of one bearer.
func (c *counts) refuseBearer(a store.Audit) {
	k := bearer{a.Subject, store.DayOf(a.At), a.Token, a.Address, a.Code}
	row := c.bearers[k]
	if row == nil && len(c.bearers) >= maxPending {
		a = store.Audit{At: a.At, Action: a.Action, Actor: a.Actor, Subject: a.Subject, Times: a.Times}
		k = bearer{subject: k.subject, day: k.day}
		row = c.bearers[k]
	}
	if row == nil {
		c.bearers[k] = &a
		return
	}
	a.Times += row.Times
	if row.At.After(a.At) {
		a.At = row.At
	}
	*row = a
}

// batch is what is written together.
type batch struct {
	uses     map[store.Use]time.Time
	reads    []store.ReadCount
	refusals []store.Refusal
	bearers  []store.Audit
}

func (b *batch) isEmpty() bool {
	return len(b.uses) == 0 && len(b.reads) == 0 && len(b.refusals) == 0 && len(b.bearers) == 0
}

// take moves what was counted into b.
func (c *counts) take(b *batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, row := range c.reads {
		b.reads = append(b.reads, *row)
	}
	for _, a := range c.bearers {
		b.bearers = append(b.bearers, *a)
	}
	b.refusals = slices.Collect(maps.Values(c.refusals))
	clear(c.reads)
	clear(c.refusals)
	clear(c.bearers)
}

// putBack adds a batch whose write failed to what was counted since.
func (c *counts) putBack(b *batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, add := range b.reads {
		row := c.row(add.ReadKey)
		row.Reads += add.Reads
		row.Records += add.Records
		row.Refusals += add.Refusals
	}
	for _, r := range b.refusals {
		c.latest(r)
	}
	for _, a := range b.bearers {
		c.refuseBearer(a)
	}
}

// write stores a batch.
func (b *batch) write(tx store.Tx) error {
	if len(b.uses) > 0 {
		if err := tx.TouchTokens(b.uses); err != nil {
			return err
		}
	}
	if len(b.reads) > 0 {
		if err := tx.AddReads(b.reads); err != nil {
			return err
		}
	}
	if len(b.refusals) > 0 {
		if err := tx.AddRefusals(b.refusals); err != nil {
			return err
		}
	}
	for _, a := range b.bearers {
		if err := tx.AddAudit(a); err != nil {
			return err
		}
	}
	return nil
}

package consent

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/grant"
)

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkOffer checks that an offer contains nothing outside the request and the catalog.
func checkOffer(t failer, o *Offer, r *Request, c *pdpp.Catalog) {
	t.Helper()
	next := 1
	for _, source := range o.Sources {
		conn, ok := c.Connection(source.Connection)
		if !ok || conn.Status != "active" || conn.Connector != source.ConnectorKey || len(source.Streams) == 0 {
			t.Fatalf("source %+v is not an active connection", source)
		}
		m := c.Manifest(source.ConnectorKey)
		for _, s := range source.Streams {
			if s.N != next {
				t.Fatalf("stream %s has number %d, want %d", s.Name, s.N, next)
			}
			next++
			if !slices.ContainsFunc(r.Entries, func(e Entry) bool { return covers(e, m, source.Connection, s) }) {
				t.Fatalf("%+v of %s was not requested: %+v", s, source.Connection, r.Entries)
			}
		}
	}
}

// covers reports whether an entry requests all of an offered stream.
func covers(e Entry, m *pdpp.Manifest, id pdpp.ConnectionID, s Stream) bool {
	if e.SourceID != "" && e.SourceID != m.SourceID || e.ConnectorKey != "" && e.ConnectorKey != m.ConnectorKey {
		return false
	}
	return slices.ContainsFunc(e.Streams, func(spec grant.SpecStream) bool {
		if spec.Name != s.Name && spec.Name != grant.AllStreams || spec.InstanceIDs != nil && !slices.Contains(spec.InstanceIDs, id) {
			return false
		}
		declared := m.Stream(s.Name)
		allowed := spec.Fields
		if spec.View != "" {
			v, _ := declared.View(spec.View)
			allowed = v.Fields
		}
		for _, f := range s.Fields {
			asked := allowed == nil || slices.Contains(allowed, f.Name)
			if declared.Field(f.Name) == nil || !asked && !f.Key || f.Key != slices.Contains(declared.PrimaryKey, f.Name) {
				return false
			}
		}
		return s.Since.Equal(spec.Since) && s.Until.Equal(spec.Until) && slices.Equal(s.Resources, spec.Resources)
	})
}

// checkDecision checks that a decision contains nothing outside the offer and the choice.
func checkDecision(t failer, d *Decision, o *Offer, ch Choice) {
	t.Helper()
	seen := map[pdpp.ConnectionID]bool{}
	count := 0
	for _, g := range d.Grants {
		if len(g.Connections()) > 1 && len(d.Grants) > 1 || g.PurposeCode != o.Purpose || g.ID != "" {
			t.Fatalf("grant over %v for %s", g.Connections(), g.PurposeCode)
		}
		for _, id := range g.Connections() {
			if seen[id] {
				t.Fatalf("connection %s is in two grants", id)
			}
			seen[id] = true
		}
		for _, gs := range g.Streams {
			for _, id := range gs.Connections {
				checkStream(t, id, gs, o, ch)
				count++
			}
		}
	}
	if count != len(ch.Streams) {
		t.Fatalf("%d streams are granted, %d were chosen", count, len(ch.Streams))
	}
}

// checkStream checks one granted stream of one connection.
func checkStream(t failer, id pdpp.ConnectionID, gs pdpp.GrantStream, o *Offer, ch Choice) {
	t.Helper()
	for _, source := range o.Sources {
		for _, s := range source.Streams {
			i := slices.IndexFunc(ch.Streams, func(c StreamChoice) bool { return c.N == s.N })
			if source.Connection != id || s.Name != gs.Name || i < 0 {
				continue
			}
			chosen := ch.Streams[i]
			for _, name := range gs.Fields {
				f := slices.IndexFunc(s.Fields, func(f Field) bool { return f.Name == name })
				if f < 0 || len(chosen.Fields) > 0 && !slices.Contains(chosen.Fields, name) && !s.Fields[f].Key {
					t.Fatalf("field %s of %s was not offered or not chosen", name, gs.Name)
				}
			}
			var since, until time.Time
			if gs.Time != nil {
				since, until = gs.Time.Since, gs.Time.Until
			}
			if since.Before(s.Since) || since.Before(chosen.Since) || later(until, s.Until) || later(until, chosen.Until) {
				t.Fatalf("granted %v to %v; offered %v to %v; chosen %v to %v", since, until, s.Since, s.Until, chosen.Since, chosen.Until)
			}
			if !slices.Equal(gs.Resources, s.Resources) {
				t.Fatalf("records %v, offered %v", gs.Resources, s.Resources)
			}
			return
		}
	}
	t.Fatalf("%s of %s was not offered or not chosen", gs.Name, id)
}

// later reports whether an end is after another; zero is never.
func later(a, b time.Time) bool { return !b.IsZero() && (a.IsZero() || a.After(b)) }

func subset[T comparable](t *rapid.T, label string, of []T) []T {
	return rapid.SliceOfDistinct(rapid.SampledFrom(of), rapid.ID[T]).Draw(t, label)
}

func year(t *rapid.T, label string) time.Time {
	return date(rapid.IntRange(2020, 2028).Draw(t, label))
}

// drawRequest returns a request that is often valid and often asks for missing things.
func drawRequest(t *rapid.T) string {
	var entries []map[string]any
	for range rapid.IntRange(1, 3).Draw(t, "entries") {
		var streams []map[string]any
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"messages", "contacts", "drafts"}), 1, 3, rapid.ID[string]).Draw(t, "streams") {
			streams = append(streams, drawStream(t, name))
		}
		if rapid.IntRange(0, 3).Draw(t, "all streams") == 0 {
			streams = []map[string]any{{"name": "*"}}
		}
		source := rapid.SampledFrom([]map[string]any{
			{"connector_key": "mail"}, {"id": "https://reg.acme.test/c/mail"}, {"connector_key": "chat"}, {"connector_key": "post"},
		}).Draw(t, "source")
		entries = append(entries, map[string]any{"type": "https://pdpp.dev/data-access", "source": source, "streams": streams})
	}
	text, err := json.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func drawStream(t *rapid.T, name string) map[string]any {
	out := map[string]any{"name": name}
	switch rapid.IntRange(0, 3).Draw(t, "narrow") {
	case 0:
		if fields := subset(t, "fields", []string{"box", "subject", "body", "sent_at", "id", "name", "text"}); len(fields) > 0 {
			out["fields"] = fields
		}
	case 1:
		out["view"] = rapid.SampledFrom([]string{"brief", "ids"}).Draw(t, "view")
	}
	if ids := subset(t, "connections", []string{"cin_home", "cin_work", "cin_old", "cin_chat"}); len(ids) > 0 {
		out["instance_ids"] = ids
	}
	if rapid.Bool().Draw(t, "dates") {
		out["time_range"] = map[string]any{rapid.SampledFrom([]string{"since", "until"}).Draw(t, "bound"): year(t, "year")}
	}
	if rapid.IntRange(0, 3).Draw(t, "records") == 0 {
		out["resources"] = []string{"m1", "m2"}
	}
	return out
}

// drawChoice returns a choice, of which some parts are outside the offer.
func drawChoice(t *rapid.T, o *Offer) Choice {
	total := 0
	for _, source := range o.Sources {
		total += len(source.Streams)
	}
	ch := Choice{
		Duration: rapid.SampledFrom([]Duration{DurationOnce, Duration30d, DurationForever, DurationDate}).Draw(t, "duration"),
		Until:    year(t, "until date"),
		Replace:  subset(t, "replace", []string{"grt_1", "gpkg_1"}),
	}
	ns := rapid.SliceOfDistinct(rapid.IntRange(1, max(1, total)), rapid.ID[int]).Draw(t, "ticked")
	if rapid.IntRange(0, 9).Draw(t, "forged") == 0 {
		ns = append(ns, total+1)
	}
	for _, n := range ns {
		s := StreamChoice{N: n}
		if rapid.IntRange(0, 2).Draw(t, "fields chosen") == 0 {
			s.Fields = subset(t, "fields", []string{"box", "subject", "body", "sent_at", "id", "name", "text"})
		}
		if rapid.IntRange(0, 2).Draw(t, "since chosen") == 0 {
			s.Since = year(t, "since")
		}
		if rapid.IntRange(0, 2).Draw(t, "until chosen") == 0 {
			s.Until = year(t, "until")
		}
		ch.Streams = append(ch.Streams, s)
	}
	return ch
}

// drawOffer returns an offer for everything or for a random request.
func drawOffer(t *rapid.T, c *pdpp.Catalog) *Offer {
	if rapid.IntRange(0, 3).Draw(t, "without request") == 0 {
		return NewOffer(nil, c)
	}
	r, err := ParseRequest([]byte(drawRequest(t)))
	if err != nil {
		t.Skip(err)
	}
	o := NewOffer(r, c)
	checkOffer(t, o, r, c)
	return o
}

func TestH147DecisionsAreWithinTheOffer(t *testing.T) {
	c := catalog(t)
	rapid.Check(t, func(t *rapid.T) {
		o := drawOffer(t, c)
		ch := drawChoice(t, o)
		d, faults := o.Decide(ch, c, issue())
		if d == nil {
			checkFaults(t, faults, o)
			return
		}
		if len(faults) > 0 {
			t.Fatalf("Decide = %v, %v", d, faults)
		}
		checkDecision(t, d, o, ch)
		for _, g := range d.Grants {
			g.ID = "grt_1"
			back, err := grant.ParseDocument(grant.Document(g), g.ConnectorKey)
			if err != nil {
				t.Fatalf("the grant cannot be parsed: %v", err)
			}
			if diff := cmp.Diff(g, back); diff != "" {
				t.Fatalf("round trip (-want +got):\n%s", diff)
			}
		}
	})
}

// checkFaults checks that every fault names a control of the form.
func checkFaults(t *rapid.T, faults []Fault, o *Offer) {
	if len(faults) == 0 {
		t.Fatalf("neither a decision nor a fault")
	}
	for _, f := range faults {
		kind, n, numbered := strings.Cut(f.Control, ".")
		if f.Message == "" || numbered != slices.Contains([]string{"field", "since", "until"}, kind) {
			t.Fatalf("fault %+v", f)
		}
		i, err := strconv.Atoi(n)
		if numbered && (err != nil || !slices.ContainsFunc(o.Sources, func(s Source) bool {
			return slices.ContainsFunc(s.Streams, func(s Stream) bool { return s.N == i })
		})) {
			t.Fatalf("fault %+v is not about the offer", f)
		}
	}
}

// substance returns what a digest covers.
func substance(d *Decision) *Decision {
	out := *d
	out.Grants = nil
	for _, g := range d.Grants {
		plain := *g
		plain.ID, plain.IssuedAt, plain.ExpiresAt = "", time.Time{}, time.Time{}
		out.Grants = append(out.Grants, &plain)
	}
	if len(out.Replace) == 0 {
		out.Replace = nil
	}
	return &out
}

func TestH183DigestChangesWithTheDecision(t *testing.T) {
	c := catalog(t)
	changed := withManifest(t, `"declaration_version": "3"`, `"declaration_version": "4"`)
	rapid.Check(t, func(t *rapid.T) {
		o := NewOffer(nil, c)
		draw := func() *Decision {
			in := issue()
			in.Now = now.Add(time.Duration(rapid.IntRange(0, 1000).Draw(t, "minutes")) * time.Minute)
			with := rapid.SampledFrom([]*pdpp.Catalog{c, c, c, changed}).Draw(t, "catalog")
			ch := Choice{Duration: rapid.SampledFrom([]Duration{Duration7d, DurationForever, DurationDate}).Draw(t, "duration"), Until: date(2030)}
			ch.Streams = rapid.Permutation([]StreamChoice{{N: 1, Fields: subset(t, "fields", []string{"subject", "body"})}, {N: 3}}).Draw(t, "streams")
			if rapid.Bool().Draw(t, "replaces") {
				ch.Replace = []string{"grt_1"}
			}
			d, faults := o.Decide(ch, with, in)
			if d == nil {
				t.Fatalf("Decide(%+v): %v", ch, faults)
			}
			if rapid.Bool().Draw(t, "has id") {
				d.Grants[0].ID = "grt_7"
			}
			return d
		}
		a, b := draw(), draw()
		same := cmp.Equal(substance(a), substance(b))
		if (a.Digest() == b.Digest()) != same {
			t.Fatalf("digests %s, %s; the decisions are equal: %v", a.Digest(), b.Digest(), same)
		}
	})
}

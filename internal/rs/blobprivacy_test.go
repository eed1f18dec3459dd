package rs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/store"
)

// gallery is a model of a store: random records that refer to blobs, random uploads and a
// random grant. Contents, ids and connections are few, so that they coincide often.
type gallery struct {
	records []galleryRecord
	uploads map[[2]string]string // connection and content to media type
	grants  []galleryGrant
}

type galleryRecord struct {
	conn, stream, id string
	day              int
	refs             map[string][]string // contents by field
}

type galleryGrant struct {
	stream       string
	fields       []string
	conns        []string
	since, until int // days; 0: not limited
	resources    []string
}

var (
	galleryConns    = []string{"cin_g0", "cin_g1", "cin_g2"}
	galleryStreams  = []string{"prints", "albums"}
	galleryFields   = []string{"one", "many"}
	galleryContents = []string{"content a", "content b", "content c"}
)

func drawSubset(t *rapid.T, name string, from []string) []string {
	var out []string
	for _, s := range from {
		if rapid.Bool().Draw(t, name+" "+s) {
			out = append(out, s)
		}
	}
	return out
}

func drawGallery(t *rapid.T) *gallery {
	g := &gallery{uploads: map[[2]string]string{}}
	for range rapid.IntRange(1, 8).Draw(t, "records") {
		r := galleryRecord{
			conn: rapid.SampledFrom(galleryConns).Draw(t, "connection"), stream: rapid.SampledFrom(galleryStreams).Draw(t, "stream"),
			id: rapid.SampledFrom([]string{"r1", "r2", "r3"}).Draw(t, "id"), day: rapid.IntRange(1, 9).Draw(t, "day"), refs: map[string][]string{},
		}
		r.refs["one"] = rapid.SliceOfN(rapid.SampledFrom(galleryContents), 0, 1).Draw(t, "one")
		r.refs["many"] = drawSubset(t, "many", galleryContents)
		g.records = slices.DeleteFunc(g.records, func(o galleryRecord) bool { return o.conn == r.conn && o.stream == r.stream && o.id == r.id })
		g.records = append(g.records, r)
	}
	for _, conn := range galleryConns {
		for _, content := range drawSubset(t, "upload", galleryContents) {
			g.uploads[[2]string{conn, content}] = rapid.SampledFrom([]string{"image/png", "text/html"}).Draw(t, "type")
		}
	}
	for i, stream := range galleryStreams {
		if i > 0 && rapid.Bool().Draw(t, "one stream") {
			continue
		}
		s := galleryGrant{stream: stream, fields: drawSubset(t, "field", galleryFields), conns: drawSubset(t, "on", galleryConns)}
		if len(s.conns) == 0 {
			s.conns = galleryConns[:1]
		}
		if rapid.Bool().Draw(t, "in time") {
			s.since = rapid.IntRange(1, 5).Draw(t, "since")
			s.until = s.since + rapid.IntRange(1, 5).Draw(t, "days")
		}
		if rapid.Bool().Draw(t, "by id") {
			s.resources = append(drawSubset(t, "resource", []string{"r1", "r2", "r3"}), "r9")
		}
		g.grants = append(g.grants, s)
	}
	return g
}

func galleryDay(n int) string { return fmt.Sprintf("2026-02-%02dT00:00:00Z", n) }

func (g *gallery) spec() string {
	var streams []string
	for _, s := range g.grants {
		part := fmt.Sprintf(`{"name":%q,"fields":%s,"instance_ids":%s`, s.stream, jsonOf(append([]string{"id"}, s.fields...)), jsonOf(s.conns))
		if s.since != 0 {
			part += fmt.Sprintf(`,"time_range":{"since":%q,"until":%q}`, galleryDay(s.since), galleryDay(s.until))
		}
		if s.resources != nil {
			part += `,"resources":` + jsonOf(s.resources)
		}
		streams = append(streams, part+"}")
	}
	return `{"source":{"connector_key":"gallery"},"streams":[` + strings.Join(streams, ",") + `]}`
}

func (g *gallery) grantOf(stream string) *galleryGrant {
	for i := range g.grants {
		if g.grants[i].stream == stream {
			return &g.grants[i]
		}
	}
	return nil
}

// sees reports whether a record is visible, independently of the product code.
func (s *galleryGrant) sees(r galleryRecord) bool {
	return s != nil && slices.Contains(s.conns, r.conn) && (s.since == 0 || s.since <= r.day && r.day < s.until) &&
		(s.resources == nil || slices.Contains(s.resources, r.id))
}

// refersTo reports whether a visible record of a connection refers to a content in a granted
// field, as B-2 says.
func (g *gallery) refersTo(conn, content string) bool {
	for _, r := range g.records {
		s := g.grantOf(r.stream)
		if r.conn != conn || !s.sees(r) {
			continue
		}
		for _, f := range s.fields {
			if slices.Contains(r.refs[f], content) {
				return true
			}
		}
	}
	return false
}

// readableThrough returns the connections through which a content is readable. conn selects
// one of them unless it is "".
func (g *gallery) readableThrough(content, conn string) (through []string) {
	for _, c := range galleryConns {
		_, uploaded := g.uploads[[2]string{c, content}]
		if uploaded && (conn == "" || c == conn) && g.refersTo(c, content) {
			through = append(through, c)
		}
	}
	return through
}

// lean returns the gallery without what is outside the grant.
func (g *gallery) lean() *gallery {
	out := &gallery{uploads: map[[2]string]string{}, grants: g.grants}
	for _, r := range g.records {
		s := g.grantOf(r.stream)
		if !s.sees(r) {
			continue
		}
		refs := map[string][]string{}
		for _, f := range s.fields {
			refs[f] = r.refs[f]
		}
		r.refs = refs
		out.records = append(out.records, r)
	}
	for key, kind := range g.uploads {
		if g.refersTo(key[0], key[1]) {
			out.uploads[key] = kind
		}
	}
	return out
}

const galleryManifest = `{"protocol_version":"0.1.0","declaration_version":"1","source":{"kind":"connector","id":"https://reg.test/c/gallery"},
	"streams":[{"name":"prints",REST},{"name":"albums",REST}]}`

const galleryStream = `"semantics":"mutable_state","primary_key":["id"],"consent_time_field":"at","selection":{"fields":true,"resources":true},
	"schema":{"type":"object","properties":{"id":{"type":"string"},"at":{"type":"string","format":"date-time"},
	"one":{"type":["object","null"],"required":["blob_id"],"properties":{"blob_id":{"type":"string"}}},
	"many":{"type":"array","items":{"type":"object","required":["blob_id"],"properties":{"blob_id":{"type":"string"}}}}}}`

// populate stores a gallery under a new owner of a world.
func (g *gallery) populate(w *resttest.World, name string) *resttest.World {
	w.T.Helper()
	mine := w.As(w.Owner(name))
	mine.Manifest(strings.ReplaceAll(galleryManifest, "REST", galleryStream))
	for _, c := range galleryConns {
		mine.Connect("gallery", c, "")
	}
	mine.Update(func(tx store.Tx) error { return g.upload(tx, mine) })
	lines := map[[2]string][]string{}
	for _, r := range g.records {
		members := fmt.Sprintf(`"at":%q`, galleryDay(r.day))
		var many []string
		for _, content := range r.refs["many"] {
			many = append(many, blobRef(content, "x/y"))
		}
		if one := r.refs["one"]; len(one) > 0 {
			members += `,"one":` + blobRef(one[0], "x/y")
		}
		to := [2]string{r.conn, r.stream}
		lines[to] = append(lines[to], item(r.id, members+`,"many":[`+strings.Join(many, ",")+`]`))
	}
	for to, batch := range lines {
		mine.Ingest(to[0], to[1], batch...)
	}
	return mine
}

// upload stores all blobs in one transaction, because uploads over HTTP are slow.
func (g *gallery) upload(tx store.Tx, w *resttest.World) error {
	number, err := tx.OwnerNumber(w.Subject)
	if err != nil {
		return err
	}
	put := map[string]bool{}
	for key, kind := range g.uploads {
		conn, content := pdpp.ConnectionID(key[0]), key[1]
		err := tx.PutBlob(w.Subject, conn, store.Blob{SHA256: hashOf(content), Size: int64(len(content)), MediaType: kind}, w.Now())
		if err == nil && !put[content] {
			_, err = w.Blobs.Put(w.T.Context(), number, strings.NewReader(content), 1<<20)
		}
		if err != nil {
			return err
		}
		put[content] = true
	}
	return nil
}

// TestBlobAccessDependsOnGrantOnly: no byte of an answer about a blob depends on records,
// fields, streams, connections, uploads and owners outside the grant. Granted blobs are
// readable (B-2, B-4, REC-30).
func TestBlobAccessDependsOnGrantOnly(t *testing.T) {
	t.Parallel()
	full, lean := resttest.New(t), resttest.New(t)
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		g := drawGallery(rt)
		a, b := g.populate(full, fmt.Sprint("mine ", run)), g.lean().populate(lean, fmt.Sprint("mine ", run))
		drawGallery(rt).populate(full, fmt.Sprint("theirs ", run))
		tokA, tokB := first(a.Grant(g.spec())), first(b.Grant(g.spec()))
		for _, content := range append(slices.Clone(galleryContents), "unknown") {
			for _, conn := range []string{"", rapid.SampledFrom(append([]string{"cin_none"}, galleryConns...)).Draw(rt, "selected")} {
				target := "/v1/blobs/" + blobOf(content)
				if conn != "" {
					target += "?connection_id=" + conn
				}
				got, want := readBlob(rt, a, tokA, target), readBlob(rt, b, tokB, target)
				if diff := cmp.Diff(want, got); diff != "" {
					rt.Fatalf("%s under %s (-lean +full):\n%s", target, g.spec(), diff)
				}
				g.checkServed(rt, a.Get(tokA, target), content, conn)
			}
		}
	})
}

// readBlob reads a blob by several requests and returns all answers.
func readBlob(t *rapid.T, w *resttest.World, tok, target string) (out []string) {
	for _, how := range [][]string{
		{"GET"}, {"HEAD"}, {"GET", "Range: bytes=2-4"}, {"GET", "Range: bytes=99-"}, {"GET", "If-None-Match: *"},
	} {
		a := w.Do(how[0], tok, target, "", append([]string{fixedID}, how[1:]...)...)
		a.Header.Del("Date")
		out = append(out, fmt.Sprint(how, a.Status, a.Header, string(a.Body)))
	}
	return out
}

func (g *gallery) checkServed(t *rapid.T, a resttest.Answer, content, conn string) {
	through := g.readableThrough(content, conn)
	if len(through) == 0 {
		if a.Status != 404 {
			t.Fatalf("%q on %q: status %d under %s, want 404", content, conn, a.Status, g.spec())
		}
		return
	}
	kinds := []string{}
	for _, c := range through {
		kinds = append(kinds, g.uploads[[2]string{c, content}])
	}
	if a.Status != 200 || string(a.Body) != content || !slices.Contains(kinds, a.Header.Get("Content-Type")) {
		t.Fatalf("%q on %q: %d %v %q under %s, want the content through %v", content, conn, a.Status, a.Header, a.Body, g.spec(), through)
	}
}

// TestExpiredGrantEndsBlobAccess tests C-18 for blobs.
func TestExpiredGrantEndsBlobAccess(t *testing.T) {
	w, _ := album(t)
	tok := first(w.Grant(strings.Replace(cabinetGrant, `{"source"`, `{"expires_at":"2026-05-01T09:00:00Z","source"`, 1)))
	w.Get(tok, pictureURL).OK()
	w.Advance(time.Hour)
	refused(t, w.Get(tok, pictureURL), refusal{status: 403, code: "grant_expired"})
}

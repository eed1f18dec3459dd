package storetest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

var blobTests = []test{
	{"through a record", testBlobThroughRecord},
	{"of every shape", testBlobShapes},
	{"in a long list", testBlobInLongList},
	{"in the granted fields alone", testBlobFields},
	{"within time and resources", testBlobVisibility},
	{"of the record's connection", testBlobConnection},
	{"of two subjects", testBlobSubjects},
	{"uploaded again", testBlobAgain},
	{"after another declaration", testBlobReindex},
	{"B-2 before records are indexed anew", testBlobBeforeReindex},
	{"sweep", testSweep},
	{"sweep spares what is referred to", testSweepSpares},
	{"sweep in steps", testSweepSteps},
	{"B-9 sweep names the contents that nobody needs", testSweepUnneeded},
	{"B-9 sweep begins anew", testSweepAnew},
	{"B-9 last write", testLastWrite},
}

// photos declares blob references besides entries' fields.
func photos() decl { return entries().with("scan blob").with("pages blobs") }

func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

func blobOf(content string) pdpp.BlobID { return pdpp.BlobIDOf(hashOf(content)) }

// ref returns a blob reference to a content.
func ref(content string) string { return fmt.Sprintf(`{"blob_id":%q,"n":1}`, blobOf(content)) }

func (w *world) upload(c pdpp.ConnectionID, content string, n int) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		return tx.PutBlob(w.subject, c, store.Blob{SHA256: hashOf(content), MediaType: "text/plain", Size: int64(len(content))}, at(n))
	})
}

// in returns a source of entries with the fields that may refer to blobs.
func (w *world) in(c pdpp.ConnectionID, fields ...string) query.BlobSource {
	w.Helper()
	s := query.BlobSource{Source: w.from(c, "entries")}
	for _, name := range fields {
		s.Fields = append(s.Fields, s.Stream.Field(name))
	}
	return s
}

// findBlob finds a blob through sources; the zero Blob when there is none.
func (w *world) findBlob(content string, sources ...query.BlobSource) (b store.Blob) {
	w.Helper()
	w.view(func(v store.View) (err error) {
		b, err = v.FindBlob(query.Blob{Subject: w.subject, Sources: sources, ID: blobOf(content)})
		if pdpp.CodeOf(err) == pdpp.CodeBlobNotFound {
			b, err = store.Blob{}, nil
		}
		return err
	})
	return b
}

// reaches checks whether a blob is found.
func (w *world) reaches(when, content string, want bool, sources ...query.BlobSource) {
	w.Helper()
	b := w.findBlob(content, sources...)
	if got := b != (store.Blob{}); got != want {
		w.Errorf("%s: blob %q found %v, want %v", when, content, got, want)
	}
}

func testBlobThroughRecord(t *testing.T, open Opener) {
	w := newWorld(t, open, photos())
	src := w.in(connA, "scan")
	w.upload(connA, "one", 0)
	w.reaches("no record", "one", false, src)
	w.ingest(connA, put("a", `{"scan":`+ref("one")+`}`, 1))
	owner := read(w, func(v store.View) (int64, error) { return v.OwnerNumber(w.subject) })
	want := store.Blob{Owner: owner, SHA256: hashOf("one"), MediaType: "text/plain", Size: 3}
	if got := w.findBlob("one", src); got != want || owner <= 0 {
		t.Errorf("FindBlob = %+v, want %+v", got, want)
	}
	w.ingest(connA, put("b", `{"scan":`+ref("never uploaded")+`}`, 1))
	w.reaches("not uploaded", "never uploaded", false, src)
	w.ingest(connA, put("a", `{"scan":`+ref("two")+`}`, 2))
	w.reaches("changed", "one", false, src)
	w.upload(connA, "two", 0)
	w.reaches("uploaded after its record", "two", true, src)
	w.ingest(connA, drop("a", 3))
	w.reaches("deleted", "two", false, src)
	w.view(func(v store.View) error {
		for _, id := range []pdpp.BlobID{"", "blob_1", pdpp.BlobID(hashOf("two")), blobOf("two") + "0"} {
			if _, err := v.FindBlob(query.Blob{Subject: w.subject, Sources: []query.BlobSource{src}, ID: id}); pdpp.CodeOf(err) != pdpp.CodeBlobNotFound {
				t.Errorf("FindBlob(%q) = %v, want %s", id, err, pdpp.CodeBlobNotFound)
			}
		}
		return nil
	})
}

// testBlobShapes: one reference or a list, whatever was declared (M-9); nothing
// else is a reference.
func testBlobShapes(t *testing.T, open Opener) {
	w := newWorld(t, open, photos())
	w.upload(connA, "one", 0)
	r := ref("one")
	for value, want := range map[string]bool{
		r: true, `[` + r + `]`: true, `[null,{},7,` + r + `,` + r + `]`: true,
		strings.Replace(r, `"blob_id"`, `"\u0062lob_id"`, 1): true, strings.Replace(r, `:"blob`, `:"\u0062lob`, 1): true,
		`null`: false, `[]`: false, `"` + string(blobOf("one")) + `"`: false, `[[` + r + `]]`: false, `{"inner":` + r + `}`: false,
		`{"blob_id":["` + string(blobOf("one")) + `"]}`: false, strings.ToUpper(r): false,
	} {
		for _, field := range []string{"scan", "pages"} {
			w.ingest(connA, put("a", `{"`+field+`":`+value+`,"tags":[`+r+`]}`, 1))
			w.reaches(field+" "+value, "one", want, w.in(connA, field))
			w.ingest(connA, drop("a", 2))
			w.reaches(field+" "+value+" deleted", "one", false, w.in(connA, field))
		}
	}
}

// testBlobInLongList: a list of references may be stored in pieces.
func testBlobInLongList(t *testing.T, open Opener) {
	w := newWorld(t, open, photos())
	var refs []string
	for i := range 400 {
		refs = append(refs, ref(fmt.Sprint("page ", i)))
	}
	list := `{"memo":"m","pages":[` + strings.Join(refs, ",") + `],"scan":` + ref("scan") + `}`
	if len(list) <= store.LongValue {
		t.Fatalf("a list of %d bytes is not long", len(list))
	}
	w.ingest(connA, put("a", list, 1))
	src := w.in(connA, "pages")
	for _, content := range []string{"page 0", "page 399", "scan"} {
		w.upload(connA, content, 0)
		w.reaches("long list", content, content != "scan", src)
	}
	w.ingest(connA, put("a", strings.Replace(list, ref("page 399")+"]", ref("other")+"]", 1), 2))
	w.reaches("long list changed", "page 399", false, src)
	w.reaches("long list changed", "page 0", true, src)
}

func testBlobFields(t *testing.T, open Opener) {
	w := newWorld(t, open, photos())
	w.upload(connA, "one", 0)
	w.ingest(connA, put("a", `{"scan":`+ref("one")+`,"pages":[]}`, 1))
	w.reaches("its field", "one", true, w.in(connA, "pages", "scan"))
	w.reaches("another field", "one", false, w.in(connA, "pages"))
	w.reaches("no field", "one", false, w.in(connA))
	w.reaches("no source", "one", false)
	// No blob is found through a field that is not a blob reference.
	w.ingest(connA, put("a", `{"tags":[`+ref("one")+`],"memo":"`+string(blobOf("one"))+`"}`, 2))
	w.reaches("undeclared reference", "one", false, w.in(connA, "pages", "scan", "tags", "memo"))
}

// testBlobVisibility: no blob is found through a record outside the grant's time or
// resources (REC-28, REC-29).
func testBlobVisibility(t *testing.T, open Opener) {
	w := newWorld(t, open, photos())
	w.upload(connA, "one", 0)
	w.ingest(connA, put("a", `{"scan":`+ref("one")+`,"posted_at":"2026-02-01","due":"2026-02-01","seen_at":"2026-02-01"}`, 1))
	for _, field := range []string{"posted_at", "due", "seen_at", "gone"} {
		for _, c := range []struct {
			since, until time.Time
			want         bool
		}{
			{day(2, 1), time.Time{}, true}, {day(2, 2), time.Time{}, false}, {time.Time{}, day(2, 1), false}, {day(1, 1), day(2, 2), true},
		} {
			src := w.in(connA, "scan")
			src.Time = &pdpp.TimeConstraint{Field: field, Since: c.since, Until: c.until}
			w.reaches(fmt.Sprint(field, c.since, c.until), "one", c.want && field != "gone", src)
		}
	}
	for _, c := range []struct {
		resources []pdpp.RecordID
		want      bool
	}{{nil, true}, {[]pdpp.RecordID{}, false}, {[]pdpp.RecordID{"b"}, false}, {[]pdpp.RecordID{"b", "a"}, true}} {
		src := w.in(connA, "scan")
		src.Resources = c.resources
		w.reaches(fmt.Sprint(c.resources), "one", c.want, src)
	}
}

// testBlobConnection: an upload belongs to a connection (B-9); it is not found through a
// record of another one.
func testBlobConnection(t *testing.T, open Opener) {
	w := newWorld(t, open, photos())
	a, b := w.in(connA, "scan"), w.in(connB, "scan")
	w.upload(connA, "one", 0)
	w.ingest(connB, put("b", `{"scan":`+ref("one")+`}`, 1))
	w.reaches("uploaded for another", "one", false, a, b)
	w.upload(connB, "one", 0)
	w.reaches("uploaded for both", "one", true, a, b)
	w.reaches("out of scope", "one", false, a)
	err := w.store.Update(t.Context(), func(tx store.Tx) error {
		return tx.PutBlob(w.subject, "cin_nowhere", store.Blob{SHA256: hashOf("one")}, at(0))
	})
	if pdpp.CodeOf(err) != pdpp.CodeConnectionNotFound {
		t.Errorf("PutBlob for no connection = %v, want %s", err, pdpp.CodeConnectionNotFound)
	}
}

// testBlobSubjects: the same connection ids and the same content (C-21).
func testBlobSubjects(t *testing.T, open Opener) {
	ann := newWorld(t, open, photos())
	bea := subjectIn(t, ann.store, "bea", photos())
	ann.upload(connA, "one", 0)
	ann.ingest(connA, put("a", `{"scan":`+ref("one")+`}`, 1))
	bea.ingest(connA, put("a", `{"scan":`+ref("one")+`}`, 1))
	ann.reaches("ann", "one", true, ann.in(connA, "scan"))
	bea.reaches("bea", "one", false, bea.in(connA, "scan"))
	numbers := map[*world]int64{}
	for _, w := range []*world{ann, bea} {
		w.view(func(v store.View) (err error) { numbers[w], err = v.OwnerNumber(w.subject); return err })
	}
	ann.view(func(v store.View) error {
		for w, want := range map[*world]bool{ann: true, bea: false} {
			if got, err := v.HasBlob(numbers[w], hashOf("one")); err != nil || got != want {
				t.Errorf("HasBlob of %d = %v, %v, want %v", numbers[w], got, err, want)
			}
		}
		return nil
	})
}

// testBlobAgain: the last upload determines the type.
func testBlobAgain(t *testing.T, open Opener) {
	w := newWorld(t, open, photos())
	w.ingest(connA, put("a", `{"scan":`+ref("one")+`}`, 1))
	for i, kind := range []string{"text/plain", "image/png", "image/png"} {
		w.update(func(tx store.Tx) error {
			return tx.PutBlob(w.subject, connA, store.Blob{SHA256: hashOf("one"), MediaType: kind, Size: 3}, at(i))
		})
		if got := w.findBlob("one", w.in(connA, "scan")); got.MediaType != kind || got.Size != 3 {
			t.Errorf("upload %d: %+v, want %s", i, got, kind)
		}
	}
}

// testBlobReindex: references follow the declaration of their field (M-11).
func testBlobReindex(t *testing.T, open Opener) {
	w := newWorld(t, open, entries().with("scan object"))
	w.upload(connA, "one", 0)
	w.ingest(connA, put("a", `{"scan":`+ref("one")+`}`, 1))
	w.reaches("an object", "one", false, w.in(connA, "scan"))
	w.declare(photos())
	w.reaches("declared as a reference", "one", true, w.in(connA, "scan"))
	w.declare(entries().with("scan blobs"))
	w.reaches("declared as a list", "one", true, w.in(connA, "scan"))
	w.declare(entries().with("scan object"))
	w.declare(photos())
	w.ingest(connA, drop("a", 2))
	w.reaches("deleted", "one", false, w.in(connA, "scan"))
	w.ingest(connA, put("b", `{"scan":null}`, 3))
	w.reaches("another record", "one", false, w.in(connA, "scan"))
}

// testBlobBeforeReindex: while references are re-indexed, no answer reveals blobs other
// than those that a visible record refers to.
func testBlobBeforeReindex(t *testing.T, open Opener) {
	w := newWorld(t, open, photos())
	w.upload(connA, "shown", 0)
	w.upload(connA, "hidden", 0)
	w.ingest(connA, put("a", `{"pages":[`+ref("shown")+`],"tags":[`+ref("hidden")+`]}`, 1))
	w.declareOnly(photos().with("tags blobs"))
	src := w.in(connA, "pages", "tags")
	w.reaches("in a field that was indexed", "shown", true, src)
	for _, content := range []string{"hidden", "never uploaded"} {
		err := w.store.View(t.Context(), func(v store.View) error {
			_, err := v.FindBlob(query.Blob{Subject: w.subject, Sources: []query.BlobSource{src}, ID: blobOf(content)})
			return err
		})
		rebuilding(t, content, err)
	}
	w.reaches("in other fields", "never uploaded", false, w.in(connA, "pages"))
}

// sweep checks all uploads, n seconds after the start.
func (w *world) sweep(n int) (unneeded []store.Blob) {
	w.Helper()
	return w.sweepAs(store.Sweep{Limit: 1000, Now: at(n), Grace: 100 * time.Second})
}

func (w *world) sweepAs(s store.Sweep) (unneeded []store.Blob) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		swept, err := tx.SweepBlobs(s)
		if swept.Next != nil {
			w.Errorf("a sweep of few uploads continues at %+v", *swept.Next)
		}
		unneeded = swept.Unneeded
		return err
	})
	return unneeded
}

// kept checks whether there is an upload for any connection.
func (w *world) kept(when, content string, want bool) {
	w.Helper()
	w.view(func(v store.View) error {
		owner, err := v.OwnerNumber(w.subject)
		if err != nil {
			return err
		}
		got, err := v.HasBlob(owner, hashOf(content))
		if got != want {
			w.Errorf("%s: blob %q kept %v, want %v", when, content, got, want)
		}
		return err
	})
}

// testSweep: an upload is removed when nothing referred to it for the whole time (B-9).
func testSweep(t *testing.T, open Opener) {
	w := newWorld(t, open, photos())
	w.upload(connA, "one", 0)
	w.sweep(500)
	w.kept("seen for the first time", "one", true)
	w.sweep(599)
	w.kept("before its time", "one", true)
	w.upload(connA, "one", 599)
	w.sweep(600)
	w.sweep(699)
	w.kept("uploaded again", "one", true)
	w.sweep(700)
	w.kept("at its time", "one", false)
}

func testSweepSpares(t *testing.T, open Opener) {
	w := newWorld(t, open, photos())
	w.upload(connA, "one", 0)
	w.upload(connB, "one", 0)
	w.ingest(connA, put("a", `{"pages":[`+ref("other")+`,`+ref("one")+`]}`, 1))
	for n := 0; n <= 1000; n += 100 {
		w.sweep(n)
	}
	w.reaches("referred to", "one", true, w.in(connA, "pages"))
	w.ingest(connB, put("b", `{"scan":`+ref("one")+`}`, 1))
	w.reaches("of the connection that did not refer to it", "one", false, w.in(connB, "scan"))
	w.ingest(connA, drop("a", 2))
	w.sweep(1100)
	w.ingest(connA, put("c", `{"scan":`+ref("one")+`}`, 3))
	w.sweep(1150)
	w.ingest(connA, drop("c", 4))
	w.sweep(1200)
	w.kept("referred to in between", "one", true)
	w.declare(decl{name: "others", fields: []string{"id string"}})
	w.sweep(1299)
	w.kept("before its time", "one", true)
	w.sweep(1300)
	w.kept("at its time", "one", false)
	w.declare(photos())
	w.upload(connA, "kept", 0)
	w.ingest(connA, put("d", `{"scan":`+ref("kept")+`}`, 5))
	w.declare(decl{name: "others", fields: []string{"id string"}})
	w.sweep(1300)
	w.sweep(1400)
	w.kept("of a stream that may be declared again", "kept", true)
}

// testSweepSteps: steps together see every upload of every subject once.
func testSweepSteps(t *testing.T, open Opener) {
	ann := newWorld(t, open, photos())
	bea := subjectIn(t, ann.store, "bea", photos())
	for i := range 5 {
		content := fmt.Sprint("blob ", i)
		ann.upload(connA, content, 0)
		ann.upload(connB, content, 0)
		bea.upload(connA, content, 0)
	}
	for _, n := range []int{0, 100} {
		steps := 0
		for after := (*store.BlobPlace)(nil); ; {
			ann.update(func(tx store.Tx) error {
				swept, err := tx.SweepBlobs(store.Sweep{After: after, Limit: 2, Now: at(n), Grace: 100 * time.Second})
				after = swept.Next
				return err
			})
			if steps++; after == nil || steps > 100 {
				break
			}
		}
		if steps != 8 {
			t.Errorf("%d steps of 2 for 15 uploads", steps)
		}
	}
	for i := range 5 {
		for _, w := range []*world{ann, bea} {
			w.kept("after both", fmt.Sprint("blob ", i), false)
		}
	}
}

// testSweepUnneeded: content is returned once, when its last upload is removed.
func testSweepUnneeded(t *testing.T, open Opener) {
	w := newWorld(t, open, photos())
	w.upload(connA, "one", 0)
	w.upload(connB, "one", 50)
	for n, want := range map[int]int{0: 0, 100: 0} {
		if got := w.sweep(n); len(got) != want {
			t.Errorf("sweep at %d: %v is not needed", n, got)
		}
	}
	got := w.sweep(200)
	if len(got) != 1 || got[0].SHA256 != hashOf("one") || got[0].Size != 3 || got[0].Owner == 0 {
		t.Errorf("with the last upload: %+v is not needed", got)
	}
	if got := w.sweep(300); len(got) != 0 {
		t.Errorf("afterwards: %v is not needed", got)
	}
}

// testSweepAnew: earlier marks do not count after a sweep with Anew.
func testSweepAnew(t *testing.T, open Opener) {
	w := newWorld(t, open, photos())
	w.upload(connA, "one", 0)
	w.sweep(0)
	w.sweepAs(store.Sweep{Limit: 1000, Now: at(500), Grace: 100 * time.Second, Anew: true})
	w.sweep(599)
	w.kept("marked again", "one", true)
	w.sweep(600)
	w.kept("at its time", "one", false)
}

// testLastWrite: the latest of uploads and ingests.
func testLastWrite(t *testing.T, open Opener) {
	w := newWorld(t, open, photos())
	last := func(want time.Time) {
		t.Helper()
		w.view(func(v store.View) error {
			got, err := v.LastWrite()
			if !got.Equal(want) {
				t.Errorf("LastWrite = %v, want %v", got, want)
			}
			return err
		})
	}
	last(time.Time{})
	w.upload(connA, "one", 7)
	last(at(7))
	w.upload(connB, "two", 3)
	last(at(7))
}

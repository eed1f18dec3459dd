package rs_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExpand(t *testing.T) {
	w := filledCabinet(t)
	tok, _ := w.Grant(cabinetGrant)
	const detail = "/v1/streams/items/records/tie?connection_id=cin_c1&fields=id&"

	t.Run("REC-26 the complete expansion", func(t *testing.T) {
		want := `{"notes":{"object":"list","has_more":true,"url":"/v1/streams/notes/records?filter[item_id]=tie&connection_id=cin_c1","data":[
			{"object":"record","id":"n3","stream":"notes","data":{"id":"n3","item_id":"tie","text":"third","written_at":"2026-02-03T00:00:00Z"},
			 "emitted_at":"2026-05-01T08:00:00.000Z","connection_id":"cin_c1","connector_key":"cabinet","display_name":"Left drawer"},
			{"object":"record","id":"n2","stream":"notes","data":{"id":"n2","item_id":"tie","text":"second","written_at":"2026-02-02T00:00:00Z"},
			 "emitted_at":"2026-05-01T08:00:00.000Z","connection_id":"cin_c1","connector_key":"cabinet","display_name":"Left drawer"}]},
			"cover":{"object":"record","id":"cv2","stream":"covers","data":{"id":"cv2","item_id":"tie","color":"blue"},
			 "emitted_at":"2026-05-01T08:00:00.000Z","connection_id":"cin_c1","connector_key":"cabinet","display_name":"Left drawer"}}`
		sameJSON(t, w.Get(tok, detail+"expand=notes,cover").OK().At("expanded"), want)
		sameJSON(t, w.Get(tok, "/v1/streams/items/records?connection_id=cin_c1&filter[id]=tie&expand=notes&expand=cover").OK().At("data.0.expanded"), want)
	})
	t.Run("REC-26 no expansion without expand", func(t *testing.T) {
		if a := w.Get(tok, detail).OK(); strings.Contains(string(a.Body), "expanded") {
			t.Errorf("the record has an expansion: %s", a.Body)
		}
	})
	t.Run("REC-26 children of the parent's connection only", func(t *testing.T) {
		a := w.Get(tok, "/v1/streams/items/records/tie?connection_id=cin_c2&expand=notes,cover").OK()
		sameJSON(t, a.At("expanded.cover"), "null")
		sameJSON(t, a.At("expanded.notes.data.0.id"), `"n9"`)
		sameJSON(t, a.At("expanded.notes.data.1"), "null")
	})
	t.Run("REC-26 the url lists all children", func(t *testing.T) {
		awkward := "a/b c:d?e#f%"
		w.Ingest("cin_c1", "notes", note("n5", awkward, "x", "2026-02-01T00:00:00Z"), note("n6", awkward, "y", "2026-02-02T00:00:00Z"), note("n7", awkward, "z", "2026-02-03T00:00:00Z"))
		for id, want := range map[string][]string{awkward: {"n7", "n6", "n5"}, "tie": {"n3", "n2", "n1"}, "null": nil} {
			a := w.Get(tok, "/v1/streams/items/records/"+url.PathEscape(id)+"?connection_id=cin_c1&expand=notes").OK()
			sameIDs(t, w.Get(tok, a.At("expanded.notes.url").(string)), want...)
		}
	})
	t.Run("REC-26 integer keys", func(t *testing.T) {
		a := w.Get(tok, "/v1/streams/ticks/records/10?expand=marks").OK()
		sameJSON(t, a.At("expanded.marks.data.0.id"), `"m2"`)
		sameJSON(t, a.At("expanded.marks.data.1.id"), `"m1"`)
		sameIDs(t, w.Get(tok, a.At("expanded.marks.url").(string)), "m2", "m1")
	})
	t.Run("REC-26 long parent ids", func(t *testing.T) {
		long := strings.Repeat("k", 510)
		w.Ingest("cin_c1", "items", item(long+"1", ""), item(long+"2", ""))
		w.Ingest("cin_c1", "notes", note("k1", long+"1", "one", "2026-01-01T00:00:00Z"), note("k2", long+"2", "two", "2026-01-01T00:00:00Z"))
		a := w.Get(tok, "/v1/streams/items/records/"+long+"2?expand=notes").OK()
		sameJSON(t, a.At("expanded.notes.data.0.id"), `"k2"`)
		sameJSON(t, a.At("expanded.notes.data.1"), "null")
	})
	t.Run("REC-24 expand_limit", func(t *testing.T) {
		for limit, want := range map[string]struct {
			ids  []string
			more bool
		}{"1": {[]string{"n3"}, true}, "3": {[]string{"n3", "n2", "n1"}, false}, "4": {[]string{"n3", "n2", "n1"}, false}} {
			a := w.Get(tok, detail+"expand=notes&expand_limit[notes]="+limit).OK()
			var got []string
			for i := range a.At("expanded.notes.data").([]any) {
				got = append(got, a.At(fmt.Sprintf("expanded.notes.data.%d.id", i)).(string))
			}
			if diff := cmp.Diff(want.ids, got); diff != "" || a.At("expanded.notes.has_more") != want.more {
				t.Errorf("limit %s: has_more %v, children differ (-want +got):\n%s", limit, a.At("expanded.notes.has_more"), diff)
			}
		}
	})
	for _, test := range []struct{ rule, query, param string }{
		{"REC-24 limit above the maximum", "expand=notes&expand_limit[notes]=5", "expand_limit"},
		{"REC-24 limit zero", "expand=notes&expand_limit[notes]=0", "expand_limit"},
		{"REC-24 limit is not an integer", "expand=notes&expand_limit[notes]=two", "expand_limit"},
		{"REC-24 empty limit", "expand=notes&expand_limit[notes]=", "expand_limit"},
		{"REC-24 limit given twice", "expand=notes&expand_limit[notes]=1&expand_limit[notes]=1", "expand_limit"},
		{"REC-24 limit of a relation that is not expanded", "expand=notes&expand_limit[cover]=1", "expand_limit"},
		{"REC-24 limit of a has_one relation", "expand=cover&expand_limit[cover]=1", "expand_limit"},
		{"REC-24 limit without expand", "expand_limit[notes]=1", "expand_limit"},
		{"REC-24 limit without a relation", "expand=notes&expand_limit=1", "expand_limit"},
		{"REC-23 at most eight relations", "expand=a,b,c,d,e,f,g,h,i", "expand"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			refused(t, w.Get(tok, detail+test.query), refusal{status: 400, code: "invalid_expand", param: test.param})
			refused(t, w.Get(tok, "/v1/streams/items/records?"+test.query), refusal{status: 400, code: "invalid_expand", param: test.param})
		})
	}
	t.Run("REC-25 relations that are undeclared, nested or not expandable", func(t *testing.T) {
		for _, relation := range []string{"nope", "notes.item", "hidden", "items", "Notes"} {
			a := w.Get(tok, detail+"expand="+relation)
			if a.Status != 400 || a.Code() != "invalid_expand" || a.At("error.param") != "expand" {
				t.Errorf("%s: want invalid_expand: %s", relation, a.Body)
			}
		}
	})
	t.Run("REC-25 ungranted relations", func(t *testing.T) {
		for _, streams := range []string{`{"name":"items"}`, `{"name":"items"},{"name":"notes","fields":["text"]}`} {
			narrow, _ := w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[` + streams + `]}`)
			for _, path := range []string{detail, "/v1/streams/items/records?"} {
				a := w.Get(narrow, path+"expand=notes")
				refused(t, a, refusal{status: 403, code: "insufficient_scope", param: "expand", stream: "notes"})
				if a.At("error.needs_broader_grant") != true {
					t.Errorf("needs_broader_grant is missing: %s", a.Body)
				}
			}
		}
	})
}

// TestExpandGrants: children are visible under the grant of their own stream (REC-26).
func TestExpandGrants(t *testing.T) {
	w := filledCabinet(t)
	const detail = "/v1/streams/items/records/tie?connection_id=cin_c1&fields=id&expand=notes"
	for _, test := range []struct{ rule, child, want string }{
		{"limited fields", `"fields":["item_id"]`, `[{"id":"n3","item_id":"tie"},{"id":"n2","item_id":"tie"}]`},
		{"limited time", `"fields":["item_id","text"],"time_range":{"until":"2026-02-03T00:00:00Z"}`, `[{"id":"n2","item_id":"tie","text":"second"},{"id":"n1","item_id":"tie","text":"first"}]`},
		{"limited resources", `"fields":["item_id"],"resources":["n1","n4"]`, `[{"id":"n1","item_id":"tie"}]`},
	} {
		t.Run("REC-26 REC-30 "+test.rule, func(t *testing.T) {
			tok, _ := w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items"},{"name":"notes",` + test.child + `}]}`)
			a := w.Get(tok, detail).OK()
			got := []any{}
			for i := range a.At("expanded.notes.data").([]any) {
				got = append(got, a.At(fmt.Sprintf("expanded.notes.data.%d.data", i)))
			}
			sameJSON(t, got, test.want)
		})
	}
	t.Run("REC-26 an ungranted cursor field does not order children", func(t *testing.T) {
		tok, _ := w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items"},{"name":"notes","fields":["item_id"]}]}`)
		w.Ingest("cin_c1", "notes", note("n0", "tie", "late", "2027-01-01T00:00:00Z"))
		sameJSON(t, w.Get(tok, detail).OK().At("expanded.notes.data.0.id"), `"n3"`)
		sameJSON(t, w.Get(w.OwnerToken(), detail).OK().At("expanded.notes.data.0.id"), `"n0"`)
	})
	t.Run("REC-26 child stream not granted on the parent's connection", func(t *testing.T) {
		tok, _ := w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items"},{"name":"notes","connections":["cin_c2"]},{"name":"covers","connections":["cin_c2"]}]}`)
		a := w.Get(tok, detail+",cover").OK()
		sameJSON(t, a.At("expanded"), `{"notes":{"object":"list","data":[],"has_more":false,"url":"/v1/streams/notes/records?filter[item_id]=tie&connection_id=cin_c1"},"cover":null}`)
		codes := map[any]int{}
		for i := range a.At("meta.warnings").([]any) {
			codes[a.At(fmt.Sprintf("meta.warnings.%d.code", i))]++
		}
		if diff := cmp.Diff(map[any]int{"source_skipped_not_applicable": 2}, codes); diff != "" {
			t.Errorf("warnings differ (-want +got):\n%s", diff)
		}
		list := w.Get(tok, "/v1/streams/items/records?expand=notes").OK()
		if n := len(list.At("meta.warnings").([]any)); n != 1 {
			t.Errorf("C-32 %d warnings, want 1, because equal warnings are merged", n)
		}
	})
	t.Run("REC-26 a compound parent id", func(t *testing.T) {
		m := strings.Replace(testManifest(t, "testdata/cabinet.json"), `"primary_key": ["account", "month"], `, `"primary_key": ["account", "month"],
			"relationships": [{"name": "notes", "stream": "notes", "foreign_key": "item_id", "cardinality": "has_many"}], "query": {"expand": [{"name": "notes"}]}, `, 1)
		w.Manifest(m)
		w.Ingest("cin_c1", "notes", `{"key":"nc","data":{"id":"nc","item_id":"[\"acc_1\",\"2026-04\"]"}}`)
		a := w.Get(w.OwnerToken(), "/v1/streams/balances/records/"+url.PathEscape(`["acc_1","2026-04"]`)+"?expand=notes").OK()
		sameJSON(t, a.At("expanded.notes.data.0.id"), `"nc"`)
		sameIDs(t, w.Get(w.OwnerToken(), a.At("expanded.notes.url").(string)), "nc")
	})
}

// TestPageSizeBoundsChildren: the page size also limits expanded children (REC-26).
func TestPageSizeBoundsChildren(t *testing.T) {
	w := ledger(t)
	for i := range 20 {
		w.Ingest("cin_a1", "receipts", fmt.Sprintf(`{"key":"big%d","data":{"id":"big%d","entry_id":"ent_31","tags":[%q]}}`, i, i, strings.Repeat("x", 2000)))
	}
	tok := first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries"},{"name":"receipts"}]}`))
	a := w.Get(tok, entriesPath+"?filter[id]=ent_31&expand=receipts&expand_limit[receipts]=20", "Prefer: pdpp-page-bytes=4096").OK()
	children, _ := a.At("data.0.expanded.receipts.data").([]any)
	if len(children) == 0 || len(children) > 4 || a.At("data.0.expanded.receipts.has_more") != true {
		t.Errorf("%d children, has_more %v, want 1 to 4 and true", len(children), a.At("data.0.expanded.receipts.has_more"))
	}
	whole := w.Get(tok, entriesPath+"?filter[id]=ent_31&expand=receipts&expand_limit[receipts]=50").OK()
	if children, _ := whole.At("data.0.expanded.receipts.data").([]any); len(children) != 21 {
		t.Errorf("%d children without page size, want 21", len(children))
	}
}

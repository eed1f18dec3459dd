package rs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/rs/resttest"
)

func TestListBody(t *testing.T) {
	w := ledger(t)
	tok, _ := w.Grant(ledgerGrant)
	t.Run("REC-1 REC-5 REC-6 C-29 a complete list", func(t *testing.T) {
		sameJSON(t, w.Get(tok, "/v1/streams/entries/records").OK().JSON(), `{"object":"list","data":[
			{"object":"record","id":"ent_31","stream":"entries","data":{"id":"ent_31","memo":"April rent","posted_at":"2026-04-30T09:00:00Z"},
			 "emitted_at":"2026-05-01T08:00:00.000Z","connection_id":"cin_a1","connector_key":"ledgerly","display_name":"Joint account"},
			{"object":"record","id":"ent_29","stream":"entries","data":{"id":"ent_29","memo":null,"posted_at":"2026-04-01T09:00:00Z"},
			 "emitted_at":"2026-05-01T08:00:00.000Z","connection_id":"cin_b2","connector_key":"ledgerly"},
			{"object":"record","id":"ent_30","stream":"entries","data":{"id":"ent_30","memo":"March rent","posted_at":"2026-03-30T09:00:00Z"},
			 "emitted_at":"2026-05-01T08:00:00.000Z","connection_id":"cin_a1","connector_key":"ledgerly","display_name":"Joint account"}],
			"has_more":false,"url":"/v1/streams/entries/records","links":{"self":"/v1/streams/entries/records","next":null},
			"meta":{"count":{"kind":"none"},"warnings":[],"presentation":{"ledgerly/entries":{"label":"Your ledger","time_field":"posted_at",
				"primary_key":["id"],"roles":{"primary-title":["memo"],"event-time":["posted_at"]}}}}}`)
	})
	t.Run("C-29 an empty list", func(t *testing.T) {
		a := w.Get(tok, "/v1/streams/entries/records?filter[memo]=none").OK()
		sameRaw(t, a, "[]", "data")
		if a.At("has_more") != false || strings.Contains(string(a.Body), "next_cursor") {
			t.Errorf("an empty list has a next page: %s", a.Body)
		}
	})
	t.Run("C-29 self is the target as received", func(t *testing.T) {
		target := "/v1/streams/%65ntries/records?fields[]=id&&filter%5Bmemo%5D=April+rent"
		sameValue(t, w.Get(tok, target).OK(), "links.self", target)
	})
	t.Run("C-9 C-32 limit", func(t *testing.T) {
		sameJSON(t, w.Get(tok, "/v1/streams/entries/records?limit=500").OK().At("meta.warnings"),
			`[{"code":"limit_clamped","param":"limit","message":"limit reduced to 100","detail":{"requested_limit":500,"max_limit":100}}]`)
		sameJSON(t, w.Get(tok, "/v1/streams/entries/records?limit=100").OK().At("meta.warnings"), `[]`)
		w.Get(tok, "/v1/streams/entries/records?limit=99999999999999999999999").OK()
		for _, bad := range []string{"0", "-1", "1.5", "ten", "1e1", "%201", "0x10", "-99999999999999999999999", "%2B5"} {
			refused(t, w.Get(tok, "/v1/streams/entries/records?limit="+bad), refusal{status: 400, code: "invalid_request", param: "limit"})
		}
	})
	t.Run("REC-11 C-31 count", func(t *testing.T) {
		for _, test := range []struct{ query, want string }{
			{"", `{"kind":"none"}`},
			{"?count=none", `{"kind":"none"}`},
			{"?count=estimated", `{"kind":"exact","value":3}`},
			{"?count=exact&limit=1", `{"kind":"exact","value":3}`},
			{"?count=exact&filter[memo]=March+rent", `{"kind":"exact","value":1}`},
			{"?count=exact&connection_id=cin_b2", `{"kind":"exact","value":1}`},
			{"?count=exact&filter[memo]=x", `{"kind":"exact","value":0}`},
		} {
			sameJSON(t, w.Get(tok, "/v1/streams/entries/records"+test.query).OK().At("meta.count"), test.want)
		}
		refused(t, w.Get(tok, "/v1/streams/entries/records?count=true"), refusal{status: 400, code: "invalid_request", param: "count"})
		next := w.Get(tok, "/v1/streams/entries/records?count=exact&limit=1").At("links.next").(string)
		sameJSON(t, w.Get(tok, next).OK().At("meta.count"), `{"kind":"exact","value":3}`)
	})
}

// TestRecordsAreReturnedUnchanged: the bytes of a record do not change (C-33).
func TestRecordsAreReturnedUnchanged(t *testing.T) {
	w := resttest.Cabinet(t)
	data := `{"id":"exact","zeta":1.10,"price":12345678901234567890.0100,"qty":-0,"alpha":1E+2,"meta":{"b":1.0,"a":[1e-7,{"k":"\u00e9\/\ud83d\ude00"}]},"title":"é 😀 \" \\ \u0000 <b>"}`
	spaced := strings.NewReplacer(`":`, "\" : ", `,"`, " ,\t\"").Replace(data)
	w.Ingest("cin_c1", "items", `{"key":"exact","data":`+spaced+`,"emitted_at":"2026-04-01T10:00:00.1239+02:00"}`)

	t.Run("C-33 the owner gets the stored bytes", func(t *testing.T) {
		list := w.Get(w.OwnerToken(), "/v1/streams/items/records")
		sameRaw(t, list, data, "data", "0", "data")
		sameRaw(t, w.Get(w.OwnerToken(), "/v1/streams/items/records/exact"), data, "data")
	})
	t.Run("C-33 a client gets its fields in stored order", func(t *testing.T) {
		tok, _ := w.Grant(cabinetGrant)
		want := `{"id":"exact","price":12345678901234567890.0100,"qty":-0,"meta":{"b":1.0,"a":[1e-7,{"k":"\u00e9\/\ud83d\ude00"}]},"title":"é 😀 \" \\ \u0000 <b>"}`
		sameRaw(t, w.Get(tok, "/v1/streams/items/records"), want, "data", "0", "data")
	})
	t.Run("C-33 server times", func(t *testing.T) {
		sameValue(t, w.Get(w.OwnerToken(), "/v1/streams/items/records/exact"), "emitted_at", "2026-04-01T08:00:00.123Z")
	})
}

func TestProjection(t *testing.T) {
	w := filledCabinet(t)
	owner := w.OwnerToken()
	some, _ := w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items","fields":["title","at","a.b"]}]}`)
	const detail = "/v1/streams/items/records/left"
	list := func(query string) string {
		return "/v1/streams/items/records?connection_id=cin_c1&filter[id]=left&" + query
	}
	data := func(t *testing.T, token, query, want string) {
		t.Helper()
		sameRaw(t, w.Get(token, list(query)), want, "data", "0", "data")
		sameRaw(t, w.Get(token, detail+"?"+query), want, "data")
	}
	both := func(t *testing.T, token, query string, want refusal) {
		t.Helper()
		refused(t, w.Get(token, list(query)), want)
		refused(t, w.Get(token, detail+"?"+query), want)
	}

	t.Run("REC-15 all granted fields in stored order", func(t *testing.T) {
		data(t, some, "", `{"id":"left","title":"Left only","at":"2026-01-11T12:00:00+02:00"}`)
	})
	t.Run("REC-15 only the owner sees undeclared properties", func(t *testing.T) {
		data(t, owner, "", `{"id":"left","title":"Left only","price":1e2,"qty":12,"done":false,"day":"2026-01-11","at":"2026-01-11T12:00:00+02:00","undeclared":"kept"}`)
		full, _ := w.Grant(cabinetGrant)
		for _, path := range []string{list(""), detail, list("expand=notes"), list("view=brief"), "/v1/streams/items", "/v1/schema"} {
			if a := w.Get(full, path).OK(); strings.Contains(string(a.Body), "undeclared") {
				t.Errorf("%s shows an undeclared property: %s", path, a.Body)
			}
		}
	})
	t.Run("REC-15 requested fields in requested order", func(t *testing.T) {
		data(t, owner, "fields=at,title", `{"at":"2026-01-11T12:00:00+02:00","title":"Left only"}`)
		data(t, some, "fields=at&fields=title&fields=at", `{"at":"2026-01-11T12:00:00+02:00","title":"Left only"}`)
	})
	t.Run("REC-15 missing fields are omitted", func(t *testing.T) {
		data(t, owner, "fields=body,title,mixed", `{"title":"Left only"}`)
		data(t, owner, "fields=body", `{}`)
	})
	t.Run("REC-15 at most 256 fields", func(t *testing.T) {
		names := make([]string, 257)
		for i := range names {
			names[i] = fmt.Sprintf("f%d", i)
		}
		both(t, owner, "fields="+strings.Join(names, ","), refusal{status: 400, code: "invalid_request", param: "fields"})
	})
	t.Run("REC-16 undeclared and ungranted names", func(t *testing.T) {
		both(t, some, "fields=title,nope", refusal{status: 400, code: "unknown_field", param: "fields", field: "nope"})
		both(t, some, "fields=price", refusal{status: 403, code: "field_not_granted", param: "fields", field: "price"})
		both(t, some, "fields=price,nope", refusal{status: 400, code: "unknown_field", param: "fields", field: "nope"})
		both(t, owner, "fields=undeclared", refusal{status: 400, code: "unknown_field", param: "fields", field: "undeclared"})
	})
	t.Run("REC-16 dots in names have no meaning", func(t *testing.T) {
		w.Ingest("cin_c1", "items", item("dots", `"a.b":"dotted","meta":{"k":1}`))
		a := w.Get(some, "/v1/streams/items/records/dots?fields=a.b")
		sameRaw(t, a, `{"a.b":"dotted"}`, "data")
		both(t, owner, "fields=meta.k", refusal{status: 400, code: "unknown_field", param: "fields", field: "meta.k"})
	})
	t.Run("REC-17 views", func(t *testing.T) {
		data(t, owner, "view=brief", `{"title":"Left only","id":"left"}`)
		data(t, some, "view=brief", `{"title":"Left only","id":"left"}`)
		price, _ := w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items","fields":["price"]}]}`)
		data(t, price, "view=money", `{"price":1e2}`)
		both(t, some, "view=nope", refusal{status: 400, code: "invalid_request", param: "view"})
		both(t, some, "view=money", refusal{status: 403, code: "field_not_granted", param: "view"})
		both(t, some, "view=brief&fields=id", refusal{status: 400, code: "invalid_request", param: "view"})
	})
	t.Run("REC-3 the envelope is the same under every projection", func(t *testing.T) {
		sameJSON(t, w.Get(some, list("fields=a.b")).OK().At("data.0"), `{"object":"record","id":"left","stream":"items","data":{},
			"emitted_at":"2026-05-01T08:00:00.000Z","connection_id":"cin_c1","connector_key":"cabinet","display_name":"Left drawer"}`)
	})
	t.Run("REC-27 a new field is not granted", func(t *testing.T) {
		// The grant was created before the manifest declared the field.
		m := strings.Replace(testManifest(t, "testdata/cabinet.json"), `"id": {"type": "string"},`, `"id": {"type": "string"}, "undeclared": {"type": "string"},`, 1)
		w.Manifest(m)
		data(t, some, "", `{"id":"left","title":"Left only","at":"2026-01-11T12:00:00+02:00"}`)
		both(t, some, "fields=undeclared", refusal{status: 403, code: "field_not_granted", param: "fields", field: "undeclared"})
	})
}

func TestPresentation(t *testing.T) {
	w := filledCabinet(t)
	tok, _ := w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items","fields":["title","at","price","scan","day"]},{"name":"notes","fields":["item_id"]}]}`)
	for _, test := range []struct{ rule, query, want string }{
		{"granted fields", "", `{"cabinet/items":{"label":"Filed things","time_field":"day","primary_key":["id"],"roles":{"primary-title":["title"],"event-time":["at"],"amount":["price"],"media":["scan"]}}}`},
		{"projected fields without the consent time field", "fields=title,at", `{"cabinet/items":{"label":"Filed things","time_field":"at","roles":{"primary-title":["title"],"event-time":["at"]}}}`},
		{"a view", "view=money", `{"cabinet/items":{"label":"Filed things","roles":{"amount":["price"]}}}`},
		{"expanded children", "fields=id&expand=notes", `{"cabinet/items":{"label":"Filed things","primary_key":["id"],"roles":{}},"cabinet/notes":{"primary_key":["id"],"roles":{}}}`},
	} {
		t.Run("REC-5 "+test.rule, func(t *testing.T) {
			sameJSON(t, w.Get(tok, "/v1/streams/items/records?"+test.query).OK().At("meta.presentation"), test.want)
			sameJSON(t, w.Get(tok, "/v1/streams/items/records/left?"+test.query).OK().At("meta.presentation"), test.want)
		})
	}
	t.Run("REC-5 time_field is the cursor field without a consent time", func(t *testing.T) {
		sameJSON(t, w.Get(w.OwnerToken(), "/v1/streams/ticks/records").OK().At("meta.presentation"), `{"cabinet/ticks":{"time_field":"seq","primary_key":["n"],"roles":{}}}`)
	})
}

// forumManifest declares a stream with a relation to itself.
const forumManifest = `{"protocol_version":"0.1.0","declaration_version":"1","source":{"kind":"connector","id":"https://reg.acme.test/c/forum"},
	"streams":[{"name":"posts","semantics":"append_only","schema":{"type":"object","properties":{"id":{"type":"string"},"parent":{"type":"string"},
		"text":{"type":"string","x_pdpp_role":"primary-text"}}},"primary_key":["id"],"selection":{"fields":true,"resources":false},
		"relationships":[{"name":"replies","stream":"posts","foreign_key":"parent","cardinality":"has_many"}],"query":{"expand":[{"name":"replies"}]}}]}`

func TestPresentationOfSelfRelatedStream(t *testing.T) {
	w := resttest.New(t)
	w.Manifest(forumManifest)
	w.Connect("forum", "cin_f1", "")
	w.Ingest("cin_f1", "posts", `{"key":"p1","data":{"id":"p1","text":"Hello"}}`, `{"key":"p2","data":{"id":"p2","parent":"p1","text":"Hi"}}`)
	a := w.Get(w.OwnerToken(), "/v1/streams/posts/records/p1?fields=id&expand=replies").OK()
	sameJSON(t, a.At("expanded.replies.data.0.data"), `{"id":"p2","parent":"p1","text":"Hi"}`)
	// The children have a text although the projection of the parent has none.
	sameJSON(t, a.At("meta.presentation"), `{"forum/posts":{"primary_key":["id"],"roles":{"primary-text":["text"]}}}`)
}

func TestBlobReferences(t *testing.T) {
	w := filledCabinet(t)
	w.Ingest("cin_c1", "notes", `{"key":"nb","data":{"id":"nb","item_id":"blob","scan":{"blob_id":"b/9","fetch_url":"https://elsewhere.test"}}}`)
	bothTokens(t, w, cabinetGrant, func(t *testing.T, tok string) {
		t.Run("REC-4 fetch_url", func(t *testing.T) {
			want := `{"id":"blob","at":"2025-12-01T00:00:00Z","scan":{"blob_id":"blob_1","mime_type":"image/png","fetch_url":"/v1/blobs/blob_1?connection_id=cin_c1"},` +
				`"pages":[{"blob_id":"blob 2","fetch_url":"/v1/blobs/blob%202?connection_id=cin_c1"},{"blob_id":"blob_3","fetch_url":"/v1/blobs/blob_3?connection_id=cin_c1"},{"none":1}]}`
			sameRaw(t, w.Get(tok, "/v1/streams/items/records?filter[id]=blob"), want, "data", "0", "data")
			sameRaw(t, w.Get(tok, "/v1/streams/items/records/blob"), want, "data")
		})
		t.Run("REC-4 fetch_url in children", func(t *testing.T) {
			a := w.Get(tok, "/v1/streams/items/records/blob?fields=id&expand=notes").OK()
			sameJSON(t, a.At("expanded.notes.data.0.data.scan"), `{"blob_id":"b/9","fetch_url":"/v1/blobs/b%2F9?connection_id=cin_c1"}`)
		})
	})
	t.Run("REC-4 a reference that is null, of another type or without id", func(t *testing.T) {
		w.Ingest("cin_c1", "items", item("odd1", `"scan":null`), item("odd2", `"scan":"text"`), item("odd3", `"scan":{"blob_id":7,"fetch_url":"stays"}`), item("odd4", `"scan":[]`))
		for id, want := range map[string]string{"odd1": `null`, "odd2": `"text"`, "odd3": `{"blob_id":7,"fetch_url":"stays"}`, "odd4": `[]`} {
			if got := rawMember(t, w.Get(w.OwnerToken(), "/v1/streams/items/records/"+id), "data", "scan"); got != want {
				t.Errorf("%s: scan = %s, want %s", id, got, want)
			}
		}
	})
	t.Run("REC-4 a long list of references", func(t *testing.T) {
		var refs []string
		for i := range 600 {
			refs = append(refs, fmt.Sprintf(`{"blob_id":"blob_%d","fetch_url":"https://elsewhere.test/%d"}`, i, i))
		}
		w.Ingest("cin_c1", "items", item("album", `"pages":[`+strings.Join(refs, ",")+`]`))
		a := w.Get(w.OwnerToken(), "/v1/streams/items/records/album").OK()
		if strings.Contains(string(a.Body), "elsewhere") {
			t.Error("a stored fetch_url was returned")
		}
		if diff := cmp.Diff("/v1/blobs/blob_599?connection_id=cin_c1", a.At("data.pages.599.fetch_url")); diff != "" {
			t.Errorf("fetch_url differs (-want +got):\n%s", diff)
		}
	})
}

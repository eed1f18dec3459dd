package rs_test

import (
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"pdpp"
	"pdpp/internal/httpx"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
)

const mebi = 1 << 20

// bounded serves a world with a memory budget.
func bounded(w *resttest.World, bytes int64) (*resttest.World, *httpx.Budget) {
	b := httpx.NewBudget(bytes)
	return secondServer(w, func(c *server.Config) { c.Memory = b }), b
}

// slowReader is a client that reads nothing until unblock is closed.
type slowReader struct {
	*httptest.ResponseRecorder
	started chan struct{} // closed by the first write
	unblock chan struct{}
}

func (r *slowReader) Write(p []byte) (int, error) {
	if r.Body.Len() == 0 {
		close(r.started)
	}
	<-r.unblock
	return r.ResponseRecorder.Write(p)
}

// readSlowly starts a read. end unblocks the client and waits for the end of the answer.
func readSlowly(w *resttest.World, token, target string) (end func() *httptest.ResponseRecorder) {
	r := &slowReader{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	req := localRequest(w.T.Context(), "GET", token, target, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Server.Handler().ServeHTTP(r, req)
	}()
	<-r.started
	return func() *httptest.ResponseRecorder {
		close(r.unblock)
		<-done
		return r.ResponseRecorder
	}
}

// TestMemoryBudgetOfAnswers: an answer counts until the client has read it. Small answers are
// never refused.
func TestMemoryBudgetOfAnswers(t *testing.T) {
	w := ledger(t)
	tok := w.OwnerToken()
	note := func(id string, size int) {
		w.Ingest("cin_a1", "entries", fmt.Sprintf(`{"key":%q,"data":{"id":%q,"note":%q}}`, id, id, strings.Repeat("n", size)))
	}
	note("large", 2*mebi)
	note("huge", 4*mebi)
	const large, huge, small = "/v1/streams/entries/records/large", "/v1/streams/entries/records/huge", "/v1/streams/entries/records/ent_31?connection_id=cin_a1"
	server, b := bounded(w, 4*mebi)

	t.Run("H-69 503 while a large answer is being read", func(t *testing.T) {
		end := readSlowly(server, tok, large)
		if resttest.Fits(b, 2*mebi+1) || !resttest.Fits(b, mebi) {
			t.Error("an answer of 2 MiB has reserved less than 2 MiB, or more than 3")
		}
		for _, target := range []string{large, "/v1/streams/entries/records?filter[id]=large"} {
			a := server.Get(tok, target)
			expectError(t, a, 503, pdpp.CodeUnavailable)
			if a.Header.Get("Retry-After") == "" {
				t.Errorf("%s: no Retry-After", target)
			}
		}
		server.Get(tok, small).OK()
		if rec := end(); rec.Code != 200 || rec.Body.Len() < 2*mebi || !resttest.Fits(b, 4*mebi) {
			t.Errorf("status %d, answer of %d bytes, or bytes are still reserved", rec.Code, rec.Body.Len())
		}
		server.Get(tok, large).OK()
	})
	t.Run("H-69 413 for an answer above the budget", func(t *testing.T) {
		expectError(t, server.Get(tok, huge), 413, pdpp.CodeResourceLimit)
		server.Get(tok, huge+"?fields=id").OK()
		server.Get(tok, huge, "Prefer: pdpp-field-preview=100").OK()
		server.Get(tok, huge+"/field-window?field=note").OK()
		if !resttest.Fits(b, 4*mebi) {
			t.Error("bytes are still reserved")
		}
	})
}

// TestMemoryBudgetOfBodies: a body counts until it is stored.
func TestMemoryBudgetOfBodies(t *testing.T) {
	w := ledger(t)
	tok := w.OwnerToken()
	server, b := bounded(w, 4*mebi)
	line := fmt.Sprintf(`{"key":"n1","data":{"id":"n1","note":%q}}`, strings.Repeat("n", mebi))
	send := func(body io.Reader) resttest.Answer {
		req := localRequest(t.Context(), "POST", tok, ingestPath, body)
		req.Header.Set("Content-Type", "application/x-ndjson")
		return handle(server, req)
	}
	unsized := func(s string) io.Reader { return struct{ io.Reader }{strings.NewReader(s)} }
	for name, body := range map[string]func(string) io.Reader{
		"H-69 with Content-Length": func(s string) io.Reader { return strings.NewReader(s) }, "H-69 without Content-Length": unsized,
	} {
		t.Run(name, func(t *testing.T) {
			w.Ingest("cin_a1", "entries", fmt.Sprintf(`{"key":"large","data":{"id":"large","note":%q}}`, strings.Repeat("n", 2*mebi)))
			end := readSlowly(server, tok, "/v1/streams/entries/records/large")
			a := send(body(line))
			expectError(t, a, 503, pdpp.CodeUnavailable)
			if a.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After while a large answer is being sent")
			}
			expectError(t, server.Get(tok, "/v1/streams/entries/records/n1"), 404, pdpp.CodeNotFound)
			end()
			expectError(t, send(body(strings.Repeat(line+"\n", 4))), 413, pdpp.CodeResourceLimit)
			expectError(t, server.Get(tok, "/v1/streams/entries/records/n1"), 404, pdpp.CodeNotFound)
			send(body(line)).OK()
			if !resttest.Fits(b, 4*mebi) {
				t.Error("bytes are still reserved after the body was stored")
			}
			send(body(`{"key":"n1","op":"delete"}`)).OK()
		})
	}
}

// TestPageSizeBoundsAllChildren: the page size limits all children of a record together.
func TestPageSizeBoundsAllChildren(t *testing.T) {
	w := resttest.New(t)
	list := func(name string) string {
		return `{"name":"` + name + `","semantics":"append_only","schema":{"type":"object","properties":{"id":{"type":"string"},"box":{"type":"string"},"text":{"type":"string"}}},"primary_key":["id"],"selection":{"fields":true,"resources":false}}`
	}
	relation := func(name, kind string) string {
		return `{"name":"` + name + `","stream":"` + name + `","foreign_key":"box","cardinality":"` + kind + `"}`
	}
	w.Manifest(`{"protocol_version":"0.1.0","declaration_version":"2026-02-01","source":{"kind":"connector","id":"https://reg.acme.test/c/boxes"},"display":{"name":"Boxes"},"streams":[
		{"name":"boxes","semantics":"append_only","schema":{"type":"object","properties":{"id":{"type":"string"},"text":{"type":"string"}}},"primary_key":["id"],"selection":{"fields":true,"resources":false},
		 "relationships":[` + relation("pins", "has_many") + `,` + relation("lids", "has_many") + `,` + relation("tags", "has_one") + `],
		 "query":{"expand":[{"name":"pins"},{"name":"lids"},{"name":"tags"}]}},` + list("pins") + `,` + list("lids") + `,` + list("tags") + `]}`)
	w.Connect("boxes", "cin_x", "Boxes")
	text := strings.Repeat("t", 3*mebi)
	w.Ingest("cin_x", "boxes", `{"key":"b1","data":{"id":"b1"}}`, fmt.Sprintf(`{"key":"b2","data":{"id":"b2","text":%q}}`, strings.Repeat(text, 3)))
	for _, stream := range []string{"pins", "lids", "tags"} {
		for _, box := range []string{"b1", "b2"} {
			for i := range 4 {
				id := fmt.Sprintf("%s%s%d", stream, box, i)
				w.Ingest("cin_x", stream, fmt.Sprintf(`{"key":%q,"data":{"id":%q,"box":%q,"text":%q}}`, id, id, box, text))
			}
		}
	}
	tok := w.OwnerToken()
	for _, c := range []struct {
		name, box  string
		pins, lids int
	}{
		{"REC-26 all lists of children end at the page size", "b1", 3, 0},
		{"REC-26 a record above the page size has no list of children", "b2", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, target := range []string{"/v1/streams/boxes/records/" + c.box + "?", "/v1/streams/boxes/records?filter[id]=" + c.box + "&"} {
				a := w.Get(tok, target+"expand=pins,lids,tags").OK()
				at := ""
				if strings.Contains(target, "filter") {
					at = "data.0."
				}
				for relation, want := range map[string]int{"pins": c.pins, "lids": c.lids} {
					children, _ := a.At(at + "expanded." + relation + ".data").([]any)
					if len(children) != want || a.At(at+"expanded."+relation+".has_more") != true {
						t.Errorf("%s: %d %s, has_more %v; want %d and true", target, len(children), relation, a.At(at+"expanded."+relation+".has_more"), want)
					}
					sameIDs(t, w.Get(tok, a.At(at+"expanded."+relation+".url").(string)+"&fields=id"), relation+c.box+"3", relation+c.box+"2", relation+c.box+"1", relation+c.box+"0")
				}
				if a.At(at+"expanded.tags.id") == nil {
					t.Errorf("%s: the has_one record is missing", target)
				}
			}
		})
	}
}

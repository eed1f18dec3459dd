package mcp

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// Concurrent calls return what each of them returns alone.
func TestConcurrentCalls(t *testing.T) {
	pages := map[string]string{"none": `{"data":[]}`}
	for _, name := range []string{"few", "many"} {
		rows := make([]string, len(name))
		for i := range rows {
			rows[i] = `{"id":"` + name + `","stream":"entries","data":{"title":"` + name + `","body":"` + strings.Repeat(name+" ", 100*len(name)) + `"}}`
		}
		pages[name] = `{"data":[` + strings.Join(rows, ",") + `]}`
	}
	surfaces, texts, data := map[string]*script{}, map[string]string{}, map[string][]byte{}
	for name, page := range pages {
		surfaces[name] = newScript(t, entriesPath, page)
		res := surfaces[name].Call(t.Context(), &queryRecordsTool, []byte(`{"stream":"entries"}`))
		texts[name], data[name] = text(res), bytes.Clone(res.Structured)
	}
	var all sync.WaitGroup
	for name, s := range surfaces {
		all.Go(func() {
			for range 50 {
				res := s.Call(t.Context(), &queryRecordsTool, []byte(`{"stream":"entries"}`))
				if text(res) != texts[name] || !bytes.Equal(res.Structured, data[name]) {
					t.Errorf("%s is another page:\n%s\n%s", name, text(res), res.Structured)
				}
			}
		})
	}
	all.Wait()
}

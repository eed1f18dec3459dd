package mcp

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// A buffer that is used again shows nothing of who used it before: calls that run at the
// same time, and free their results, give what each gives alone.
func TestBuffersAreEmpty(t *testing.T) {
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
				if res.Free(); res.Structured != nil {
					t.Errorf("%s is there after it was freed", name)
				}
				res.Free() // twice does no harm
			}
		})
	}
	all.Wait()
}

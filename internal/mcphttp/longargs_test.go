package mcphttp_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A request as long as one may be costs no more time than its length: what is added to
// the query of a read is not copied again for each part of it.
func TestLongArguments(t *testing.T) {
	h := newHouse(t)
	var filter, streams strings.Builder
	for i := 0; filter.Len() < 900<<10; i++ {
		fmt.Fprintf(&filter, `,"%x":1`, i)
	}
	for i := 0; streams.Len() < 900<<10; i++ {
		fmt.Fprintf(&streams, `,"%x"`, i)
	}
	for what, c := range map[string]rpc{
		"filter":  callOf(handshake, "query_records", `{"stream":"entries","filter":{`+filter.String()[1:]+`}}`),
		"streams": callOf(handshake, "search", `{"q":"rent","streams":[`+streams.String()[1:]+`]}`),
	} {
		start := time.Now()
		a := h.send(h.client, c)
		took := time.Since(start)
		t.Logf("%s: %v, %d %.200s", what, took, a.Status, a.Body)
		if took > 3*time.Second {
			t.Errorf("a call with a long %s takes %v", what, took)
		}
	}
}

package rs_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"pdpp"
)

// TestRequestsOfPublicCollector sends the requests of a collection run of the public
// implementation. It names the connector by its source id and the connection by the deprecated
// parameter or not at all, and adds the id of the run (IO-21).
func TestRequestsOfPublicCollector(t *testing.T) {
	w := ledger(t)
	addCabinet(w)
	owner := w.OwnerToken()
	const id = "https://reg.acme.test/c/cabinet"
	source, path := url.QueryEscape(id), url.PathEscape(id)
	const lines = `{"type":"RECORD","stream":"items","key":"n1","data":{"id":"n1","title":"From a run"},"emitted_at":"2026-05-01T08:00:00.000Z"}` + "\n" +
		`{"type":"RECORD","stream":"items","key":"gone","op":"delete","emitted_at":"2026-05-01T08:00:00.000Z"}`
	for name, query := range map[string]string{
		"deprecated connection parameter": "?connector_id=" + source + "&connector_instance_id=cin_c1&run_id=run_1",
		"connector without connection":    "?connector_id=" + source + "&run_id=run_1",
		"connector key":                   "?connector_id=cabinet&run_id=run_1",
	} {
		t.Run("IO-21 "+name, func(t *testing.T) {
			got := w.Do("POST", owner, "/v1/ingest/items"+query, lines, ndjson).OK()
			if counts := fmt.Sprintf("%v %v %v", got.At("records_attempted"), got.At("records_accepted"), got.At("records_rejected")); counts != "2 2 0" {
				t.Errorf("ingest: want 2 of 2 records accepted: %s", got.Body)
			}
			stateQuery := strings.Replace(query, "connector_id="+source+"&", "", 1)
			stateQuery = strings.Replace(stateQuery, "connector_id=cabinet&", "", 1)
			state := w.Do("PUT", owner, "/v1/state/"+path+stateQuery, `{"state":{"items":{"cursor":"n1"}}}`).OK()
			if state.At("state.items.cursor") != "n1" || state.At("connection_id") != "cin_c1" || state.At("connector_key") != "cabinet" {
				t.Errorf("want the state of cin_c1: %s", state.Body)
			}
			if again := w.Get(owner, "/v1/state/"+path+stateQuery).OK(); again.At("state.items.cursor") != "n1" {
				t.Errorf("want the stored state: %s", again.Body)
			}
			blob := w.Do("POST", owner, "/v1/blobs"+query+"&stream=items&record_key=n1", "text", "Content-Type: text/plain").OK()
			if blob.At("object") != "blob" || fmt.Sprint(blob.At("size_bytes")) != "4" || blob.At("mime_type") != "text/plain" {
				t.Errorf("want a blob of 4 bytes and type text/plain: %s", blob.Body)
			}
		})
	}
	t.Run("IO-21 several connections are ambiguous", func(t *testing.T) {
		w.Connect("cabinet", "cin_c2", "")
		a := w.Do("POST", owner, "/v1/ingest/items?connector_id="+source+"&run_id=run_1", lines, ndjson)
		expectError(t, a, 409, pdpp.CodeAmbiguousConnection)
		sameValue(t, a, "error.available_connections.1.connection_id", "cin_c2")
	})
	t.Run("IO-21 a blob of a connector with several connections", func(t *testing.T) {
		a := w.Do("POST", owner, "/v1/blobs?connector_id=ledgerly", "text")
		expectError(t, a, 409, pdpp.CodeAmbiguousConnection)
		sameValue(t, a, "error.available_connections.0.connection_id", "cin_a1")
	})
	t.Run("IO-21 a delete needs a connection", func(t *testing.T) {
		expectError(t, w.Do("DELETE", owner, entriesPath+"?connector_id=ledgerly", ""), 400, pdpp.CodeInvalidRequest)
	})
	t.Run("IO-21 state of a grant is refused", func(t *testing.T) {
		expectError(t, w.Do("PUT", owner, statePath+"&grant_id=grt_1", `{"state":{}}`), 400, pdpp.CodeInvalidRequest)
	})
}

package httpx

import (
	"net/http"

	"pdpp"
	"pdpp/internal/rawjson"
)

const discoveryHint = "Call schema (GET /v1/schema?view=compact) for the full index of connections."

// appendEnvelope writes the error body of C-40. The order of keys is fixed.
func appendEnvelope(b []byte, e *pdpp.Error, status int, ch challenge, id string) []byte {
	message := e.Message
	if message == "" {
		message = http.StatusText(status) + "."
	}
	w := rawjson.Writer(append(b, `{"error":{`...))
	w.Text("type", pdpp.ErrorType(status))
	w.Text("code", string(e.Code))
	w.Text("message", message)
	w.Optional("param", e.Param)
	w.Optional("field", e.Field)
	w.Optional("stream", e.Stream)
	if e.NeedsBroaderGrant {
		w.Flag("needs_broader_grant", true)
	}
	w.Optional("retry_with", e.RetryWith)
	if len(e.Available) > 0 {
		writeAvailable(&w, e.Available)
	}
	next := e.NextStep
	if status == http.StatusUnauthorized && ch.metadata != "" {
		w.Text("resource_metadata", ch.metadata)
		if next == "" {
			next = ch.nextStep()
		}
	}
	w.Optional("next_step", next)
	if wait := retryAfter(e, status); wait > 0 {
		w.Number("retry_after_s", wait)
	}
	w.Text("request_id", id)
	w.End("}}")
	return w
}

// writeAvailable writes the choices of an ambiguity and their count, and whether they
// were cut (C-43).
func writeAvailable(w *rawjson.Writer, all []pdpp.ConnectionRef) {
	w.OpenArray("available_connections")
	for _, c := range all[:min(len(all), pdpp.MaxListedConnections)] {
		w.Object()
		w.Text("connection_id", string(c.ConnectionID))
		w.Text("connector_key", string(c.ConnectorKey))
		w.Optional("stream", c.Stream)
		w.Optional("display_name", c.DisplayName)
		w.Optional("grant_id", string(c.GrantID))
		w.End("}")
	}
	w.End("]")
	w.Number("available_connection_count", len(all))
	if omitted := len(all) - pdpp.MaxListedConnections; omitted > 0 {
		w.Flag("available_connections_truncated", true)
		w.Number("available_connections_omitted", omitted)
		w.Text("discovery_hint", discoveryHint)
	}
}

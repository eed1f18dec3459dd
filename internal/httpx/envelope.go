package httpx

import (
	"net/http"
	"strconv"
	"unicode/utf8"

	"pdpp"
)

const discoveryHint = "Call schema (GET /v1/schema?view=compact) for the full index of connections."

// appendEnvelope appends the error body of C-40. The order of keys is fixed.
func appendEnvelope(b []byte, e *pdpp.Error, status int, ch challenge, id string) []byte {
	message := e.Message
	if message == "" {
		message = http.StatusText(status) + "."
	}
	b = append(b, `{"error":{"type":`...)
	b = appendQuoted(b, pdpp.ErrorType(status))
	b = appendMember(b, "code", string(e.Code))
	b = appendMember(b, "message", message)
	b = appendOptional(b, "param", e.Param)
	b = appendOptional(b, "field", e.Field)
	b = appendOptional(b, "stream", e.Stream)
	if e.NeedsBroaderGrant {
		b = append(b, `,"needs_broader_grant":true`...)
	}
	b = appendOptional(b, "retry_with", e.RetryWith)
	if len(e.Available) > 0 {
		b = appendAvailable(b, e.Available)
	}
	next := e.NextStep
	if status == http.StatusUnauthorized && ch.metadata != "" {
		b = appendMember(b, "resource_metadata", ch.metadata)
		if next == "" {
			next = ch.nextStep()
		}
	}
	b = appendOptional(b, "next_step", next)
	if wait := retryAfter(e, status); wait > 0 {
		b = strconv.AppendInt(append(b, `,"retry_after_s":`...), int64(wait), 10)
	}
	b = appendMember(b, "request_id", id)
	return append(b, "}}"...)
}

// appendAvailable appends the choices of an ambiguity and their count. It marks a
// truncated list (C-43).
func appendAvailable(b []byte, all []pdpp.ConnectionRef) []byte {
	b = append(b, `,"available_connections":[`...)
	for i, c := range all[:min(len(all), pdpp.MaxListedConnections)] {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"connection_id":`...)
		b = appendQuoted(b, string(c.ConnectionID))
		b = appendMember(b, "connector_key", string(c.ConnectorKey))
		b = appendOptional(b, "stream", c.Stream)
		b = appendOptional(b, "display_name", c.DisplayName)
		b = appendOptional(b, "grant_id", string(c.GrantID))
		b = append(b, '}')
	}
	b = append(b, `],"available_connection_count":`...)
	b = strconv.AppendInt(b, int64(len(all)), 10)
	if omitted := len(all) - pdpp.MaxListedConnections; omitted > 0 {
		b = append(b, `,"available_connections_truncated":true,"available_connections_omitted":`...)
		b = strconv.AppendInt(b, int64(omitted), 10)
		b = appendMember(b, "discovery_hint", discoveryHint)
	}
	return b
}

func appendOptional(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return appendMember(b, name, value)
}

func appendMember(b []byte, name, value string) []byte {
	b = append(b, ',', '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	return appendQuoted(b, value)
}

// appendQuoted appends a JSON string. Invalid UTF-8 becomes U+FFFD.
func appendQuoted(b []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	b = append(b, '"')
	for _, c := range s {
		switch {
		case c == '"', c == '\\':
			b = append(b, '\\', byte(c))
		case c == '\n':
			b = append(b, '\\', 'n')
		case c < ' ', c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = utf8.AppendRune(b, c)
		}
	}
	return append(b, '"')
}

package httpx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
)

// errorOf decodes the envelope.
func errorOf(t *testing.T, got reply) map[string]any {
	t.Helper()
	var doc struct{ Error map[string]any }
	if err := json.Unmarshal([]byte(got.body), &doc); err != nil {
		t.Fatalf("body %q: %v", got.body, err)
	}
	return doc.Error
}

func TestErrorTable(t *testing.T) {
	tests := []struct {
		status int
		typ    string
		codes  string
	}{
		{400, "invalid_request_error", "invalid_request invalid_argument unsupported_version invalid_cursor invalid_sort invalid_expand unknown_field invalid_field_path invalid_window"},
		{401, "authentication_error", "authentication_error invalid_token"},
		{403, "permission_error", "grant_stream_not_allowed field_not_granted insufficient_scope grant_revoked grant_expired grant_invalid permission_error origin_not_allowed"},
		{404, "not_found_error", "not_found connection_not_found stream_not_declared blob_not_found field_not_found query_not_found"},
		{405, "invalid_request_error", "method_not_allowed"},
		{406, "invalid_request_error", "not_acceptable"},
		{409, "api_error", "ambiguous_connection ambiguous_schema_detail"},
		{410, "gone_error", "cursor_expired"},
		{413, "request_entity_too_large_error", "resource_limit"},
		{415, "invalid_request_error", "unsupported_media_type"},
		{416, "invalid_request_error", "range_not_satisfiable"},
		{421, "invalid_request_error", "misdirected_request"},
		{422, "api_error", "field_not_text"},
		{429, "rate_limit_error", "rate_limit_exceeded"},
		{503, "api_error", "timeout temporarily_unavailable overloaded ingest_batch_storage_error"},
	}
	seen := map[pdpp.Code]bool{pdpp.CodeInternal: true} // TestErrorsWithoutDetail
	e := &Edge{}
	for _, tt := range tests {
		for code := range strings.FieldsSeq(tt.codes) {
			t.Run(code, func(t *testing.T) {
				seen[pdpp.Code(code)] = true
				srv := serve(t, Chain(failing(pdpp.Errorf(pdpp.Code(code), "Reason.")), WithRequestID, e.Gate, e.Challenge("")))
				got := send(t, srv, request{header: headers("Request-Id", "abc")})
				body := errorOf(t, got)
				if got.status != tt.status || body["type"] != tt.typ || body["code"] != code || body["message"] != "Reason." || body["request_id"] != "abc" {
					t.Errorf("response: %d %s", got.status, got.body)
				}
				want := (tt.status == 401 || tt.status == 403) && code != "origin_not_allowed"
				if has := got.header.Get("WWW-Authenticate") != ""; has != want {
					t.Errorf("challenge %v, want %v", has, want)
				}
				if has := got.header.Get("Retry-After") != ""; has != (tt.status == 429 || tt.status == 503) {
					t.Errorf("Retry-After = %q", got.header.Get("Retry-After"))
				}
			})
		}
	}
	for _, code := range pdpp.Codes() {
		if code.Status() != 0 && !seen[code] {
			t.Errorf("code %s has no row", code)
		}
	}
}

func TestErrorHeaders(t *testing.T) {
	srv := serve(t, Chain(Handler(func(w http.ResponseWriter, r *http.Request) error {
		h := w.Header()
		h.Set("Content-Length", "9999")
		h.Set("Content-Type", "image/png")
		h.Set("ETag", `"x"`)
		h.Set("Cache-Control", "public, max-age=600")
		h.Set("Content-Range", "bytes */10")
		return pdpp.Errorf("range_not_satisfiable", "no")
	}), WithRequestID))
	for _, method := range []string{"GET", "HEAD"} {
		got := send(t, srv, request{method: method})
		want := map[string]string{
			"Content-Type": "application/json; charset=utf-8", "Cache-Control": "private, no-store", "Vary": "Authorization, Prefer",
			"X-Content-Type-Options": "nosniff", "PDPP-Version": "2026-04-06", "ETag": "", "Content-Range": "bytes */10",
		}
		for k, v := range want {
			if got.header.Get(k) != v {
				t.Errorf("%s: %s = %q, want %q", method, k, got.header.Get(k), v)
			}
		}
		if method == "HEAD" && got.body != "" {
			t.Errorf("HEAD has body %q", got.body)
		}
		if n := got.header.Get("Content-Length"); n == "9999" || n == "" {
			t.Errorf("%s: Content-Length = %q", method, n)
		}
	}
}

func TestErrorKeepsNoStore(t *testing.T) {
	srv := serve(t, Handler(func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Cache-Control", "no-store")
		return pdpp.Errorf(pdpp.CodeNotFound, "no")
	}))
	got := send(t, srv, request{})
	if v := got.header.Get("Cache-Control"); v != "no-store" {
		t.Errorf("Cache-Control = %q", v)
	}
	if id := errorOf(t, got)["request_id"]; id != got.header.Get("Request-Id") || id == "" {
		t.Errorf("request id %v in the body, header %v", id, got.header)
	}
}

func connections(n int) []pdpp.ConnectionRef {
	var out []pdpp.ConnectionRef
	for i := range n {
		out = append(out, pdpp.ConnectionRef{ConnectionID: pdpp.ConnectionID(fmt.Sprintf("cin_%d", i)), ConnectorKey: "mail"})
	}
	return out
}

func TestEnvelopeBytes(t *testing.T) {
	few := connections(2)
	few[0].DisplayName, few[0].GrantID = "Work \"mail\"", "grt_1"
	few[1].Stream = "messages"
	tests := []struct {
		name string
		err  *pdpp.Error
		want string
	}{
		{
			"minimal", &pdpp.Error{Code: pdpp.CodeNotFound, Message: "No."},
			`{"error":{"type":"not_found_error","code":"not_found","message":"No.","request_id":"abc"}}`,
		},
		{
			"no message", &pdpp.Error{Code: pdpp.CodeNotFound},
			`{"error":{"type":"not_found_error","code":"not_found","message":"Not Found.","request_id":"abc"}}`,
		},
		{"all", &pdpp.Error{
			Code: pdpp.CodeAmbiguousConnection, Message: "Several.", Param: "p", Field: "f", Stream: "s", NeedsBroaderGrant: true,
			RetryWith: "connection_id", NextStep: "Choose <one>.", Available: few, Op: "secret op", Err: errors.New("secret cause"), Hint: "secret hint",
		}, `{"error":{"type":"api_error","code":"ambiguous_connection","message":"Several.","param":"p","field":"f","stream":"s",` +
			`"needs_broader_grant":true,"retry_with":"connection_id","available_connections":[` +
			`{"connection_id":"cin_0","connector_key":"mail","display_name":"Work \"mail\"","grant_id":"grt_1"},` +
			`{"connection_id":"cin_1","connector_key":"mail","stream":"messages"}],"available_connection_count":2,` +
			`"next_step":"Choose <one>.","request_id":"abc"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, Chain(failing(tt.err), WithRequestID))
			got := send(t, srv, request{header: headers("Request-Id", "abc")})
			if d := cmp.Diff(tt.want+"\n", got.body); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestEnvelopeManyConnections(t *testing.T) {
	for n, wantListed := range map[int]int{12: 12, 13: 12, 25: 12} {
		b := appendEnvelope(nil, &pdpp.Error{Code: pdpp.CodeAmbiguousConnection, Available: connections(n)}, 409, challenge{}, "abc")
		e := errorOf(t, reply{body: string(b)})
		if got := len(e["available_connections"].([]any)); got != wantListed {
			t.Errorf("%d connections: %d listed", n, got)
		}
		if e["available_connection_count"] != float64(n) {
			t.Errorf("%d connections: count %v", n, e["available_connection_count"])
		}
		_, truncated := e["available_connections_truncated"]
		_, hint := e["discovery_hint"]
		omitted, _ := e["available_connections_omitted"].(float64)
		if cut := n > 12; truncated != cut || hint != cut || int(omitted) != n-wantListed {
			t.Errorf("%d connections: truncated %v, hint %v, omitted %v", n, truncated, hint, omitted)
		}
	}
}

func TestChallenges(t *testing.T) {
	e := &Edge{PublicURL: must(ParsePublicURL("https://data.example"))}
	const meta = "https://data.example/.well-known/oauth-protected-resource"
	tests := []struct {
		name     string
		resource string
		err      error
		want     string
		meta     string // in the body
	}{
		{
			"CHAL-1 no bearer at /v1", "", pdpp.Errorf(pdpp.CodeAuthentication, "A bearer token is required."),
			`Bearer resource_metadata="` + meta + `", scope="pdpp:read"`, meta,
		},
		{
			"CHAL-1 no bearer at /mcp", "/mcp", pdpp.Errorf(pdpp.CodeAuthentication, "A bearer token is required."),
			`Bearer resource_metadata="` + meta + `/mcp", scope="pdpp:read"`, meta + "/mcp",
		},
		{
			"CHAL-1 invalid token at /mcp", "/mcp", pdpp.Errorf(pdpp.CodeInvalidToken, "The token is not valid."),
			`Bearer error="invalid_token", error_description="The token is not valid.", resource_metadata="` + meta + `/mcp", scope="pdpp:read"`, meta + "/mcp",
		},
		{
			"invalid token at /mcp/developer", "/mcp/developer", pdpp.Errorf(pdpp.CodeInvalidToken, "The token is not valid."),
			`Bearer error="invalid_token", error_description="The token is not valid.", resource_metadata="` + meta + `/mcp/developer", scope="pdpp:read"`, meta + "/mcp/developer",
		},
		{
			"refused", "", pdpp.Errorf(pdpp.CodeFieldNotGranted, "Field \"a\\b\u00e9\r\nX: y\" is not in this grant."),
			`Bearer error="insufficient_scope", error_description="Field 'a?b???X: y' is not in this grant.", resource_metadata="` + meta + `", scope="pdpp:read"`, "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, Chain(failing(tt.err), WithRequestID, e.Challenge(tt.resource)))
			got := send(t, srv, request{})
			if d := cmp.Diff([]string{tt.want}, got.header.Values("WWW-Authenticate")); d != "" {
				t.Error(d)
			}
			body := errorOf(t, got)
			if tt.meta == "" {
				if body["resource_metadata"] != nil || got.header.Get("Link") != "" {
					t.Errorf("403 with body %v, Link %q", body, got.header.Get("Link"))
				}
				return
			}
			if body["resource_metadata"] != tt.meta || body["next_step"] != "Read resource_metadata and start its OAuth flow, or run: pdpp connect https://data.example" {
				t.Errorf("body = %v", body)
			}
			if v := got.header.Get("Link"); v != `<https://data.example/icon.svg>; rel="icon"; type="image/svg+xml"` {
				t.Errorf("Link = %q", v)
			}
		})
	}
}

func TestChallengeDescriptionIsBounded(t *testing.T) {
	ch := challenge{metadata: "https://data.example/" + strings.Repeat("m", 300)}
	h := ch.header(pdpp.Errorf(pdpp.CodePermission, "%s", strings.Repeat("x", 5000)), 403)
	if strings.Count(h, "x") > 201 || strings.Count(h, "m") < 300 {
		t.Errorf("header has %d bytes: %s", len(h), h)
	}
}

// Pages and discovery documents have no resource that a challenge could name.
func TestNoChallengeWithoutResource(t *testing.T) {
	srv := serve(t, Chain(failing(pdpp.Errorf(pdpp.CodePermission, "no")), WithRequestID, (&Edge{}).Gate))
	if got := send(t, srv, request{}); got.status != 403 || got.header.Get("WWW-Authenticate") != "" {
		t.Errorf("response: %d %v", got.status, got.header)
	}
}

func TestErrorsWithoutDetail(t *testing.T) {
	const secret = "s3cr3t"
	internal := `{"error":{"type":"api_error","code":"api_error","message":"Something went wrong on this server.","request_id":"abc"}}`
	done, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithTimeout(t.Context(), -1)
	defer cancel()
	tests := []struct {
		name   string
		ctx    context.Context
		err    error
		status int
		code   string
	}{
		{"other error", t.Context(), errors.New(secret), 500, "api_error"},
		{"our own internal", t.Context(), &pdpp.Error{Code: pdpp.CodeInternal, Message: secret, Param: secret, NextStep: secret}, 500, "api_error"},
		{"operator code", t.Context(), &pdpp.Error{Code: pdpp.CodeNotConfigured, Message: secret}, 500, "api_error"},
		{"unknown code", t.Context(), &pdpp.Error{Code: "made_up", Message: secret}, 500, "api_error"},
		{"deadline", t.Context(), fmt.Errorf("%s: %w", secret, context.DeadlineExceeded), 503, "timeout"},
		{"deadline in our own internal", t.Context(), &pdpp.Error{Code: pdpp.CodeInternal, Message: secret, Err: context.DeadlineExceeded}, 503, "timeout"},
		{"deadline of a socket", t.Context(), fmt.Errorf("%s: %w", secret, os.ErrDeadlineExceeded), 503, "timeout"},
		{"deadline that the driver does not wrap", late, errors.New(secret), 503, "timeout"},
		{"canceled", done, context.Canceled, 503, "temporarily_unavailable"},
		{"canceled, but not by the client", t.Context(), context.Canceled, 500, "api_error"},
		{"too large", t.Context(), fmt.Errorf("%s: %w", secret, &http.MaxBytesError{Limit: 1024}), 413, "resource_limit"},
		{"not found after the deadline", late, &pdpp.Error{Code: pdpp.CodeNotFound, Message: "No."}, 404, "not_found"},
		{"wrapped", t.Context(), fmt.Errorf("%s: %w", secret, pdpp.Errorf(pdpp.CodeNotFound, "No.")), 404, "not_found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, Chain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				WriteError(w, r.WithContext(context.WithValue(tt.ctx, stateKey{}, stateOf(r.Context()))), tt.err)
			}), WithRequestID))
			got := send(t, srv, request{header: headers("Request-Id", "abc")})
			if got.status != tt.status || errorOf(t, got)["code"] != tt.code {
				t.Errorf("response: %d %s", got.status, got.body)
			}
			if tt.status == 500 && got.body != internal+"\n" {
				t.Errorf("body = %s", got.body)
			}
			if strings.Contains(got.body, secret) || strings.Contains(fmt.Sprint(got.header), secret) {
				t.Errorf("the response contains the cause: %s", got.body)
			}
		})
	}
}

func TestRetryAfterIsKept(t *testing.T) {
	srv := serve(t, failing(&pdpp.Error{Code: pdpp.CodeRateLimited, RetryAfter: 42}))
	if v := send(t, srv, request{}).header.Get("Retry-After"); v != "42" {
		t.Errorf("Retry-After = %q", v)
	}
}

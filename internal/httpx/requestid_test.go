package httpx

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"pdpp"
)

func TestRequestID(t *testing.T) {
	srv := serve(t, Chain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, RequestID(r.Context()))
	}), WithRequestID))
	generated := regexp.MustCompile(`^req_[0-9a-f]{32}$`)
	long := strings.Repeat("a", 128)
	tests := []struct {
		name string
		sent []string
		want string // "" for a new one
	}{
		{"none", nil, ""},
		{"own", []string{"Ab9_.:-"}, "Ab9_.:-"},
		{"longest", []string{long}, long},
		{"too long", []string{long + "a"}, ""},
		{"empty", []string{""}, ""},
		{"space", []string{"a b"}, ""},
		{"quote", []string{`a"b`}, ""},
		{"not ascii", []string{"é"}, ""},
		{"two", []string{"a", "b"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := send(t, srv, request{header: http.Header{"Request-Id": tt.sent}})
			id := got.header.Get("Request-Id")
			if other := got.header.Get("X-Request-Id"); other != id {
				t.Errorf("X-Request-Id = %q, want %q", other, id)
			}
			if id != got.body {
				t.Errorf("header has %q, context has %q", id, got.body)
			}
			if tt.want != "" && id != tt.want {
				t.Errorf("Request-Id = %q, want %q", id, tt.want)
			}
			if tt.want == "" && !generated.MatchString(id) {
				t.Errorf("Request-Id = %q, want a new one", id)
			}
		})
	}
}

func TestRequestIDsDiffer(t *testing.T) {
	if a, b := newRequestID(), newRequestID(); a == b {
		t.Errorf("two ids are equal: %q", a)
	}
}

// Reads that a tool makes inside the process have the id of its request, but a state of
// their own (H-63).
func TestRequestIDInProcess(t *testing.T) {
	var outerToken pdpp.TokenID
	inner := Chain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		SetTokenID(r.Context(), "tok_inner")
		io.WriteString(w, RequestID(r.Context())+" "+Base(r.Context()))
	}), WithRequestID)
	outer := Chain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		SetTokenID(r.Context(), "tok_outer")
		rec := httptest.NewRecorder()
		inner.ServeHTTP(rec, httptest.NewRequestWithContext(r.Context(), "GET", "/v1/schema", nil))
		outerToken = stateOf(r.Context()).token
		io.WriteString(w, rec.Body.String())
	}), WithRequestID, (&Edge{}).Gate)
	srv := serve(t, outer)
	got := send(t, srv, request{header: headers("Request-Id", "abc")})
	if want := "abc " + srv.URL; got.body != want {
		t.Errorf("inner request: %q, want %q", got.body, want)
	}
	if outerToken != "tok_outer" {
		t.Errorf("token of the outer request = %q", outerToken)
	}
}

func TestStateSettersWithoutState(t *testing.T) {
	ctx := t.Context()
	SetTokenID(ctx, "tok_1")
	SetRoute(ctx, "/x")
	if id, base := RequestID(ctx), Base(ctx); id != "" || base != "" {
		t.Errorf("RequestID, Base = %q, %q, want empty", id, base)
	}
}

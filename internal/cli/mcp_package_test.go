package cli

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/credential"
	"pdpp/internal/rsclient"
)

// memberServer is a resource server that records the tokens of its requests.
type memberServer struct {
	*httptest.Server
	mu      sync.Mutex
	bearers []string
}

func newMemberServer(t *testing.T) *memberServer {
	t.Helper()
	s := new(memberServer)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get("Authorization")
		s.mu.Lock()
		s.bearers = append(s.bearers, token)
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"object":"list","data":[],"has_more":false}`))
	}))
	t.Cleanup(s.Close)
	return s
}

// takeBearers returns the tokens since the last call.
func (s *memberServer) takeBearers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.bearers = nil }()
	return s.bearers
}

// A member is read with its own token only. A member whose token has ended is not read,
// and its connection can no longer be chosen.
func TestMembersAreReadWithTheirTokens(t *testing.T) {
	server := newMemberServer(t)
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	now := start
	clock := func() time.Time { return now }
	cache := &credential.Cache{Root: filepath.Join(t.TempDir(), "cache"), Now: clock, Warn: func(m string) { t.Error(m) }}
	err := cache.Put(t.Context(), &credential.Credential{
		ID: "gpkg_1", Provider: server.URL, Token: "pdpp_pt_x", Kind: "mcp_package", Status: credential.Active, CreatedAt: start, ExpiresAt: start.Add(24 * time.Hour),
		Details: json.RawMessage(`[{"grant_id":"grt_1","source":{"connector_key":"bank"},"streams":[{"name":"entries","instance_ids":["cin_1"]}]},
			{"grant_id":"grt_2","source":{"connector_key":"bank"},"streams":[{"name":"entries","instance_ids":["cin_2"]},{"name":"cards","instance_ids":["cin_2"]}]}]`),
		Members: []credential.MemberToken{
			{GrantID: "grt_1", Token: "pdpp_at_one", ExpiresAt: start.Add(time.Hour)}, {GrantID: "grt_2", Token: "pdpp_at_two", ExpiresAt: start.Add(24 * time.Hour)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	holder, err := cache.Hold(server.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	rs, err := newHeldReader(holder, rsclient.Config{Provider: server.URL, Token: bearerOf(holder.Token, server.URL, slog.New(slog.DiscardHandler)), Renew: holder.Renew, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	read := func(stream, connection string) string {
		var q rsclient.Query
		q.Set("connection_id", connection)
		_, err := rs.Records(t.Context(), stream, q, rsclient.Prefer{})
		if e, ok := err.(*rsclient.Error); ok {
			return string(e.Code)
		}
		if err != nil {
			t.Fatal(err)
		}
		return ""
	}
	for _, step := range []struct {
		name, stream, connection string
		after                    time.Duration
		code                     string
		bearers                  []string
	}{
		{"AMBIG-1 no connection", "entries", "", 0, "ambiguous_connection", nil},
		{"PKG-4 a stream that one member grants", "cards", "", 0, "", []string{"Bearer pdpp_at_two"}},
		{"AMBIG-1 a stream that none grants", "letters", "", 0, "grant_stream_not_allowed", nil},
		{"PKG-4 the first", "entries", "cin_1", 0, "", []string{"Bearer pdpp_at_one"}},
		{"PKG-4 the second", "entries", "cin_2", 0, "", []string{"Bearer pdpp_at_two"}},
		{"H-186 the first after its end", "entries", "cin_1", time.Hour, "grant_expired", nil},
		{"H-86 the only one left", "entries", "", time.Hour, "", []string{"Bearer pdpp_at_two"}},
		{"MS-267 after the end of the package", "entries", "cin_2", 24 * time.Hour, "invalid_token", nil},
	} {
		t.Run(step.name, func(t *testing.T) {
			now = start.Add(step.after)
			if code := read(step.stream, step.connection); code != step.code {
				t.Errorf("code %q, want %q", code, step.code)
			}
			if diff := cmp.Diff(step.bearers, server.takeBearers()); diff != "" {
				t.Errorf("tokens of the requests (-want +got):\n%s", diff)
			}
		})
	}
}

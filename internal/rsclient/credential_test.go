package rsclient_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"pdpp"
	"pdpp/internal/rsclient"
)

func TestRenewal(t *testing.T) {
	t.Run("TOOLS-3 renewal", func(t *testing.T) {
		const fresh = "pdpp_at_fresh_0123456789abcdefgh"
		refuse := func(code string) http.HandlerFunc {
			return says(401, "application/json", `{"error":{"type":"authentication_error","code":"`+code+`","message":"no"}}`)
		}
		guarded := func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+fresh {
				refuse("invalid_token")(w, r)
				return
			}
			ok(w, r)
		}
		renews := func(token string, can bool, err error) func(*rsclient.Config) {
			return func(cfg *rsclient.Config) {
				cfg.Renew = func(_ context.Context, stale string) (string, bool, error) {
					if stale != bearer {
						t.Errorf("Renew(%q)", stale)
					}
					return token, can, err
				}
			}
		}
		tests := []struct {
			name  string
			h     http.HandlerFunc
			renew func(*rsclient.Config)
			calls int32
			code  pdpp.Code
		}{
			{"renewed", guarded, renews(fresh, true, nil), 2, ""},
			{"renewed in vain", refuse("invalid_token"), renews(fresh, true, nil), 2, "invalid_token"},
			{"another server", refuse("context.active_false"), renews(fresh, true, nil), 2, "context.active_false"},
			{"cannot renew", guarded, renews("", false, nil), 1, "invalid_token"},
			{"renewal fails", guarded, renews(fresh, true, errors.New("no network for "+bearer)), 1, "invalid_token"},
			{"the same again", guarded, renews(bearer, true, nil), 1, "invalid_token"},
			{"scope, not token", refuse("context.stream_not_allowed"), renews(fresh, true, nil), 1, "context.stream_not_allowed"},
			{"403", says(403, "application/json", `{"error":{"code":"grant_revoked"}}`), renews(fresh, true, nil), 1, "grant_revoked"},
		}
		for _, test := range tests {
			var log bytes.Buffer
			h, calls := inTurn(test.h)
			c := serve(t, h, test.renew, func(cfg *rsclient.Config) { cfg.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
			_, err := c.Schema(t.Context(), rsclient.Query{})
			code := pdpp.Code("")
			if err != nil {
				code = failed(t, err).Code
			}
			if code != test.code || calls.Load() != test.calls {
				t.Errorf("%s: code %q after %d calls, want %q after %d", test.name, code, calls.Load(), test.code, test.calls)
			}
			if strings.Contains(log.String(), bearer) {
				t.Errorf("%s: the log has the token: %s", test.name, &log)
			}
		}
	})
}

func TestNoCredential(t *testing.T) {
	t.Run("STDIO-4 no credential", func(t *testing.T) {
		lost := &rsclient.Error{Status: 401, Code: "credential_lost", Message: "m", Object: []byte(`{}`)}
		tests := map[string]struct {
			token string
			err   error
			code  pdpp.Code
		}{
			"passed on": {"", fmt.Errorf("cache: %w", lost), "credential_lost"},
			"any other": {"", errors.New("no such file"), "invalid_token"},
			"empty":     {"", nil, "invalid_token"},
		}
		for name, test := range tests {
			h, calls := inTurn(ok)
			c := serve(t, h, func(cfg *rsclient.Config) {
				cfg.Token = func(context.Context) (string, error) { return test.token, test.err }
			})
			_, err := c.Schema(t.Context(), rsclient.Query{})
			if e := failed(t, err); e.Code != test.code || calls.Load() != 0 {
				t.Errorf("%s: %v after %d calls", name, e, calls.Load())
			}
		}
		var sent http.Header
		c := serve(t, func(w http.ResponseWriter, r *http.Request) { sent = r.Header; ok(w, r) }, func(cfg *rsclient.Config) {
			cfg.Token, cfg.RequestID = nil, func(context.Context) string { return "" }
		})
		if _, err := c.Schema(t.Context(), rsclient.Query{}); err != nil || sent["Authorization"] != nil || sent["Request-Id"] != nil {
			t.Errorf("in process: %v, %v", err, sent)
		}
	})
}

package rs_test

import (
	"context"
	"strings"
	"testing"

	"pdpp"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
	"pdpp/internal/store"
)

// interrupted is a store that calls before with the number of complete slices at the start
// of each slice of a write. The slice fails with the error of before.
type interrupted struct {
	store.Store
	before func(done int) error
	done   int
}

func (s *interrupted) Bulk(ctx context.Context, fn func(store.Tx) error) error {
	if err := s.before(s.done); err != nil {
		return err
	}
	s.done++
	return s.Store.Bulk(ctx, fn)
}

func (s *interrupted) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := s.before(s.done); err != nil {
		return err
	}
	return s.Store.Update(ctx, fn)
}

func interrupt(w *resttest.World, before func(done int) error) *resttest.World {
	return secondServer(w, func(c *server.Config) { c.Store = &interrupted{Store: w.Store, before: before} })
}

// twoSlices returns two lines that do not fit into one slice.
func twoSlices() string {
	long := quoted(strings.Repeat("long ", 500_000))
	return `{"key":"n1","data":{"id":"n1","note":` + long + `}}` + "\n" + `{"key":"n2","data":{"id":"n2","note":` + long + `}}`
}

// TestFullDisk: the message says how much of the write was done.
func TestFullDisk(t *testing.T) {
	full := &pdpp.Error{Code: pdpp.CodeUnavailable, Message: "The disk is full.", RetryAfter: 60}
	const records = "/v1/streams/entries/records"
	for _, c := range []struct {
		name, method, target string
		slices               int // number that succeed
		code                 pdpp.Code
		message              string
	}{
		{"I-7 ingest", "POST", ingestPath, 0, pdpp.CodeIngestStorage, "The disk is full. The records were not stored. Send the same call again."},
		{"I-7 ingest in part", "POST", ingestPath, 1, pdpp.CodeIngestStorage, "The disk is full. Not all records could be stored: of the accepted lines the first 1 were. Send the same call again."},
		{"I-9 delete", "DELETE", records + "/ent_31?connection_id=cin_a1", 0, pdpp.CodeUnavailable, "The disk is full. Nothing was changed."},
		{"I-9 delete all", "DELETE", records + "?connection_id=cin_a1", 0, pdpp.CodeUnavailable, "The disk is full. Nothing was changed."},
		{"I-9 delete all in part", "DELETE", records + "?connection_id=cin_a1", 1, pdpp.CodeUnavailable, "The disk is full. 2 records were deleted before the failure."},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := ledger(t)
			faulty := interrupt(w, func(done int) error {
				if done == c.slices {
					return full
				}
				return nil
			})
			a := faulty.Do(c.method, w.OwnerToken(), c.target, twoSlices(), "Content-Type: application/x-ndjson")
			expectError(t, a, 503, c.code)
			if got := a.At("error.message"); got != c.message || a.Header.Get("Retry-After") != "60" {
				t.Errorf("Retry-After %q, want 60; message %v", a.Header.Get("Retry-After"), got)
			}
		})
	}
}

// TestTokenRevokedBetweenSlices: the message says how much of the write was done.
func TestTokenRevokedBetweenSlices(t *testing.T) {
	for _, c := range []struct{ name, method, target, message string }{
		{"I-11 ingest", "POST", ingestPath, "Not all records could be stored: of the accepted lines the first 1 were."},
		{"I-11 delete all", "DELETE", "/v1/streams/entries/records?connection_id=cin_a1", "2 records were deleted before the failure."},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := ledger(t)
			token, id := mint(w, store.Token{Kind: pdpp.TokenOwner})
			faulty := interrupt(w, func(done int) error {
				if done == 1 {
					revokeToken(w, id)
				}
				return nil
			})
			a := faulty.Do(c.method, token, c.target, twoSlices(), "Content-Type: application/x-ndjson")
			expectError(t, a, 401, pdpp.CodeInvalidToken)
			if got, _ := a.At("error.message").(string); !strings.HasSuffix(got, " "+c.message) {
				t.Errorf("message = %q, want the end %q", got, c.message)
			}
		})
	}
}

package rs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/store"
)

// H-196: each read with a grant is counted once, by its route and the stream that it asks
// for; records are counted by their stream.
func TestH196ReadsAreCounted(t *testing.T) {
	w := filledCabinet(t)
	tok, g := w.Grant(cabinetGrant)
	for _, row := range []struct {
		name    string
		targets []string
		want    []string
	}{
		{"a list", []string{"/v1/streams/items/records?limit=3", "/v1/streams/items/records?limit=2"}, []string{
			"/v1/streams/{stream}/records items: 2 reads, 5 records, 0 refused",
		}},
		{"a record", []string{"/v1/streams/items/records/left"}, []string{
			"/v1/streams/{stream}/records/{id} items: 1 reads, 1 records, 0 refused",
		}},
		{"a record and its related ones", []string{"/v1/streams/items/records/tie?connection_id=cin_c1&expand=notes,cover"}, []string{
			"/v1/streams/{stream}/records/{id} covers: 0 reads, 1 records, 0 refused",
			"/v1/streams/{stream}/records/{id} items: 1 reads, 1 records, 0 refused",
			"/v1/streams/{stream}/records/{id} notes: 0 reads, 2 records, 0 refused",
		}},
		{"a list and its related ones", []string{"/v1/streams/items/records?connection_id=cin_c1&filter[id]=tie&expand=notes"}, []string{
			"/v1/streams/{stream}/records items: 1 reads, 1 records, 0 refused",
			"/v1/streams/{stream}/records notes: 0 reads, 2 records, 0 refused",
		}},
		{"a part of a field", []string{"/v1/streams/items/records/left/field-window?field=title"}, []string{
			"/v1/streams/{stream}/records/{id}/field-window items: 1 reads, 1 records, 0 refused",
		}},
		{"an aggregate", []string{"/v1/streams/items/aggregate?metric=count"}, []string{
			"/v1/streams/{stream}/aggregate items: 1 reads, 0 records, 0 refused",
		}},
		{"changes", []string{"/v1/streams/notes/records?changes_since=beginning"}, []string{
			"/v1/streams/{stream}/records notes: 1 reads, 5 records, 0 refused",
		}},
		{"descriptions", []string{"/v1/streams", "/v1/schema", "/v1/schema?stream=items", "/v1/connectors"}, []string{
			"/v1/connectors : 1 reads, 0 records, 0 refused",
			"/v1/schema : 1 reads, 0 records, 0 refused",
			"/v1/schema items: 1 reads, 0 records, 0 refused",
			"/v1/streams : 1 reads, 0 records, 0 refused",
		}},
		{"nothing for what fails", []string{"/v1/streams/items/records/nowhere", "/v1/streams/items/records?limit=x", "/v1/nothing"}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			w.Advance(24 * time.Hour)
			for _, target := range row.targets {
				w.Get(tok, target)
			}
			var got []string
			for _, c := range today(w) {
				if c.Grant != g || c.Package != "" {
					t.Errorf("%+v is not counted for grant %s", c, g)
				}
				got = append(got, fmt.Sprintf("%s %s: %d reads, %d records, %d refused", c.Via, c.Stream, c.Reads, c.Records, c.Refusals))
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("%v (-want +got):\n%s", row.targets, diff)
			}
		})
	}
}

// H-196: a search of several streams counts as a read of none of them.
func TestH196SearchesAreCounted(t *testing.T) {
	w := ledger(t)
	tok, _ := w.Grant(ledgerGrant)
	w.Get(tok, "/v1/search?q=rent").OK()
	w.Get(tok, "/v1/search?q=rent&streams=entries&streams=receipts").OK()
	w.Get(tok, "/v1/search?q=rent&limit=1&streams=entries").OK()
	want := []string{"/v1/search : 2 reads, 0 records, 0 refused", "/v1/search entries: 1 reads, 5 records, 0 refused"}
	if diff := cmp.Diff(want, w.Reads()); diff != "" {
		t.Errorf("searches (-want +got):\n%s", diff)
	}
}

// today returns what was read of the owner on the day of the clock.
func today(w *resttest.World) []store.ReadCount {
	return resttest.Recorded(w, func(v store.View) ([]store.ReadCount, error) { return v.Reads(w.Subject, w.Now()) })
}

func TestH196OwnReadsAreNotCounted(t *testing.T) {
	w := ledger(t)
	tok, _ := w.Grant(ledgerGrant)
	w.Get(w.OwnerToken(), "/v1/streams/entries/records").OK()
	if got := w.Reads(); len(got) != 0 {
		t.Errorf("reads of the owner are counted: %q", got)
	}
	if a := w.Do("HEAD", tok, "/v1/streams/entries/records", ""); a.Status != 200 {
		t.Errorf("HEAD answers %d", a.Status)
	}
	if diff := cmp.Diff([]string{"/v1/streams/{stream}/records entries: 1 reads, 0 records, 0 refused"}, w.Reads()); diff != "" {
		t.Errorf("HEAD, which returns no records (-want +got):\n%s", diff)
	}
}

// H-196: what the rights of a valid token do not allow is counted, with the latest code.
// Names that a client made up are not stored.
func TestH196RefusalsAreCounted(t *testing.T) {
	w := ledger(t)
	tok, g := w.Grant(ledgerGrant)
	expectError(t, w.Get(tok, "/v1/streams/invented/records"), 403, pdpp.CodeStreamNotAllowed)
	expectError(t, w.Get(tok, "/v1/streams/entries/records?fields=amount_minor"), 403, pdpp.CodeFieldNotGranted)
	expectError(t, w.Do("DELETE", tok, "/v1/streams/entries/records/invented?connection_id=cin_a1", ""), 403, pdpp.CodePermission)
	w.Revoke(g)
	w.Advance(time.Minute)
	for range 2 {
		expectError(t, w.Get(tok, "/v1/streams/entries/records"), 403, pdpp.CodeGrantRevoked)
	}
	want := []string{
		"/v1 : 0 reads, 0 records, 2 refused",
		"/v1/streams/{stream}/records : 0 reads, 0 records, 1 refused",
		"/v1/streams/{stream}/records entries: 0 reads, 0 records, 1 refused",
		"/v1/streams/{stream}/records/{id} : 0 reads, 0 records, 1 refused",
	}
	if diff := cmp.Diff(want, w.Reads()); diff != "" {
		t.Errorf("refusals (-want +got):\n%s", diff)
	}
	latest := resttest.Recorded(w, func(v store.View) ([]store.Refusal, error) { return v.Refusals(w.Subject) })
	if diff := cmp.Diff([]store.Refusal{{Subject: w.Subject, Grant: g, At: w.Now(), Via: "/v1", Code: pdpp.CodeGrantRevoked}}, latest); diff != "" {
		t.Errorf("the latest refusal (-want +got):\n%s", diff)
	}
}

// H-196: an owner sees only what was read of their own data.
func TestH196OthersAreNotShown(t *testing.T) {
	w := ledger(t)
	bea := w.As(w.Owner("bea"))
	bea.ManifestFile("../manifest/testdata/ledgerly.json")
	bea.Connect("ledgerly", "cin_z1", "")
	tok, _ := w.Grant(ledgerGrant)
	hers, g := bea.Grant(ledgerGrant)
	w.Get(tok, "/v1/streams/entries/records").OK()
	w.Get(hers, "/v1/streams/receipts/records").OK()
	bea.Revoke(g)
	w.Get(hers, "/v1/schema")
	if diff := cmp.Diff([]string{"/v1/streams/{stream}/records entries: 1 reads, 3 records, 0 refused"}, w.Reads()); diff != "" {
		t.Errorf("the owner sees (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/v1 : 0 reads, 0 records, 1 refused", "/v1/streams/{stream}/records receipts: 1 reads, 0 records, 0 refused"}, bea.Reads()); diff != "" {
		t.Errorf("the other owner sees (-want +got):\n%s", diff)
	}
	mine := resttest.Recorded(w, func(v store.View) ([]store.Refusal, error) { return v.Refusals(w.Subject) })
	audits := resttest.Recorded(w, func(v store.View) ([]store.Audit, error) { return v.Audits(w.Subject, 10) })
	if len(mine) != 0 || len(audits) != 0 {
		t.Errorf("refusals of another owner are shown: %v %v", mine, audits)
	}
}

// H-197, S21: a refused bearer has an audit row, with ids and the address, without the
// token.
func TestH197RefusedBearers(t *testing.T) {
	w := ledger(t)
	tok, g := w.Grant(ledgerGrant)
	old, oldID := mintFor(w, g, store.Token{Audience: []string{"rest"}, ExpiresAt: w.Now().Add(time.Minute)})
	var client pdpp.ClientID
	w.Update(func(tx store.Tx) error {
		found, err := tx.Grant(w.Subject, g)
		client = found.Client.ID
		return err
	})
	w.Advance(time.Minute)
	w.Get(tok, "/v1/schema").OK()
	w.Get("", "/v1/schema")
	for range 3 {
		expectError(t, w.Get(old, "/v1/schema", "Request-Id: req_old"), 401, pdpp.CodeInvalidToken)
	}
	expectError(t, w.Get("pdpp_at_invented", "/v1/schema", "Request-Id: req_new"), 401, pdpp.CodeInvalidToken)
	row := store.Audit{
		At: w.Now(), Action: store.BearerRefused, Actor: store.ByClient, Code: pdpp.CodeInvalidToken, RequestID: "req_new", Address: "127.0.0.1", Times: 1,
	}
	audits := func(subject pdpp.SubjectID) []store.Audit {
		return resttest.Recorded(w, func(v store.View) ([]store.Audit, error) { return v.Audits(subject, 10) })
	}
	if diff := cmp.Diff([]store.Audit{row}, audits("")); diff != "" {
		t.Errorf("rows of no owner (-want +got):\n%s", diff)
	}
	row.Subject, row.Client, row.Grant, row.Token, row.RequestID, row.Times = w.Subject, client, g, oldID, "req_old", 3
	if diff := cmp.Diff([]store.Audit{row}, audits(w.Subject)); diff != "" {
		t.Errorf("rows of the owner (-want +got):\n%s", diff)
	}
	if text := fmt.Sprintf("%+v", append(audits(""), audits(w.Subject)...)); slices.ContainsFunc([]string{old, tok, "invented"}, func(s string) bool { return strings.Contains(text, s) }) {
		t.Errorf("an audit row has a token: %s", text)
	}
	if got := w.Reads(); len(got) != 1 || !strings.Contains(got[0], "0 refused") {
		t.Errorf("a token that is not valid is counted as a refusal of its grant: %q", got)
	}
}

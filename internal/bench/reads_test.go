package bench

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"pdpp/internal/grant"
	"pdpp/internal/manifest"
	"pdpp/internal/query"
)

// TestRequestedPages sends requests to a real server: a cursor of this package continues
// after the record that it names.
func TestRequestedPages(t *testing.T) {
	const n = 120
	s := testSuite(t)
	dir, _, err := s.Build(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	a, err := newRequester(t.Context(), s.Corpus, dir, n)
	if err != nil {
		t.Fatal(err)
	}
	serve := func(ctx context.Context, ready func(string)) error { return Serve(ctx, dir, ready) }
	err = serving(t.Context(), serve, func(addr string) error {
		bodies, err := fetch(addr, [][]byte{a.first(), a.pageAt(60, ""), a.filtered(), a.ranged(), a.detail()}, 5)
		if err != nil {
			return err
		}
		if ids := idsOf(t, bodies[0]); len(ids) != 25 || ids[0] != string(s.Corpus.ID(n-1)) {
			t.Errorf("first page = %v, want 25 records, the newest first", ids)
		}
		if ids := idsOf(t, bodies[1]); len(ids) != 25 || ids[0] != string(s.Corpus.ID(59)) {
			t.Errorf("page after record 60 = %v, want 25 records from %s", ids, s.Corpus.ID(59))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func idsOf(t *testing.T, body []byte) []string {
	t.Helper()
	var page struct {
		Data []struct {
			ID   string
			Data map[string]any
		}
	}
	if err := json.Unmarshal(body, &page); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range page.Data {
		ids = append(ids, r.ID)
		if _, shown := r.Data["thread_id"]; shown || len(r.Data) != len(grantedFields) {
			t.Errorf("record shows %d fields, want the %d granted ones", len(r.Data), len(grantedFields))
		}
	}
	return ids
}

func testSuite(t *testing.T) *Suite {
	return &Suite{Dir: t.TempDir(), Corpus: NewCorpus(), Progress: func(string, ...any) {}}
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 9}, 3}} {
		given := slices.Clone(tt.values)
		if got := median(tt.values); got != tt.want || !slices.Equal(given, tt.values) {
			t.Errorf("median(%v) = %v, want %v and the values unchanged", given, got, tt.want)
		}
	}
}

func TestResident(t *testing.T) {
	got, err := resident("Name:\tpdpp\nVmPeak:\t 99 kB\nVmRSS:\t  12345 kB\nThreads:\t7\n")
	if got != 12345 || err != nil {
		t.Errorf("resident = %d, %v, want 12345", got, err)
	}
	if _, err := resident("Name:\tpdpp\n"); err == nil {
		t.Error("a status without VmRSS must be an error")
	}
}

func TestCursorOrder(t *testing.T) {
	m, err := manifest.Parse(mailManifest)
	if err != nil {
		t.Fatal(err)
	}
	rows := []grant.Row{{Manifest: m, Stream: m.Stream(stream)}}
	if got := query.OrderName(query.Order{By: query.ByCursor}, rows); got != cursorOrder {
		t.Errorf("OrderName = %q, the cursors of the benchmark are for %q", got, cursorOrder)
	}
}

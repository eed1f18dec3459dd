package grant

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
)

// FuzzFreeze checks that an accepted grant names only what is in the catalog, and that
// Document and ParseDocument preserve it.
func FuzzFreeze(f *testing.F) {
	for _, tt := range invalidSpecs {
		if len(tt.spec) < 1000 {
			f.Add([]byte(tt.spec))
		}
	}
	f.Add([]byte(one(`{"name":"messages","view":"brief","time_range":{"since":"2025-01-01"},"resources":["m1"]}`)))
	f.Add([]byte(with(`"expires_in":"90d","retention":{"max_duration":"P6M"}`)))
	f.Add([]byte(one(`{"name":"*"}`)))
	cat := testCatalog(f)
	f.Fuzz(func(t *testing.T, spec []byte) {
		g, err := Freeze(spec, cat, issue())
		if err != nil {
			if pdpp.CodeOf(err) != pdpp.CodeInvalidInput || g != nil {
				t.Fatalf("Freeze(%q) = %v, %v", spec, g, err)
			}
			return
		}
		checkWithin(t, g, cat)
		back, err := ParseDocument(Document(g), g.ConnectorKey)
		if err != nil {
			t.Fatalf("ParseDocument(%s): %v", Document(g), err)
		}
		if diff := cmp.Diff(g, back); diff != "" {
			t.Fatalf("round trip (-want +got):\n%s", diff)
		}
	})
}

// checkWithin checks that everything in a grant is in the catalog.
func checkWithin(t *testing.T, g *pdpp.Grant, cat *pdpp.Catalog) {
	t.Helper()
	m := cat.Manifest(g.ConnectorKey)
	if m == nil || m.SourceID != g.SourceID || m.Digest != g.ManifestDigest || len(g.Streams) == 0 {
		t.Fatalf("the source of the grant is not registered: %+v", g)
	}
	if !g.ExpiresAt.IsZero() && !g.ExpiresAt.After(g.IssuedAt) || g.AccessMode == SingleUse && g.ExpiresAt.IsZero() {
		t.Fatalf("issued %v, expires %v, %s", g.IssuedAt, g.ExpiresAt, g.AccessMode)
	}
	for _, gs := range g.Streams {
		s := m.Stream(gs.Name)
		if s == nil || len(gs.Fields) == 0 || len(gs.Connections) == 0 {
			t.Fatalf("stream %+v is not declared, or grants nothing", gs)
		}
		last := -1
		for _, name := range gs.Fields {
			f := s.Field(name)
			if f == nil || f.Index <= last {
				t.Fatalf("field %q of %s is not declared, or out of order", name, s.Name)
			}
			last = f.Index
		}
		for _, name := range s.PrimaryKey {
			if !slices.Contains(gs.Fields, name) {
				t.Fatalf("key field %q of %s is missing", name, s.Name)
			}
		}
		for _, id := range gs.Connections {
			c, ok := cat.Connection(id)
			if !ok || c.Connector != m.ConnectorKey || c.Status != "active" {
				t.Fatalf("connection %q is not an active connection of %s", id, m.ConnectorKey)
			}
		}
	}
}

// FuzzParseDocument checks that an accepted document has the same meaning when it is
// written and parsed again.
func FuzzParseDocument(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(sample[:len(sample)/2]))
	f.Add([]byte(`{"version":"0.1.0","version":"0.1.0"}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		g, err := ParseDocument(doc, "mail")
		if err != nil {
			if pdpp.CodeOf(err) != pdpp.CodeGrantInvalid || g != nil {
				t.Fatalf("ParseDocument(%q) = %v, %v", doc, g, err)
			}
			return
		}
		back, err := ParseDocument(Document(g), "mail")
		if err != nil {
			t.Fatalf("ParseDocument(%s): %v", Document(g), err)
		}
		if diff := cmp.Diff(g.Streams, back.Streams); diff != "" {
			t.Fatalf("round trip (-want +got):\n%s", diff)
		}
		if back.ExpiresAt.IsZero() != g.ExpiresAt.IsZero() || back.ExpiresAt.After(g.ExpiresAt) {
			t.Fatalf("expires %v, then %v", g.ExpiresAt, back.ExpiresAt)
		}
	})
}

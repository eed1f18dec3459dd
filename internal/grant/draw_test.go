package grant

import (
	"encoding/json"
	"time"

	"pgregory.net/rapid"

	"pdpp"
)

// drawGrant freezes a random valid spec.
func drawGrant(t *rapid.T, cat *pdpp.Catalog) *pdpp.Grant {
	t.Helper()
	m := rapid.SampledFrom(cat.Manifests[:2]).Draw(t, "source")
	spec := map[string]any{
		"source":  map[string]any{"connector_key": m.ConnectorKey},
		"streams": drawStreams(t, m, cat),
	}
	drawTerms(t, spec)
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	in := issue()
	in.Now = noon.Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "now")))
	in.ClientName = rapid.String().Draw(t, "client")
	g, err := Freeze(text, cat, in)
	if err != nil {
		t.Fatalf("Freeze(%s): %v", text, err)
	}
	return g
}

func drawTerms(t *rapid.T, spec map[string]any) {
	t.Helper()
	if rapid.Bool().Draw(t, "has purpose") {
		spec["purpose_description"] = rapid.StringN(1, 20, -1).Draw(t, "purpose")
	}
	if rapid.Bool().Draw(t, "has retention") {
		spec["retention"] = map[string]any{"max_duration": rapid.SampledFrom([]string{"P1Y2M", "P3W", "PT5H"}).Draw(t, "retention")}
	}
	switch rapid.IntRange(0, 3).Draw(t, "expiry") {
	case 0:
		spec["expires_in"] = rapid.SampledFrom([]string{"90d", "15m", "7s"}).Draw(t, "in")
	case 1:
		spec["expires_at"] = drawTime(t, 2030).Format(time.RFC3339Nano)
	case 2:
		spec["access_mode"] = SingleUse
	}
}

func drawTime(t *rapid.T, year int) time.Time {
	t.Helper()
	start := time.Date(year, 1, 1, 0, 0, 0, 0, time.FixedZone("", 5400))
	return start.Add(time.Duration(rapid.Int64Range(0, int64(300*24*time.Hour)).Draw(t, "time")))
}

func drawStreams(t *rapid.T, m *pdpp.Manifest, cat *pdpp.Catalog) []map[string]any {
	t.Helper()
	var active []pdpp.ConnectionID
	for _, c := range cat.Connections {
		if c.Connector == m.ConnectorKey && c.Status == "active" {
			active = append(active, c.ID)
		}
	}
	streams := rapid.SliceOfNDistinct(rapid.SampledFrom(m.Streams), 1, -1, rapid.ID[*pdpp.Stream]).Draw(t, "streams")
	var out []map[string]any
	for _, s := range streams {
		entry := map[string]any{"name": s.Name}
		if rapid.Bool().Draw(t, "has connections") {
			entry["instance_ids"] = rapid.SliceOfNDistinct(rapid.SampledFrom(active), 1, -1, rapid.ID[pdpp.ConnectionID]).Draw(t, "connections")
		}
		drawNarrowing(t, s, entry)
		out = append(out, entry)
	}
	return out
}

func drawNarrowing(t *rapid.T, s *pdpp.Stream, entry map[string]any) {
	t.Helper()
	if s.SelectFields && rapid.Bool().Draw(t, "has fields") {
		names := AllFields(s)
		entry["fields"] = rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, -1, rapid.ID[string]).Draw(t, "fields")
	} else if len(s.Views) > 0 && rapid.Bool().Draw(t, "has view") {
		entry["view"] = s.Views[0].ID
	}
	if s.ConsentTimeField != "" {
		bounds := map[string]any{}
		if rapid.Bool().Draw(t, "has since") {
			bounds["since"] = drawTime(t, 2020).Format(time.RFC3339Nano)
		}
		if rapid.Bool().Draw(t, "has until") {
			bounds["until"] = drawTime(t, 2025).Format(time.RFC3339Nano)
		}
		if len(bounds) > 0 {
			entry["time_range"] = bounds
		}
	}
	if s.SelectResources && rapid.Bool().Draw(t, "has resources") {
		ids := rapid.StringN(1, 20, 100).Filter(func(s string) bool { return pdpp.RecordID(s).Valid() })
		entry["resources"] = rapid.SliceOfNDistinct(ids, 1, 5, rapid.ID[string]).Draw(t, "resources")
	}
}

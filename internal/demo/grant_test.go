package demo

import (
	"encoding/json"
	"slices"
	"testing"

	"pdpp"
)

type grantSpec struct {
	Source struct {
		ConnectorKey string `json:"connector_key"`
	}
	Streams []struct {
		Name        string
		Fields      []string
		Connections []string
		TimeRange   *struct{ Since, Until string } `json:"time_range"`
	}
	AccessMode         string `json:"access_mode"`
	PurposeDescription string `json:"purpose_description"`
	ExpiresIn          string `json:"expires_in"`
}

func TestGrantSpec(t *testing.T) {
	var spec grantSpec
	if err := json.Unmarshal(GrantSpec(), &spec); err != nil {
		t.Fatal(err)
	}
	streams := declared(t)
	fields := map[string][]string{}
	for _, s := range spec.Streams {
		stream := streams[streamKey{spec.Source.ConnectorKey, s.Name}]
		if stream == nil {
			t.Fatalf("no stream %q", s.Name)
		}
		for _, f := range s.Fields {
			if stream.Field(f) == nil {
				t.Errorf("%s has no field %q", s.Name, f)
			}
		}
		if !slices.Equal(s.Connections, []string{"personal", "work"}) {
			t.Errorf("%s on %v", s.Name, s.Connections)
		}
		if bounded := stream.ConsentTimeField != ""; bounded != (s.TimeRange != nil) { // H-146
			t.Errorf("%s: time range %v, consent time field %q", s.Name, s.TimeRange, stream.ConsentTimeField)
		}
		if s.TimeRange != nil && s.TimeRange.Since != "2025-01-01T00:00:00Z" {
			t.Errorf("%s since %s", s.Name, s.TimeRange.Since)
		}
		fields[s.Name] = s.Fields
	}
	for _, hidden := range []string{"from_address", "is_read"} {
		if slices.Contains(fields["messages"], hidden) {
			t.Errorf("messages grants %s", hidden)
		}
	}
	if !slices.Contains(fields["messages"], "body_text") || slices.Contains(fields["contacts"], "notes") || len(fields["contacts"]) == 0 {
		t.Errorf("fields: %v", fields)
	}
	if _, ok := pdpp.ParseDuration(spec.ExpiresIn); !ok || spec.AccessMode != "continuous" {
		t.Errorf("expires_in %q, access_mode %q", spec.ExpiresIn, spec.AccessMode)
	}
}

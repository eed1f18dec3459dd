package evidence

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFields(t *testing.T) {
	r := &Record{
		Presentation: &Presentation{BlobsByID: true},
		Truncated: map[string]*Truncation{
			"long": {TotalChars: 900, ShownChars: 2}, "tree": {TotalChars: 900, ShownChars: 2, AsJSON: true},
			"scan": {TotalChars: 900, Binary: &Binary{Kind: KindBase64Text, SizeBytes: -1}},
		},
	}
	r.SetData([]byte(`{"n":1.50,"s":"x","o":{"id":"p1","name":"Ada"},"blob":{"blob_id":"b7","mime_type":"image/png"},` +
		`"files":[{"blob_id":"b8"}],"raw":{"mime_type":"text/plain","size":3},"long":"ab","tree":"[1","scan":""}`))
	type shown struct {
		Name  string
		Shape Shape
		Kind  string
		Blob  string
	}
	var got []shown
	for _, f := range r.AppendFields(nil) {
		s := shown{Name: f.Name, Shape: f.Shape}
		if f.File != nil {
			s.Kind, s.Blob = f.File.Kind, f.File.BlobID
		}
		got = append(got, s)
	}
	want := []shown{
		{"n", ShapeScalar, "", ""},
		{"s", ShapeText, "", ""},
		{"o", ShapeNested, "", ""},
		{"blob", ShapeBinary, KindBlobReference, "b7"},
		{"files", ShapeNested, "", ""},
		{"raw", ShapeBinary, KindEmbeddedObject, ""},
		{"long", ShapeText, "", ""},
		{"tree", ShapeNested, "", ""},
		{"scan", ShapeBinary, KindBase64Text, ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Fields (-want +got):\n%s", diff)
	}
	if got := BlobIDOf([]byte(`{"blob_id":"b7"}`)) + BlobIDOf([]byte(`{"id":"b7"}`)) + BlobIDOf([]byte(`"b7"`)); got != "b7" {
		t.Errorf("BlobIDOf = %q", got)
	}
}

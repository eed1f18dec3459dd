package evidence

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const hash = "9f2c5ed5a4f1d3b0c7e6a8f9b0c1d2e3f405162738495a6b7c8d9e0f1a2b3c4d"

func TestSizeGrade(t *testing.T) {
	for size, want := range map[int64]string{
		-1: "", 0: "small", 65535: "small", 65536: "medium", 1<<20 - 1: "medium", 1 << 20: "large", 1 << 40: "large",
	} {
		if got := (Binary{SizeBytes: size}).sizeGrade(); got != want {
			t.Errorf("sizeGrade of %d = %q, want %q", size, got, want)
		}
	}
}

func TestDetectBinaryObject(t *testing.T) {
	blob := `{"blob_id":"blob_1","mime_type":"image/png","size_bytes":48213,"sha256":"` + hash + `"}`
	for name, tt := range map[string]struct {
		value    string
		declared bool
		want     *Binary // nil: not binary
	}{
		"declared blob": {blob, true, &Binary{KindBlobReference, "image/png", 48213, hash}},
		"undeclared blob is still an object with type and size": {
			blob, false, &Binary{KindEmbeddedObject, "image/png", 48213, hash},
		},
		"declared, id alone":                 {`{"blob_id":"b"}`, true, &Binary{KindBlobReference, "", -1, ""}},
		"undeclared, id alone":               {`{"blob_id":"b"}`, false, nil},
		"declared, without id":               {`{"name":"x"}`, true, nil},
		"declared, id not a string":          {`{"blob_id":7}`, true, nil},
		"declared null":                      {`null`, true, nil},
		"a person":                           {`{"id":"u1","name":"Ada"}`, false, nil},
		"a person in a blob field":           {`{"id":"u1","name":"Ada"}`, true, nil},
		"type and size":                      {`{"mimeType":"Image/JPEG","size":10}`, false, &Binary{KindEmbeddedObject, "image/jpeg", 10, ""}},
		"size_bytes before size":             {`{"size":1,"mime_type":"a/b","size_bytes":20}`, false, &Binary{KindEmbeddedObject, "a/b", 20, ""}},
		"size after size_bytes":              {`{"size_bytes":20,"mime_type":"a/b","size":1}`, false, &Binary{KindEmbeddedObject, "a/b", 20, ""}},
		"type with parameters":               {`{"content_type":"text/html; charset=utf-8","fetch_url":"/x"}`, false, &Binary{KindEmbeddedObject, "text/html", -1, ""}},
		"type and digest":                    {`{"mime_type":"a/b","digest":"sha256:` + strings.ToUpper(hash) + `"}`, false, &Binary{KindEmbeddedObject, "a/b", -1, hash}},
		"other digest":                       {`{"mime_type":"a/b","digest":"md5:00"}`, false, &Binary{KindEmbeddedObject, "a/b", -1, ""}},
		"type alone":                         {`{"mime_type":"image/png","name":"x.png"}`, false, nil},
		"size alone":                         {`{"size":10,"sha256":"` + hash + `"}`, false, nil},
		"type of article":                    {`{"content_type":"article","size":10}`, false, nil},
		"type with a space":                  {`{"content_type":"see a / b","size":10}`, false, nil},
		"negative size":                      {`{"mime_type":"a/b","size":-1}`, false, nil},
		"size is text":                       {`{"mime_type":"a/b","size":"XL"}`, false, nil},
		"empty digest and url":               {`{"mime_type":"a/b","digest":"","fetch_url":null}`, false, nil},
		"escaped names":                      {`{"\u006dime_type":"a\/b","size":1}`, false, &Binary{KindEmbeddedObject, "a/b", 1, ""}},
		"contains a binary object":           {`{"file":{"mime_type":"image/png","size":10}}`, false, nil},
		"undeclared list":                    {"[" + blob + "]", false, nil},
		"declared list of one":               {"[" + blob + "]", true, &Binary{KindBlobReference, "image/png", 48213, hash}},
		"declared list of two":               {"[" + blob + ",null," + blob + "]", true, &Binary{KindBlobReference, "image/png", 96426, ""}},
		"declared list, types vary":          {"[" + blob + `,{"blob_id":"x","mime_type":"a/b"}]`, true, &Binary{KindBlobReference, "", -1, ""}},
		"sizes overflow":                     {`[{"blob_id":"x","size":9223372036854775807},{"blob_id":"y","size":1}]`, true, &Binary{KindBlobReference, "", -1, ""}},
		"declared list, one without blob_id": {"[" + blob + `,{"id":1}]`, true, nil},
		"declared empty list":                {"[]", true, nil},
		"declared list of null":              {"[null]", true, nil},
		"number":                             {"12345", true, nil},
		"stub":                               {"\x00abc\x00", true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := DetectBinary([]byte(tt.value), tt.declared)
			if ok != (tt.want != nil) {
				t.Fatalf("DetectBinary(%s, %v) = %v, want %v", tt.value, tt.declared, ok, !ok)
			}
			if !ok {
				return
			}
			if diff := cmp.Diff(*tt.want, got); diff != "" {
				t.Errorf("DetectBinary(%s, %v) (-want +got):\n%s", tt.value, tt.declared, diff)
			}
		})
	}
}

package session

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Files that records refer to, and repeated values.

func equalValues(v *visit) {
	v = v.other()
	v.Ingest("cin_home", "messages", message("root1", `"subject":"root1","user_id":"root1","body":"Hello","folder":"","bcc":"root1"`, 9))
	s := v.as(everything)
	a := s.do("query_records", `{"stream":"messages","connection_id":"cin_home","limit":1}`)
	a.says(`"root1" at=`, `user_id="root1"`, `bcc="root1"`, "empty_fields=folder")
	a = s.do("fetch", `{"id":"cin_home/messages:root1"}`)
	a.wants(map[string]any{"title": "root1", "metadata.fields.user_id": "root1", "metadata.fields.bcc": "root1", "metadata.fields.folder": ""})
}

// attach stores a scan that refers to a file.
func (v *visit) attach(id string, f blob) {
	v.Helper()
	raw, err := json.Marshal(f)
	if err != nil {
		v.Fatal(err)
	}
	v.Ingest("cin_home", "scans", record(id, `"caption":"A file","scan":`+string(raw)))
}

func textFile(v *visit) {
	v = v.other()
	v.attach("t1", v.put("text/markdown", []byte(v.letter)))
	s := v.as(everything)
	page := s.do("query_records", `{"stream":"scans","fields":["scan"],"limit":1,"order":"desc"}`)
	page.hides("Line 0 ")
	next := step{"read_record_field", `{"id":"cin_home/scans:t1","field_path":"scan","limit_chars":16000}`}
	got, first := "", answer{}
	for n := 0; next.tool != ""; n++ {
		a := s.do(next.tool, next.args)
		if n == 0 {
			first = a
		}
		got += a.window()
		if next = (step{}); len(a.offers("next")) > 0 {
			next = a.offer("next")
		}
	}
	if got != v.letter {
		v.Errorf("by text the file has %d bytes, want %d", len(got), len(v.letter))
	}
	got = ""
	for a := first; ; {
		got += a.str("window.text")
		cursor, more := a.sc.At("window.next_cursor").(string)
		if !more {
			break
		}
		a = s.do("read_record_field", `{"id":"cin_home/scans:t1","field_path":"scan","limit_chars":16000,"cursor":`+quoted(cursor)+`}`)
	}
	if got != v.letter {
		v.Errorf("by structure the file has %d bytes, want %d", len(got), len(v.letter))
	}
	found := s.do("read_record_field", `{"id":"cin_home/scans:t1","field_path":"scan","q":"`+longWord+`","before_chars":11,"after_chars":6}`)
	if found.window() != "key of the "+longWord+" hangs" {
		v.Errorf("around the word: %s", found.text)
	}
	if text := s.read(first.str("files.0.resource_uri"))[0]; text.Text != v.letter || text.Blob != nil {
		v.Errorf("the resource is %d bytes of text and %d others", len(text.Text), len(text.Blob))
	}
}

func otherFile(v *visit) {
	s := v.as(everything)
	a := s.do("read_record_field", `{"id":"cin_home/scans:s1","field_path":"scan"}`)
	a.says(`mime_type="image/png"`, "size_bytes=40000", v.blob.Digest, "/v1/blobs/"+v.blob.ID)
	a.wants(map[string]any{"files.0.mime_type": "image/png", "files.0.size_bytes": 40000, "files.0.blob_id": v.blob.ID, "window": nil})
	if len(a.links) != 1 || len(s.read(a.links[0].URI)[0].Blob) != 40_000 {
		v.Errorf("the links are %+v", a.links)
	}
}

func foreignFile(v *visit) {
	s := v.as(`{"source":{"connector_key":"post"},"streams":[{"name":"scans","fields":["caption"]}]}`)
	s.relayed("read_record_field", `{"id":"cin_home/scans:s1","field_path":"scan"}`, "field_not_granted").hides(v.blob.ID, "image/png")
	a := s.call("read_record_field", `{"id":"cin_home/scans:s1","field_path":"scan.0"}`)
	if a.hides(v.blob.ID, "image/png"); !a.failed {
		v.Errorf("a path into a field outside the grant: %s", a.text)
	}
}

func packageFile(v *visit) {
	v = v.other()
	v.attach("t1", v.put("text/csv", []byte("a,b\n1,2\n")))
	token, _, _ := v.Package(lettersOf("cin_work"), strings.ReplaceAll(lettersOf("cin_home"), `"messages"`, `"scans"`))
	a := v.with(token).do("read_record_field", `{"id":"cin_home/scans:t1","field_path":"scan"}`)
	if a.window() != "a,b\n1,2\n" {
		v.Errorf("the file is %s", a.text)
	}
}

func everyMatch(v *visit) {
	s := v.as(everything)
	args := `{"id":"` + longID + `","field_path":"body","q":"box 99","before_chars":0,"after_chars":1}`
	var byText, byStructure []string
	for args != "" {
		a := s.do("read_record_field", args)
		byText = append(byText, a.window())
		args = ""
		for _, next := range a.offers("next") {
			if strings.Contains(next.args, `"q"`) {
				args = next.args
			}
		}
	}
	for a := s.do("read_record_field", `{"id":"`+longID+`","field_path":"body","q":"box 99","limit_chars":7}`); ; {
		byStructure = append(byStructure, a.str("window.text"))
		next, more := a.sc.At("window.next_match.args").(map[string]any)
		if !more {
			break
		}
		raw, err := json.Marshal(next)
		if err != nil {
			v.Fatal(err)
		}
		a = s.do("read_record_field", string(raw))
	}
	want := strings.Count(v.letter, "box 99")
	if fmt.Sprint(byText) != fmt.Sprint(byStructure) || len(byText) != want || want < 5 {
		v.Errorf("%d matches by text, %d by structure, want %d", len(byText), len(byStructure), want)
	}
}

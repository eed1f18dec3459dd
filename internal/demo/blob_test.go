package demo

import (
	"bytes"
	"encoding/json"
	"image/png"
	"strings"
	"testing"
)

// Every blob reference names an existing blob with the same digest, size and type (B-1),
// and Blobs lists exactly the blobs of a connection.
func TestBlobReferences(t *testing.T) {
	mentioned := map[string]map[string]bool{"personal": {}, "work": {}}
	grades := map[string]int{}
	for _, p := range everything(t) {
		ref, ok := p.Data["blob_ref"].(map[string]any)
		if !ok {
			continue
		}
		id := ref["blob_id"].(string)
		mentioned[p.connection][id] = true
		content, mime, ok := Blob(id)
		if !ok {
			t.Fatalf("%s: no blob %s", p.id(t), id)
		}
		if "blob_sha256_"+digest(content) != id || ref["sha256"] != digest(content) {
			t.Errorf("%s: digest of %s is %s", p.id(t), id, digest(content))
		}
		if size, _ := ref["size_bytes"].(json.Number).Int64(); int(size) != len(content) {
			t.Errorf("%s: size %d, content has %d bytes", p.id(t), size, len(content))
		}
		if ref["mime_type"] != mime || mime == "" {
			t.Errorf("%s: type %v, the blob has %q", p.id(t), ref["mime_type"], mime)
		}
		grades[grade(len(content))]++
	}
	for connection, ids := range mentioned {
		for id := range Blobs("mail", connection) {
			if !ids[id] {
				t.Errorf("Blobs(mail, %s) lists %s, which no record mentions", connection, id)
			}
			delete(ids, id)
		}
		if len(ids) > 0 {
			t.Errorf("Blobs(mail, %s) omits %d", connection, len(ids))
		}
	}
	if grades["small"] == 0 || grades["medium"] == 0 || grades["large"] == 0 {
		t.Errorf("size grades: %v", grades)
	}
}

// grade returns the size grade of EX-8.
func grade(n int) string {
	switch {
	case n < 64<<10:
		return "small"
	case n < 1<<20:
		return "medium"
	}
	return "large"
}

func TestBlobUnknown(t *testing.T) {
	for _, id := range []string{"", "blob_sha256_", "blob_sha256_" + strings.Repeat("0", 64)} {
		if _, _, ok := Blob(id); ok {
			t.Errorf("Blob(%q) exists", id)
		}
	}
	for id := range Blobs("chat", "phone") {
		t.Errorf("chat has blob %s", id)
	}
}

// The encoders write valid files.
func TestFileFormats(t *testing.T) {
	img, err := png.Decode(bytes.NewReader(file{name: "x.png", scale: 10}.content()))
	if err != nil || img.Bounds().Dx() != 640 || img.Bounds().Dy() != 480 {
		t.Errorf("png: %v, %v", img.Bounds(), err)
	}
	doc := file{name: "x.pdf", lines: []string{`Miete (neu) \ 1.058,40`, "日本"}}.content()
	if !bytes.HasPrefix(doc, []byte("%PDF-1.4\n")) || !bytes.Contains(doc, []byte(`(Miete \(neu\) \\ 1.058,40) Tj`)) {
		t.Errorf("pdf: %.300q", doc)
	}
	start := bytes.LastIndex(doc, []byte("xref\n0 "))
	if !bytes.Contains(doc, []byte("startxref\n"+itoa(start)+"\n")) {
		t.Errorf("pdf: startxref does not point at %d", start)
	}
	sound := file{name: "x.wav"}.content()
	if string(sound[:4]) != "RIFF" || len(sound) != 44+8000 {
		t.Errorf("wav: %d bytes, %q", len(sound), sound[:12])
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

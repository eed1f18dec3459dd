package demo

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"path"
	"strings"
	"sync"
	"time"

	"pdpp"
)

// file is an attachment. The extension of its name decides its type.
type file struct {
	name  string
	lines []string
	scale int // of a picture; 0 means 1
}

func (f file) mimeType() string { return pdpp.MediaTypeByName(f.name) }

// content returns the bytes. Equal files have equal bytes.
func (f file) content() []byte {
	switch path.Ext(f.name) {
	case ".pdf":
		return encodePDF(f.lines)
	case ".png":
		return encodePNG(f.name, 64*max(f.scale, 1), 48*max(f.scale, 1))
	case ".wav":
		return encodeWAV(f.name)
	case ".ics":
		return []byte("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//elbhoehe.example//DE\r\nBEGIN:VEVENT\r\nUID:termin-20240606@klinikum-elbhoehe.example\r\nDTSTAMP:20240521T080500Z\r\nDTSTART:20240606T072000Z\r\nSUMMARY:Handsprechstunde, Haus C\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
	case ".csv":
		return []byte("zimmer;name;stimme;schnarcht\n101;Mara Lindqvist;Alt;nein\n101;Ilse Bruhns;Alt;nein\n102;Birte Claasen;Alt;manchmal\n103;Holger Timm;Bass;ja\n")
	}
	return []byte(f.name + "\n\n" + strings.Join(f.lines, "\n") + "\n")
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func attachment(l *letter, n int, f file, emitted time.Time) record {
	content := f.content()
	sum := digest(content)
	var ref object
	ref.str("blob_id", string(pdpp.BlobIDOf(sum)))
	ref.str("mime_type", f.mimeType())
	ref.integer("size_bytes", int64(len(content)))
	ref.str("sha256", sum)

	id := "att-" + l.id + "-" + string(rune('1'+n))
	var o object
	o.str("id", id)
	o.str("message_id", l.id)
	o.str("filename", f.name)
	o.str("mime_type", f.mimeType())
	o.integer("size_bytes", int64(len(content)))
	o.str("added_at", utc(l.at))
	if path.Ext(f.name) == ".png" { // other files have no caption
		o.strOrNull("caption", caption(l))
	}
	o.raw("blob_ref", string(ref.bytes()))
	return record{"attachments", quoted(id), o.bytes(), emitted}
}

func caption(l *letter) string {
	if l.at.Day()%3 == 0 {
		return ""
	}
	return l.subject + " (" + l.at.Format("January 2006") + ")"
}

type blob struct {
	content  []byte
	mimeType string
}

// blobIndex maps ids to blobs. It is derived from constants and never changes, so it is
// built once, on first use.
var blobIndex = sync.OnceValue(func() map[string]blob {
	index := make(map[string]blob)
	w := newWorld()
	for _, box := range []string{"personal", "work"} {
		for _, l := range w.letters(box) {
			for _, f := range l.files {
				content := f.content()
				index[string(pdpp.BlobIDOf(digest(content)))] = blob{content, f.mimeType()}
			}
		}
	}
	return index
})

// Blob returns the bytes of a blob reference in the data. The content is shared: callers
// must not change it.
func Blob(blobID string) (content []byte, mimeType string, ok bool) {
	b, ok := blobIndex()[blobID]
	return b.content, b.mimeType, ok
}

// Blobs returns the ids of the blobs that the records of one connection refer to, in the
// order of their first reference. They are uploaded before the records (B-9).
func Blobs(connector, connection string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if connector != "mail" || connection != "personal" && connection != "work" {
			return
		}
		seen := make(map[string]bool)
		for _, l := range newWorld().letters(connection) {
			for _, f := range l.files {
				id := string(pdpp.BlobIDOf(digest(f.content())))
				if seen[id] {
					continue
				}
				seen[id] = true
				if !yield(id) {
					return
				}
			}
		}
	}
}

package evidence

import (
	"net/url"
	"strconv"

	"pdpp"
)

// RecordURL is the route that reads a record, relative to the server. A
// connection that is not known is left out.
func RecordURL(stream string, id pdpp.RecordID, conn pdpp.ConnectionID) string {
	return recordPath(stream, id) + connectionQuery("?", conn)
}

// BlobURL is the route that reads a blob (REC-4).
func BlobURL(blobID string, conn pdpp.ConnectionID) string {
	return "/v1/blobs/" + url.PathEscape(blobID) + connectionQuery("?", conn)
}

func recordPath(stream string, id pdpp.RecordID) string {
	return "/v1/streams/" + url.PathEscape(stream) + "/records/" + url.PathEscape(string(id))
}

func connectionQuery(separator string, conn pdpp.ConnectionID) string {
	if conn == "" {
		return ""
	}
	return separator + "connection_id=" + url.QueryEscape(string(conn))
}

// FieldWindow is a call that reads on in a field (EX-6).
type FieldWindow struct {
	Field  string
	AsJSON bool // the field's JSON text
	Offset int  // the first character to read
}

// URL is the route of the window, relative to the server.
func (f FieldWindow) URL(r *Record) string {
	href := f.route(r) + "?field=" + url.QueryEscape(f.Field)
	if f.AsJSON {
		href += "&as=json"
	}
	return href + "&offset_chars=" + strconv.Itoa(f.Offset) + connectionQuery("&", r.ConnectionID)
}

func (f FieldWindow) route(r *Record) string { return recordPath(r.Stream, r.ID) + "/field-window" }

// append writes the descriptor that a reader follows.
func (f FieldWindow) append(w *writer, r *Record) {
	w.raw(`{"object":"field_window_read","method":"GET","stream":`)
	w.id(r.Stream)
	w.raw(`,"record_id":`)
	w.id(string(r.ID))
	w.raw(`,"field":`)
	w.id(f.Field)
	if f.AsJSON {
		w.raw(`,"as":"json"`)
	}
	w.connection(r.ConnectionID)
	w.raw(`,"offset_chars":`)
	w.int(f.Offset)
	w.raw(`,"route":`)
	w.id(f.route(r))
	w.raw(`,"href":`)
	w.id(f.URL(r))
	w.raw(`}`)
}

func appendRecordRead(w *writer, r *Record) {
	w.raw(`{"object":"record_read","method":"GET","stream":`)
	w.id(r.Stream)
	w.raw(`,"record_id":`)
	w.id(string(r.ID))
	w.connection(r.ConnectionID)
	w.raw(`,"href":`)
	w.id(RecordURL(r.Stream, r.ID, r.ConnectionID))
	w.raw(`}`)
}

func appendBlobRead(w *writer, blobID string, conn pdpp.ConnectionID) {
	w.raw(`{"object":"blob_read","method":"GET","blob_id":`)
	w.id(blobID)
	w.connection(conn)
	w.raw(`,"href":`)
	w.id(BlobURL(blobID, conn))
	w.raw(`}`)
}

package evidence

import (
	"net/url"
	"strconv"

	"pdpp"
)

// URLs are relative to the server. Their percent-encoding leaves no character that needs
// an escape in JSON.

// AppendRecordURL appends the URL of a record. It omits an unknown connection.
func AppendRecordURL(dst []byte, r *Record) []byte {
	return appendConnection(appendRecordPath(dst, r), '?', r.ConnectionID)
}

// AppendBlobURL appends the URL of a blob (REC-4).
func AppendBlobURL(dst []byte, blobID string, conn pdpp.ConnectionID) []byte {
	dst = append(dst, "/v1/blobs/"...)
	dst = append(dst, url.PathEscape(blobID)...)
	return appendConnection(dst, '?', conn)
}

func appendRecordPath(dst []byte, r *Record) []byte {
	dst = append(dst, "/v1/streams/"...)
	dst = append(dst, url.PathEscape(r.Stream)...)
	dst = append(dst, "/records/"...)
	return append(dst, url.PathEscape(string(r.ID))...)
}

func appendConnection(dst []byte, separator byte, conn pdpp.ConnectionID) []byte {
	if conn == "" {
		return dst
	}
	dst = append(dst, separator)
	dst = append(dst, "connection_id="...)
	return append(dst, url.QueryEscape(string(conn))...)
}

// fieldWindow is a request for a part of a field (EX-6).
type fieldWindow struct {
	field  string
	asJSON bool // the JSON text of the field
	offset int  // the first character to read
}

func (f fieldWindow) appendURL(dst []byte, r *Record) []byte {
	dst = appendWindowRoute(dst, r)
	dst = append(dst, "?field="...)
	dst = append(dst, url.QueryEscape(f.field)...)
	if f.asJSON {
		dst = append(dst, "&as=json"...)
	}
	dst = append(dst, "&offset_chars="...)
	dst = strconv.AppendInt(dst, int64(f.offset), 10)
	return appendConnection(dst, '&', r.ConnectionID)
}

func appendWindowRoute(dst []byte, r *Record) []byte {
	return append(appendRecordPath(dst, r), "/field-window"...)
}

// append writes the descriptor of the request.
func (f fieldWindow) append(w *writer, r *Record) {
	w.Literal(`{"object":"field_window_read","method":"GET"`)
	w.id("stream", r.Stream)
	w.id("record_id", string(r.ID))
	w.id("field", f.field)
	if f.asJSON {
		w.Literal(`"as":"json"`)
	}
	w.connection(r.ConnectionID)
	w.Number("offset_chars", f.offset)
	w.url("route", func(dst []byte) []byte { return appendWindowRoute(dst, r) })
	w.url("href", func(dst []byte) []byte { return f.appendURL(dst, r) })
	w.End("}")
}

func appendRecordRead(w *writer, r *Record) {
	w.Literal(`{"object":"record_read","method":"GET"`)
	w.id("stream", r.Stream)
	w.id("record_id", string(r.ID))
	w.connection(r.ConnectionID)
	w.url("href", func(dst []byte) []byte { return AppendRecordURL(dst, r) })
	w.End("}")
}

func appendBlobRead(w *writer, blobID string, conn pdpp.ConnectionID) {
	w.Literal(`{"object":"blob_read","method":"GET"`)
	w.id("blob_id", blobID)
	w.connection(conn)
	w.url("href", func(dst []byte) []byte { return AppendBlobURL(dst, blobID, conn) })
	w.End("}")
}

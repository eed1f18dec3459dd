package rs

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/httpx"
	"pdpp/internal/ingest"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

// getBlob answers GET /v1/blobs/{blob_id} (rs-contract §9). The snapshot decides whether
// the caller may read the blob. The bytes are sent after it has ended, from a file that
// never changes.
func getBlob(q *request) error {
	rows, err := q.reach.Select(q.sel)
	if err != nil {
		return err
	}
	b, err := q.view.FindBlob(query.Blob{
		Subject: q.reach.Subject, Sources: blobSources(rows), ID: pdpp.BlobID(q.vars.get("blob_id")),
	})
	if err != nil {
		return err
	}
	q.sendAfter = func(w http.ResponseWriter) error { return q.sendBlob(w, b) }
	return nil
}

// blobSources returns the bindings whose records may refer to blobs: those with a granted
// blob field (B-2).
func blobSources(rows []grant.Row) []query.BlobSource {
	var out []query.BlobSource
	for _, b := range grant.Bindings(rows) {
		var fields []*pdpp.Field
		for _, f := range b.Access.Fields {
			if f.Blob != pdpp.BlobNone {
				fields = append(fields, f)
			}
		}
		if fields != nil {
			out = append(out, query.BlobSource{Source: sourceOf(b), Fields: fields})
		}
	}
	return out
}

// sendBlob sends a file with ranges and conditions (B-7). The content is not trusted: its
// headers keep a browser from running any of it (B-8).
func (q *request) sendBlob(w http.ResponseWriter, b store.Blob) error {
	f, size, err := q.openBlob(b)
	if err != nil {
		return err
	}
	defer f.Close()
	h := w.Header()
	h["Content-Type"] = []string{b.MediaType}
	h["Cache-Control"] = []string{"private, no-store"}
	h["X-Content-Type-Options"] = []string{"nosniff"}
	h["Content-Security-Policy"] = []string{"default-src 'none'; sandbox"}
	h["Etag"] = []string{`"sha256-` + b.SHA256 + `"`}
	if !isShownInline(b.MediaType) {
		h["Content-Disposition"] = []string{"attachment"}
	}
	guard := &rangeGuard{ResponseWriter: w}
	file := &readFile{ReadSeeker: f}
	http.ServeContent(guard, plainRequest(q.http), "", time.Time{}, file)
	if guard.refused {
		h.Del("Content-Security-Policy")
		h["Content-Range"] = []string{"bytes */" + strconv.FormatInt(size, 10)}
		return pdpp.Errorf(pdpp.CodeRangeNotSatisfiable, "The range is outside the blob, which has %d bytes.", size)
	}
	return file.failed // the answer has begun: httpx cuts the connection
}

// maxRanges is the number of ranges that a request may have. With more of them it gets the
// whole blob, as RFC 9110 allows.
const maxRanges = 16

// plainRequest removes the headers for which http.ServeContent does not answer as B-7
// requires: conditions for writers, an empty suffix range, and too many ranges, whose
// answer could be much larger than the blob.
func plainRequest(r *http.Request) *http.Request {
	ranges := r.Header.Get("Range")
	if r.Header.Get("If-Match") == "" && r.Header.Get("If-Unmodified-Since") == "" &&
		strings.Count(ranges, ",") < maxRanges && !strings.Contains(ranges, "-0") {
		return r
	}
	plain := r.Clone(r.Context())
	plain.Header.Del("If-Match")
	plain.Header.Del("If-Unmodified-Since")
	if strings.Count(ranges, ",") >= maxRanges {
		plain.Header.Del("Range")
	}
	if unit, spec, _ := strings.Cut(strings.TrimSpace(ranges), "="); unit == "bytes" && strings.Trim(spec, " 0") == "-" && strings.HasPrefix(strings.TrimSpace(spec), "-") {
		plain.Header.Set("Range", "bytes=9223372036854775807-") // replaces a suffix range of 0 bytes: not satisfiable either
	}
	return plain
}

// openBlob opens the file of a blob. A blob whose file is missing or incomplete is not
// found.
func (q *request) openBlob(b store.Blob) (*os.File, int64, error) {
	f, size, err := q.server.Blobs.Open(b.Owner, b.SHA256)
	if err == nil && size == b.Size {
		return f, size, nil
	}
	if err == nil {
		_ = f.Close() // it was only read
	} else if pdpp.CodeOf(err) != pdpp.CodeNotFound {
		return nil, 0, err
	}
	q.server.Log.Warn("the file of a blob is missing or damaged", "request_id", httpx.RequestID(q.http.Context()))
	return nil, 0, store.BlobNotFound()
}

// isShownInline reports whether a browser may show a media type directly. In none of
// these types does a browser run scripts (B-8).
func isShownInline(mediaType string) bool {
	if mediaType == "application/pdf" {
		return true
	}
	image, ok := strings.CutPrefix(mediaType, "image/")
	if !ok {
		return false
	}
	switch image {
	case "avif", "bmp", "gif", "jpeg", "png", "tiff", "webp", "x-icon":
		return true
	}
	return false
}

// rangeGuard suppresses the plain-text error of http.ServeContent for a bad range, so that
// the answer is the common error envelope (C-40).
type rangeGuard struct {
	http.ResponseWriter
	refused bool
}

// WriteHeader implements http.ResponseWriter.
func (g *rangeGuard) WriteHeader(status int) {
	if status == http.StatusRequestedRangeNotSatisfiable {
		g.refused = true
		return
	}
	g.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (g *rangeGuard) Write(p []byte) (int, error) {
	if g.refused {
		return len(p), nil
	}
	return g.ResponseWriter.Write(p)
}

// readFile keeps the error of a failed read, which http.ServeContent does not return.
type readFile struct {
	io.ReadSeeker
	failed error
}

// Read implements io.Reader.
func (f *readFile) Read(p []byte) (int, error) {
	n, err := f.ReadSeeker.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.failed = err
	}
	return n, err
}

// postBlob answers POST /v1/blobs (B-9).
func postBlob(q *ownerRequest) error {
	mediaType, err := q.mediaType()
	if err != nil {
		return err
	}
	if q.http.ContentLength > ingest.MaxBlob {
		return pdpp.Errorf(pdpp.CodeResourceLimit, "A blob has at most %d MiB. Nothing was stored.", ingest.MaxBlob>>20)
	}
	b, err := ingest.PutBlob(q.ctx, q.store, q.server.Blobs, ingest.Upload{
		Subject: q.reach.Subject, Connection: q.conn.ID, MediaType: mediaType, Content: q.http.Body,
	}, q.now)
	if err != nil {
		return err
	}
	out := rawjson.Writer(`{"object":"blob"`)
	out.Text("blob_id", string(pdpp.BlobIDOf(b.SHA256)))
	out.Text("sha256", b.SHA256)
	out.Key("size_bytes")
	out.Int(b.Size)
	out.Text("mime_type", b.MediaType)
	out.End("}\n")
	return q.sendJSON(out)
}

// mediaType returns the type of an upload: the parameter, else the header, else the
// default.
func (q *ownerRequest) mediaType() (string, error) {
	text, err := q.params.One("mime_type")
	if err != nil {
		return "", err
	}
	if text != "" {
		t, ok := pdpp.ParseMediaType(text)
		if !ok {
			return "", pdpp.BadParam("mime_type", "mime_type is not a media type. Write it like image/png.")
		}
		return t, nil
	}
	header := q.http.Header.Get("Content-Type")
	if header == "" {
		return pdpp.DefaultMediaType, nil
	}
	t, ok := pdpp.ParseMediaType(header)
	if !ok {
		return "", pdpp.Errorf(pdpp.CodeInvalidRequest, "The Content-Type is not a media type. Write it like image/png.")
	}
	return t, nil
}

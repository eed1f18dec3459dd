package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"pdpp"
	"pdpp/internal/evidence"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

const blobURI = "pdpp://blob/"

// templates is the resources/templates/list result (MS-200).
const templates = `{"resourceTemplates":[` +
	`{"name":"pdpp-record","title":"One record","uriTemplate":"` + recordURI + `{handle}","mimeType":"application/json"},` +
	`{"name":"pdpp-field-window","title":"A window of one text field","uriTemplate":"` + windowURI + `{handle}","mimeType":"text/plain"},` +
	`{"name":"pdpp-blob","title":"The content of one file","uriTemplate":"` + blobURI + `{handle}","mimeType":"application/octet-stream"}]}`

// Templates returns the resources/templates/list result of the surface: a JSON object.
func Templates() []byte { return []byte(templates) }

// Content is one content of a resource: text or bytes.
type Content struct {
	URI      string
	MimeType string
	Text     string
	Blob     []byte // nil for a text
}

// ResourceKind is the kind of a failed resource read. The transport maps it to a JSON-RPC
// code; that of ResourceNotFound depends on the protocol revision (MS-204).
type ResourceKind uint8

// The kinds of failures.
const (
	ResourceInvalid  ResourceKind = iota // the URI is malformed
	ResourceRefused                      // the server refused the read
	ResourceNotFound                     // there is no such resource
	ResourceFailed                       // anything else
)

// ResourceError is a resource read that failed.
type ResourceError struct {
	Kind    ResourceKind
	Message string
	Data    []byte // a compact JSON object with at least code and message
}

// Error implements error.
func (e *ResourceError) Error() string { return e.Message }

// ReadResource reads a pdpp:// URI with the caller's token: a handle grants no access
// (MS-55). A failure contains no content.
func (s *Surface) ReadResource(ctx context.Context, uri string) (contents []Content, failure *ResourceError) {
	defer func() {
		if p := recover(); p != nil {
			contents, failure = nil, ownResourceError(ResourceFailed, s.defect("a resource failed", "cause", fmt.Sprint(p), "stack", string(debug.Stack())))
		}
	}()
	read := s.readOther
	switch {
	case strings.HasPrefix(uri, recordURI):
		read = s.readRecord
	case strings.HasPrefix(uri, windowURI):
		read = s.readFieldWindow
	case strings.HasPrefix(uri, blobURI):
		read = s.readBlob
	}
	contents, err := read(ctx, uri)
	if err != nil {
		failure = s.resourceError(err)
		if failure.Kind == ResourceNotFound {
			data := rawjson.Writer(failure.Data[:len(failure.Data)-len("}")]) // which nothing else refers to
			data.Text("uri", uri)
			failure.Data = append(data, '}')
		}
		return nil, failure
	}
	return contents, nil
}

func (s *Surface) readOther(context.Context, string) ([]Content, error) {
	return nil, &adapterError{Code: pdpp.CodeNotFound, Message: "There is no such resource. URIs start with " + recordURI + ", " + windowURI + " or " + blobURI + "."}
}

// readFieldWindow returns the window that read_record_field returns for the same selector,
// then the facts about it (MS-202).
func (s *Surface) readFieldWindow(ctx context.Context, uri string) ([]Content, error) {
	w, err := parseWindowURI(uri)
	if err != nil {
		return nil, err
	}
	p, err := s.readWindow(ctx, w)
	if err != nil {
		return nil, err
	}
	facts := append(make(rawjson.Writer, 0, 1024), '{')
	p.writeSource(&facts)
	if p.files != nil {
		p.writeFiles(&facts, s.RS.Provider())
	}
	contents := make([]Content, 0, 2)
	if p.isWindow() {
		near := p.neighbours()
		p.writeWindow(&facts, near, false)
		near.write(&facts)
		if near.next.ok {
			near.next.writeCall(&facts, "next")
		}
		contents = append(contents, Content{URI: uri, MimeType: "text/plain", Text: p.Text})
	}
	facts.End("}")
	return append(contents, Content{URI: uri, MimeType: "application/json", Text: string(facts)}), nil
}

// parseWindowURI reads a window handle. Its selector is checked like the arguments of the
// tool, by the same table.
func parseWindowURI(uri string) (window, error) {
	d, ok := decodeURI(uri, windowURI, "field-window", "connection_id", "stream", "record_id", "field_path",
		"offset_chars", "limit_chars", "q", "before_chars", "after_chars")
	w := window{
		record: refer(Handle{d.texts["connection_id"], d.texts["stream"], d.texts["record_id"]}),
		field:  d.texts["field_path"], q: d.texts["q"], place: selectorOf(d.number),
	}
	if !ok || !w.record.isNamed() || w.URI() != uri {
		return w, badHandle()
	}
	object := rawjson.Writer("{")
	object.Text("id", w.record.URI())
	object.Optional("field_path", w.field)
	args, err := readRecordFieldTool.args.parse(append(w.appendSelector(object), '}'))
	if err == nil {
		w, err = args.window()
	}
	var f *adapterError
	if errors.As(err, &f) {
		return w, badSelector(f.Param, f.Message)
	}
	return w, err
}

// blobHandle names a blob.
type blobHandle struct{ connection, id string }

// URI returns the resource of the blob (MS-54).
func (h blobHandle) URI() string {
	payload := append(make(rawjson.Writer, 0, 256), `{"v":1,"kind":"blob"`...)
	payload.Optional("connection_id", h.connection)
	payload.Optional("blob_id", h.id)
	return string(appendURI(nil, blobURI, append(payload, '}')))
}

// writeExport writes the member export: how a program can download the blob.
func (h blobHandle) writeExport(w *rawjson.Writer, provider string) {
	w.OpenObject("export")
	w.Text("method", "GET")
	w.Text("url", h.URL(provider))
	w.End("}")
}

// URL returns the URL from which a program can download the blob.
func (h blobHandle) URL(provider string) string {
	return provider + string(evidence.AppendBlobURL(nil, h.id, pdpp.ConnectionID(h.connection)))
}

func parseBlobURI(uri string) (blobHandle, error) {
	d, ok := decodeURI(uri, blobURI, "blob", "connection_id", "blob_id")
	h := blobHandle{d.texts["connection_id"], d.texts["blob_id"]}
	if !ok || h.id == "" || h.id == "." || h.id == ".." || !isCarried(h.id) || !isCarried(h.connection) || h.URI() != uri {
		return h, badHandle()
	}
	return h, nil
}

// readBlob returns the content of a blob that is not too large (MS-203).
func (s *Surface) readBlob(ctx context.Context, uri string) ([]Content, error) {
	h, err := parseBlobURI(uri)
	if err != nil {
		return nil, err
	}
	var q rsclient.Query
	q.Set("connection_id", h.connection)
	blob, err := s.RS.Blob(ctx, h.id, q, rsclient.Part{Most: limits.BlobInlineMax})
	if err != nil {
		return nil, err
	}
	if blob.Whole {
		content := Content{URI: uri, MimeType: blob.MimeType, Blob: append([]byte{}, blob.Content...)}
		if text, ok := wholeText(blob); ok {
			content.Text, content.Blob = text, nil
		}
		return []Content{content}, nil
	}
	return nil, s.blobTooLarge(h, blob.Size, blob.MimeType, "The file is too large for this result. The member export has its URL.")
}

// blobTooLarge returns the failure for a file that is too large, with its facts and the URL
// that exports it. A negative size is unknown.
func (s *Surface) blobTooLarge(h blobHandle, size int64, mimeType, message string) *adapterError {
	var members rawjson.Writer
	if size >= 0 {
		members.Key("size_bytes")
		members.Int(size)
	}
	members.Optional("mime_type", mimeType)
	h.writeExport(&members, s.RS.Provider())
	return &adapterError{Code: pdpp.CodeBlobTooLarge, Message: message, Members: members}
}

// resourceError returns the failure of a resource read (MS-204).
func (s *Surface) resourceError(err error) *ResourceError {
	own, up := s.classify(err)
	if up != nil {
		return s.relayedResourceError(up)
	}
	kind := ResourceFailed
	switch own.Code {
	case pdpp.CodeInvalidID, pdpp.CodeInvalidWindowSelector:
		kind = ResourceInvalid
	case pdpp.CodeNotFound:
		kind = ResourceNotFound
	}
	return ownResourceError(kind, own)
}

func ownResourceError(kind ResourceKind, f *adapterError) *ResourceError {
	message := f.Error()
	if f.Next != nil {
		message += " next: " + f.Next.Tool + " " + quote.EscapeHidden(string(f.Next.Args))
	}
	return &ResourceError{Kind: kind, Message: message, Data: f.object()}
}

// relayedResourceError returns an error of the resource server with its members unchanged.
func (s *Surface) relayedResourceError(e *rsclient.Error) *ResourceError {
	r := &ResourceError{Kind: ResourceFailed, Message: quote.CutBytes(quote.Code(string(e.Code))+": "+evidence.Clean(e.Message), limits.ErrorTextMax)}
	if lost := s.lostAuthorization(e.Code, e.Status); lost != "" {
		r.Message += "\n" + lost
	}
	switch {
	case e.Status == http.StatusNotFound:
		r.Kind = ResourceNotFound
	case e.Status/100 == 4 && e.Status != http.StatusTooManyRequests: // the request is refused; the server works
		r.Kind = ResourceRefused
	}
	data := rawjson.Reopen(e.Object)
	data.Number("http_status", e.Status)
	if _, given := rawjson.Get(e.Object, "request_id"); !given {
		data.TextOrNull("request_id", e.RequestID)
	}
	r.Data = append(data, '}')
	return r
}

package rs

import (
	"bytes"
	"math"
	"slices"

	"pdpp"
	"pdpp/internal/activity"
	"pdpp/internal/evidence"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

// record writes one record (REC-1). preview is the number of characters at which
// top-level values are cut; with 0 they are not cut.
func (q *request) record(s *shape, r *store.Record, preview int) (err error) {
	q.body.Object()
	start := len(q.body) - len("{")
	if err := q.reserve(start + len(r.Body)); err != nil {
		return err
	}
	q.body.Literal(`"object":"record"`)
	q.body.Text("id", string(r.ID))
	q.body.Raw(s.middle)
	w := dataWriter{request: q, shape: s, record: r, preview: preview}
	if q.body, err = w.data(q.body); err != nil {
		return err
	}
	if len(w.cut) > 0 {
		q.body.OpenObject("truncated_fields")
		q.body.Raw(w.cut)
		q.body.End("}")
	}
	if len(s.expansions) > 0 {
		q.related = new(activity.Tally)
		if err := q.expand(s, r, start, preview); err != nil {
			return err
		}
	}
	writeTime(&q.body, "emitted_at", r.EmittedAt)
	q.body.Raw(s.tail)
	q.body.End("}")
	return nil
}

// dataWriter writes a record's projected data by splicing stored bytes.
type dataWriter struct {
	*request
	shape   *shape
	record  *store.Record
	preview int

	cut   rawjson.Writer                  // members of truncated_fields
	facts map[string]*evidence.Truncation // if not nil, used instead of cut, by name
}

func (w *dataWriter) data(dst rawjson.Writer) (rawjson.Writer, error) {
	p := w.shape.projection
	if p.All && w.preview == 0 && !w.shape.hasBlobs && bytes.IndexByte(w.record.Body, 0) < 0 {
		return append(dst, w.record.Body...), nil // nothing to change: the stored bytes are the answer
	}
	if p.Ordered {
		return w.ordered(dst)
	}
	return w.spliced(dst)
}

// spliced writes the projected members in stored order. Adjacent members that need no
// change are copied together.
func (w *dataWriter) spliced(dst rawjson.Writer) (_ rawjson.Writer, err error) {
	body := w.record.Body
	dst.Object()
	from, to := 0, 0 // the adjacent members that are not yet copied
	s := rawjson.Scan(body)
	for name := range s.Members() {
		m, ok := w.lookUp(name)
		key := s.Key()
		member := s.Offset() - len(key)
		value := s.Value()
		if ok && w.preview == 0 && m.blob == pdpp.BlobNone && rawjson.KindOf(value) != rawjson.KindStub {
			if from == to || to != member-1 {
				dst.Raw(body[from:to])
				from = member
			}
			to = s.Offset()
			continue
		}
		dst.Raw(body[from:to])
		from, to = 0, 0
		if !ok {
			continue
		}
		dst.Raw(key)
		if dst, err = w.value(dst, m, value); err != nil {
			return dst, err
		}
	}
	dst.Raw(body[from:to])
	dst.End("}")
	return dst, nil
}

// lookUp returns how a member of the record is written, or false if it is not projected.
func (w *dataWriter) lookUp(name []byte) (member, bool) {
	if w.shape.members != nil {
		m, ok := w.shape.members[string(name)]
		return m, ok
	}
	if !w.shape.hasBlobs && w.preview == 0 {
		return member{}, true
	}
	return newMember(w.shape.row.Stream, string(name), 0), true
}

// ordered writes the members in the order of the projection.
func (w *dataWriter) ordered(dst rawjson.Writer) (_ rawjson.Writer, err error) {
	names := w.shape.projection.Names
	values := make([][]byte, len(names))
	for name, value := range rawjson.Members(w.record.Body) {
		if m, ok := w.shape.members[string(name)]; ok {
			values[m.place] = value
		}
	}
	dst.Object()
	for i, value := range values {
		if value == nil {
			continue
		}
		m := w.shape.members[names[i]]
		dst.Raw(m.key)
		if dst, err = w.value(dst, m, value); err != nil {
			return dst, err
		}
	}
	dst.End("}")
	return dst, nil
}

// value writes one value: cut, assembled from pieces, or with the URLs of blobs.
func (w *dataWriter) value(dst []byte, m member, value []byte) ([]byte, error) {
	isStub := rawjson.KindOf(value) == rawjson.KindStub
	if isStub && m.blob == pdpp.BlobNone {
		return w.long(dst, m, store.ParseStub(value))
	}
	if m.blob != pdpp.BlobNone {
		if isStub && w.facts != nil {
			return w.manyBlobs(dst, m, store.ParseStub(value)), nil
		}
		whole, err := w.blobValue(w.shape, w.record, value)
		if err != nil {
			return dst, err
		}
		value = whole
	}
	if w.preview == 0 || w.facts != nil && m.blob != pdpp.BlobNone {
		return append(dst, value...), nil // a card needs complete references, because it names each blob
	}
	dst, cut := evidence.AppendPreview(dst, value, w.preview, m.blob != pdpp.BlobNone)
	w.truncated(m, cut)
	return dst, nil
}

// manyBlobs writes the placeholder for a list of blob references that is too long to be
// shown on a card.
func (w *dataWriter) manyBlobs(dst []byte, m member, stub store.Stub) []byte {
	w.truncated(m, &evidence.Truncation{
		TotalChars: stub.Chars, AsJSON: true, Binary: &evidence.Binary{Kind: evidence.KindBlobReference, SizeBytes: -1},
	})
	return append(dst, '"', '"')
}

// blobValue returns the value of a blob field, each reference with its fetch URL. The value
// may be stored in pieces.
func (q *request) blobValue(s *shape, r *store.Record, value []byte) ([]byte, error) {
	if rawjson.KindOf(value) == rawjson.KindStub {
		w := dataWriter{request: q, record: r}
		whole, err := w.appendLong(nil, store.ParseStub(value))
		if err != nil {
			return nil, err
		}
		value = whole
	}
	return withFetchURLs(value, s.connection), nil
}

// long writes a value that is stored in pieces, or the beginning of it.
func (w *dataWriter) long(dst []byte, m member, stub store.Stub) ([]byte, error) {
	if w.preview == 0 || stub.Chars <= w.preview {
		return w.appendLong(dst, stub)
	}
	isHit := w.facts != nil
	if !stub.Text && isHit && stub.Chars > evidence.MaxDetected {
		w.truncated(m, &evidence.Truncation{TotalChars: stub.Chars, AsJSON: true})
		return append(dst, '"', '"'), nil
	}
	if !stub.Text {
		whole, err := w.appendLong(nil, stub)
		if err != nil {
			return dst, err
		}
		dst, cut := evidence.AppendPreview(dst, whole, w.preview, false)
		w.truncated(m, cut)
		return dst, nil
	}
	binary, isBinary, err := w.longBinary(stub)
	if err != nil {
		return dst, err
	}
	cut := &evidence.Truncation{TotalChars: stub.Chars}
	dst = append(dst, '"')
	if isBinary {
		cut.Binary = &binary
	} else {
		cut.ShownChars = w.preview
		if dst, err = w.appendStart(dst, stub, w.preview); err != nil {
			return dst, err
		}
	}
	w.truncated(m, cut)
	return append(dst, '"'), nil
}

// longBinary reports whether a long text is binary (EX-8). For a search hit it examines
// only the beginning.
func (w *dataWriter) longBinary(stub store.Stub) (binary evidence.Binary, is bool, err error) {
	left, detect := math.MaxInt, evidence.DetectBinaryString
	if w.facts != nil && stub.Chars > evidence.MaxDetected {
		left, detect = evidence.MaxDetected/store.PieceChars, evidence.DetectBinaryStart
	}
	binary, is = detect(func(yield func([]byte) bool) {
		err = w.view.Long(w.record.Ref, stub, 0, func(piece []byte) bool {
			left--
			return yield(piece) && left > 0
		})
	})
	return binary, is, err
}

// appendStart appends the first n characters of a long text.
func (w *dataWriter) appendStart(dst []byte, stub store.Stub, n int) ([]byte, error) {
	err := w.view.Long(w.record.Ref, stub, 0, func(piece []byte) bool {
		part := rawjson.Prefix(piece, n)
		dst = append(dst, part...)
		n -= rawjson.CharCount(part)
		return n > 0
	})
	return dst, err
}

func (w *dataWriter) appendLong(dst []byte, stub store.Stub) ([]byte, error) {
	if err := w.reserve(max(len(dst), len(w.body)) + stub.Bytes); err != nil {
		return dst, err
	}
	dst = stub.Quote(slices.Grow(dst, stub.Bytes+len(`""`)))
	err := w.view.Long(w.record.Ref, stub, 0, func(piece []byte) bool {
		dst = append(dst, piece...)
		return true
	})
	return stub.Quote(dst), err
}

func (w *dataWriter) truncated(m member, t *evidence.Truncation) {
	if t == nil {
		return
	}
	if w.facts != nil {
		w.facts[m.name] = t
		return
	}
	w.cut.Raw(m.key)
	w.cut = t.AppendJSON(w.cut)
}

// withFetchURLs adds to each blob reference of a value its fetch URL (REC-4). It replaces
// a stored fetch_url, which could point anywhere.
func withFetchURLs(value []byte, conn pdpp.ConnectionID) []byte {
	switch rawjson.KindOf(value) {
	case rawjson.KindObject:
		return withFetchURL(value, conn)
	case rawjson.KindArray:
		out := rawjson.Writer("[")
		for item := range rawjson.Elements(value) {
			if rawjson.KindOf(item) == rawjson.KindObject {
				item = withFetchURL(item, conn)
			}
			out.Raw(item)
		}
		out.End("]")
		return out
	}
	return value
}

func withFetchURL(object []byte, conn pdpp.ConnectionID) []byte {
	raw, ok := rawjson.Get(object, "blob_id")
	if !ok {
		return object
	}
	id, ok := rawjson.String(raw)
	if !ok || id == "" {
		return object
	}
	out := rawjson.Writer("{")
	for name, value := range rawjson.Members(object) {
		if string(name) != "fetch_url" {
			out.Member(string(name), value)
		}
	}
	out.Text("fetch_url", string(evidence.AppendBlobURL(nil, id, conn)))
	out.End("}")
	return out
}

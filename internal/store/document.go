package store

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/rawjson"
	"pdpp/internal/sortkey"
)

// MaxIndexed is the length in bytes of the longest string that gets an index entry.
// Operands are not longer (REC-18), so no operand matches a longer value.
const MaxIndexed = 1024

// maxIndexedJSON is the length of the longest JSON form of such a string: every
// byte escaped, and two quotes.
const maxIndexedJSON = 6*MaxIndexed + 2

// ErrStale reports that a document was prepared under an older declaration.
var ErrStale = errors.New("the stream's declaration has changed; prepare the record again")

// Input is one accepted line: an upsert with data, or a delete without.
type Input struct {
	Delete    bool
	ID        pdpp.RecordID
	Data      []byte // a compact JSON object (rawjson.Compact)
	EmittedAt time.Time
}

// Document is a record prepared for a store: everything that can be computed outside
// a transaction. Its slices alias the input where possible.
type Document struct {
	Delete      bool
	ID          pdpp.RecordID
	EmittedAt   time.Time
	Layout      string // of the declaration it was made under
	Body        []byte // the data with long values as stubs
	Long        []Long
	KeyInData   bool   // the key field is present, as a string (SlotKey)
	Order       []byte // order key by cursor field
	ConsentTime []byte // nil if there is none
	Index       []FieldKey
	Search      []byte // space-separated terms; empty: none
	Counts      TermCounts
}

// FieldKey is a field's comparable value, as it is indexed.
type FieldKey struct {
	Field int64 // the store's number of the field
	Key   []byte
}

// Order keys begin with one of these, so that records without a sort value come
// after the others in one ascending sequence.
const (
	orderValued = 1
	orderNone   = 2
)

// OrderKey returns the order key of a record by cursor field. sortValue is encoded,
// nil when the record has none.
func OrderKey(sortValue []byte, id pdpp.RecordID) []byte {
	key := make([]byte, 0, 1+len(sortValue)+len(id))
	if sortValue == nil {
		key = append(key, orderNone)
	} else {
		key = append(append(key, orderValued), sortValue...)
	}
	return append(key, id...)
}

// OrderSegments returns the lowest key of the records with and of those without a
// sort value, and an upper bound of both.
func OrderSegments() (valued, none, end []byte) {
	return []byte{orderValued}, []byte{orderNone}, []byte{orderNone + 1}
}

// Prepare prepares a record for the store. It does not fail on content: a value of
// another type than declared has no index entry.
func Prepare(b *Binding, in Input) Document {
	doc := Document{Delete: in.Delete, ID: in.ID, EmittedAt: in.EmittedAt, Layout: b.Layout}
	if in.Delete {
		return doc
	}
	p := preparer{binding: b, doc: &doc}
	p.run(in.Data)
	return doc
}

// FieldKeys returns the index entries of a stored body, to remove them.
func FieldKeys(b *Binding, id pdpp.RecordID, body []byte) []FieldKey {
	doc := Document{ID: id}
	p := preparer{binding: b, doc: &doc, skipText: true}
	p.run(body)
	return doc.Index
}

// SearchForm is how a field is represented in the search text of its records.
type SearchForm struct {
	Number  int64
	Lexical bool      // by its words
	Token   pdpp.Kind // by a token of its value (SlotToken); KindNone if it is not
	Blob    bool      // by tokens of the blobs it refers to (SlotBlob)
}

// Terms returns the search text that Prepare made under these declarations, to remove
// it from the index. data contains its long values.
func Terms(fields map[string]SearchForm, data []byte) []byte {
	var terms termWriter
	for name, value := range rawjson.Members(data) {
		f := fields[string(name)]
		if text, ok := rawjson.String(value); ok && f.Lexical {
			terms.add(f.Number, text)
		}
		if f.Blob {
			terms.blobs(f.Number, value)
		}
		if f.Token == pdpp.KindNone || len(value) > maxIndexedJSON {
			continue
		}
		if key, ok := sortkey.FromJSON(f.Token, value); ok && len(key) <= MaxIndexed {
			terms.token(ValueToken(f.Number, key))
		}
	}
	return terms.out
}

// TermsChange returns the terms that are only in the search text before, and those
// that are only in the one after.
func TermsChange(before, after []byte) (removed, added []byte) {
	return termsWithout(before, after), termsWithout(after, before)
}

func termsWithout(text, other []byte) (out []byte) {
	skip := make(map[string]struct{})
	for term := range bytes.FieldsSeq(other) {
		skip[string(term)] = struct{}{}
	}
	for term := range bytes.FieldsSeq(text) {
		if _, ok := skip[string(term)]; !ok {
			out = append(append(out, term...), ' ')
		}
	}
	return out
}

type preparer struct {
	binding  *Binding
	doc      *Document
	skipText bool
	keys     []byte // backing of all entry keys
	sort     []byte
	terms    termWriter
}

func (p *preparer) run(data []byte) {
	s := p.binding.Stream
	p.keys = make([]byte, 0, 256)
	long := false
	for name, value := range rawjson.Members(data) {
		long = long || len(value) > LongValue
		if f := s.Field(string(name)); f != nil {
			p.field(f, value)
		}
	}
	p.doc.Order = OrderKey(p.sort, p.doc.ID)
	p.doc.Search, p.doc.Counts = p.terms.out, p.terms.counts
	p.doc.Body = data
	if long && !p.skipText {
		p.cut(data)
	}
}

func (p *preparer) field(f *pdpp.Field, value []byte) {
	s := p.binding.Stream
	if !p.skipText && slices.Contains(s.LexicalFields, f.Name) {
		if text, ok := rawjson.String(value); ok {
			p.terms.add(p.binding.FieldIDs[f.Index], text)
		}
	}
	slot := SlotOf(s, f)
	if slot == SlotBlob && !p.skipText {
		p.terms.blobs(p.binding.FieldIDs[f.Index], value) // a list of any length
	}
	if slot == SlotNone || slot == SlotBlob || len(value) > maxIndexedJSON {
		return
	}
	if slot == SlotKey {
		p.doc.KeyInData = rawjson.KindOf(value) == rawjson.KindString
	}
	indexed := Indexed(s, f)
	if slot == SlotKey && !indexed {
		return
	}
	start := len(p.keys)
	keys, ok := sortkey.AppendJSON(p.keys, f.Kind, value)
	key := slices.Clip(keys[start:])
	if !ok || len(key) > MaxIndexed {
		return
	}
	p.keys = keys
	switch slot {
	case SlotCursor:
		p.sort = key
	case SlotToken:
		if !p.skipText {
			p.terms.token(ValueToken(p.binding.FieldIDs[f.Index], key))
		}
	}
	if indexed {
		p.doc.Index = append(p.doc.Index, FieldKey{p.binding.FieldIDs[f.Index], key})
	}
	if f.Name == s.ConsentTimeField {
		p.doc.ConsentTime = key
	}
}

// cut replaces the long values of the body by stubs. Everything else is copied
// unchanged, escapes in names included (C-33).
func (p *preparer) cut(data []byte) {
	body := make([]byte, 0, LongValue)
	done, end := 0, 0 // copied so far; end of the last value
	for _, value := range rawjson.Members(data) {
		start := afterName(data, end+1) + 1
		end = start + len(value)
		if len(value) <= LongValue {
			continue
		}
		l := cutLong(len(p.doc.Long), value)
		p.doc.Long = append(p.doc.Long, l)
		body = l.append(append(body, data[done:start]...), value)
		done = end
	}
	p.doc.Body = append(body, data[done:]...)
}

// afterName returns the offset after the name whose opening quote is at i.
func afterName(data []byte, i int) int {
	for i++; data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i + 1
}

package rsclient

import (
	"slices"

	"pdpp"
	"pdpp/internal/evidence"
	"pdpp/internal/rawjson"
)

// Record is one record of an answer.
type Record struct {
	Identity
	Source
	Payload   []byte // a compact object: the projected fields
	Raw       []byte // the record as received
	Flat      bool   // the record has no member data: its other members are the payload (MS-60)
	EmittedAt string
	Truncated map[string]*evidence.Truncation // REC-39; nil when nothing is cut
	Expanded  []Relation

	Deleted       bool
	DeletedAt     string
	RemovedReason string
}

// Relation is an expanded relation of a record.
type Relation struct {
	Name    string
	Records [][]byte
	HasMore bool
}

var detailNames = func() map[string]bool {
	names := map[string]bool{"links": true, "meta": true}
	for name := range envelopeNames {
		names[name] = true
	}
	return names
}()

// without copies an object without some members.
func without(obj []byte, names map[string]bool) []byte {
	w := rawjson.Writer("{")
	s := rawjson.Scan(obj)
	for name := range s.Members() {
		if !names[string(name)] {
			w.Raw(s.Member())
		}
	}
	return append(w, '}')
}

// Project removes all fields of the payload except the named ones (PROJ-2).
func (r *Record) Project(fields []string) {
	drop := make(map[string]bool)
	for name := range rawjson.Members(r.Payload) {
		if !slices.Contains(fields, string(name)) {
			drop[string(name)] = true
		}
	}
	if len(drop) > 0 {
		r.Payload = without(r.Payload, drop)
	}
}

// truncationsOf reads truncated_fields.
func truncationsOf(fields []byte) map[string]*evidence.Truncation {
	var all map[string]*evidence.Truncation
	for name, v := range rawjson.Members(fields) {
		t := &evidence.Truncation{
			TotalChars: number(v, "total_chars"), ShownChars: number(v, "shown_chars"), AsJSON: text(v, "as") == "json",
		}
		if t.TotalChars < 0 || t.ShownChars < 0 {
			continue
		}
		if b := object(v, "binary"); b != nil {
			t.Binary = binaryOf(b)
		}
		if all == nil {
			all = make(map[string]*evidence.Truncation)
		}
		all[string(name)] = t
	}
	return all
}

// binaryOf reads the facts of EX-8.
func binaryOf(v []byte) *evidence.Binary {
	return &evidence.Binary{
		Kind: text(v, "kind"), MimeType: text(v, "mime_type"), SizeBytes: int64(number(v, "size_bytes")), SHA256: text(v, "sha256"),
	}
}

// relationsOf reads expanded: a list of records, one record, or null.
func relationsOf(expanded []byte) []Relation {
	var all []Relation
	for name, v := range rawjson.Members(expanded) {
		r := Relation{Name: string(name)}
		list := v
		if rawjson.KindOf(v) == rawjson.KindObject {
			list = get(v, "data")
		}
		switch {
		case rawjson.KindOf(list) == rawjson.KindArray:
			r.Records = slices.Collect(rawjson.Elements(list))
			r.HasMore = isTrue(v, "has_more")
		case rawjson.KindOf(v) == rawjson.KindObject:
			r.Records = [][]byte{v}
		}
		all = append(all, r)
	}
	return all
}

// Evidence returns the record for the package evidence.
func (r *Record) Evidence(all Presentations) *evidence.Record {
	e := new(evidence.Record)
	r.describe(e, all.For(r.ConnectorKey, r.Stream))
	e.SetData(r.Payload)
	return e
}

// describe fills e with the record, except its data.
func (r *Record) describe(e *evidence.Record, declared *evidence.Presentation) {
	e.Stream, e.ID, e.ConnectionID = r.Stream, pdpp.RecordID(r.Identity.Record), pdpp.ConnectionID(r.Connection)
	e.DisplayName, e.ConnectorDisplayName, e.ConnectorKey = r.DisplayName, r.ConnectorName, pdpp.ConnectorKey(ShortKey(r.ConnectorKey))
	e.Truncated, e.Presentation = r.Truncated, declared
	if e.Envelope = nil; !r.Flat {
		e.Envelope = r.Raw
	}
	e.EmittedText = r.EmittedAt
}

package consent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/rawjson"
)

// Request is what a client asks for: the entries of its authorization_details (H-146).
// They have the same purpose, access mode and retention. A nil *Request means that the
// owner chooses from everything (H-147).
type Request struct {
	Entries []Entry `json:"entries"`
}

// Entry is the part of a request for one source.
type Entry = grant.Spec

// ParseRequest checks the syntax and the limits of authorization_details. It does not
// consult a catalog, because a client must not learn whether a source or a stream exists before
// an owner has signed in. Errors have CodeInvalidInput; Param is the JSON path.
func ParseRequest(details []byte) (*Request, error) {
	entries, err := grant.ParseDetails(details)
	if err != nil {
		return nil, err
	}
	return &Request{Entries: entries}, nil
}

// Offer is what an owner can choose from. It is stored with the request when the owner
// first opens it, and the form refers to it by the numbers of its streams (H-182).
type Offer struct {
	Purpose            string          `json:"purpose"`
	PurposeDescription string          `json:"purpose_description,omitempty"`
	AccessMode         string          `json:"access_mode"`
	Retention          *pdpp.Retention `json:"retention,omitempty"`
	Requested          bool            `json:"requested,omitempty"` // the client asked for particular access
	Sources            []Source        `json:"sources"`             // one per connection
	Missing            []string        `json:"missing,omitempty"`   // requested, but not available: sentences for the owner

	// Together says that the request is one entry that names several connections. Its
	// approval is one grant (H-82).
	Together bool `json:"together,omitempty"`
}

// Source is one connection and what it has to offer.
type Source struct {
	Connection   pdpp.ConnectionID `json:"connection"`
	Label        string            `json:"label"`     // of the connection; never empty
	Connector    string            `json:"connector"` // display name
	ConnectorKey pdpp.ConnectorKey `json:"connector_key"`
	Streams      []Stream          `json:"streams"`
}

// Stream is one stream of one connection.
type Stream struct {
	N            int             `json:"n"` // from 1; unique in the offer
	Name         string          `json:"name"`
	Label        string          `json:"label,omitempty"`
	Description  string          `json:"description,omitempty"`
	Fields       []Field         `json:"fields"`               // manifest order
	View         string          `json:"view,omitempty"`       // the requested view, already resolved to Fields
	SelectFields bool            `json:"select_fields"`        // false: all of Fields or none
	TimeField    string          `json:"time_field,omitempty"` // "": the stream cannot be limited in time
	Since        time.Time       `json:"since,omitzero"`       // requested
	Until        time.Time       `json:"until,omitzero"`       // requested
	Resources    []pdpp.RecordID `json:"resources,omitempty"`  // requested records; nil: all
	Necessity    string          `json:"necessity,omitempty"`  // required, optional or ""; shown, never enforced
}

// Field is one field of a stream.
type Field struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Key         bool   `json:"key,omitempty"` // in the primary key, so always included
}

// NewOffer returns what the owner of the catalog can grant: the requested part of it, or
// everything when r is nil. Requested things that the owner does not have, or that cannot
// be granted as requested, are named in Missing.
func NewOffer(r *Request, c *pdpp.Catalog) *Offer {
	b := builder{catalog: c, missing: map[string]bool{}}
	b.offer = &Offer{Purpose: grant.DefaultPurpose, AccessMode: grant.Continuous, Requested: r != nil}
	if r == nil {
		b.everything()
	} else {
		for i := range r.Entries {
			e := &r.Entries[i]
			b.offer.Purpose, b.offer.PurposeDescription = e.PurposeCode, e.PurposeDescription
			b.offer.AccessMode, b.offer.Retention = e.AccessMode, e.Retention
			b.entry(e)
		}
		b.offer.Together = len(r.Entries) == 1 && len(r.Entries[0].InstanceIDs()) > 1
	}
	b.offer.Sources = slices.DeleteFunc(b.offer.Sources, func(s Source) bool { return len(s.Streams) == 0 })
	b.offer.number()
	if b.more > 0 {
		b.offer.Missing = append(b.offer.Missing, fmt.Sprintf("%d other requested things are not available either.", b.more))
	}
	return b.offer
}

// number numbers the streams of the offer.
func (o *Offer) number() {
	n := 0
	for i := range o.Sources {
		for j := range o.Sources[i].Streams {
			n++
			o.Sources[i].Streams[j].N = n
		}
	}
}

// maxMissing bounds the sentences about missing things, because the client chooses how
// many there are.
const maxMissing = 20

// builder collects an offer.
type builder struct {
	catalog *pdpp.Catalog
	offer   *Offer
	missing map[string]bool
	more    int // sentences that are not in the offer
}

// addMissing adds a sentence to Missing, once.
func (b *builder) addMissing(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	switch {
	case b.missing[text]:
		return
	case len(b.offer.Missing) < maxMissing:
		b.offer.Missing = append(b.offer.Missing, text)
	default:
		b.more++
	}
	b.missing[text] = true
}

// everything offers all streams of all connections.
func (b *builder) everything() {
	all := &grant.Spec{Streams: []grant.SpecStream{{Name: grant.AllStreams}}}
	for _, m := range b.catalog.Manifests {
		b.manifest(all, m, b.accounts(m))
	}
	slices.SortStableFunc(b.offer.Sources, func(x, y Source) int { return byName(x.Connector, y.Connector) })
}

// accounts returns the connections of a connector that can be granted, by label.
func (b *builder) accounts(m *pdpp.Manifest) []pdpp.Connection {
	var out []pdpp.Connection
	for _, c := range b.catalog.Connections {
		if c.Connector == m.ConnectorKey && grant.Active(c) {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(x, y pdpp.Connection) int { return byName(label(x), label(y)) })
	return out
}

// byName orders names as people do: without regard to case.
func byName(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) }

// label returns a name of the connection that is never empty.
func label(c pdpp.Connection) string { return cmp.Or(c.DisplayName(), c.Name, string(c.ID)) }

// connectorName returns the name of a source for people.
func connectorName(m *pdpp.Manifest) string { return cmp.Or(m.DisplayName, string(m.ConnectorKey)) }

// entry offers one entry of a request.
func (b *builder) entry(e *grant.Spec) {
	manifests := e.Sources(b.catalog)
	if len(manifests) == 0 {
		b.addMissing("The source %s is not set up here.", grant.Show(cmp.Or(e.SourceID, string(e.ConnectorKey))))
		return
	}
	known := map[pdpp.ConnectionID]bool{}
	for _, m := range manifests {
		accounts := b.accounts(m)
		for _, c := range accounts {
			known[c.ID] = true
		}
		if len(accounts) == 0 {
			b.addMissing("%s has no connected account.", connectorName(m))
			continue
		}
		b.manifest(e, m, accounts)
	}
	for _, id := range e.InstanceIDs() {
		if !known[id] {
			b.addMissing("%s has no connected account %s.", connectorName(manifests[0]), grant.Show(id))
		}
	}
}

// manifest offers the streams of a spec on the accounts of one connector.
func (b *builder) manifest(e *grant.Spec, m *pdpp.Manifest, accounts []pdpp.Connection) {
	specs := e.Streams
	if len(specs) == 1 && specs[0].Name == grant.AllStreams {
		specs = make([]grant.SpecStream, len(m.Streams))
		for i, s := range m.Streams {
			specs[i] = e.Streams[0]
			specs[i].Name = s.Name
		}
	}
	streams := make([]Stream, len(specs))
	for i, spec := range specs {
		streams[i] = b.stream(m, spec)
	}
	for _, c := range accounts {
		to := b.source(c, m)
		for i, spec := range specs {
			if len(streams[i].Fields) == 0 || spec.InstanceIDs != nil && !slices.Contains(spec.InstanceIDs, c.ID) {
				continue
			}
			if slices.ContainsFunc(to.Streams, func(s Stream) bool { return s.Name == spec.Name }) {
				b.addMissing("%s of %s was requested twice; the first request counts.", grant.Show(spec.Name), to.Label)
				continue
			}
			to.Streams = append(to.Streams, streams[i])
		}
	}
}

// source returns the source of a connection in the offer, which is added if necessary.
func (b *builder) source(c pdpp.Connection, m *pdpp.Manifest) *Source {
	for i := range b.offer.Sources {
		if b.offer.Sources[i].Connection == c.ID {
			return &b.offer.Sources[i]
		}
	}
	b.offer.Sources = append(b.offer.Sources, Source{
		Connection: c.ID, Label: label(c), Connector: connectorName(m), ConnectorKey: m.ConnectorKey,
	})
	return &b.offer.Sources[len(b.offer.Sources)-1]
}

// stream returns the offered part of one stream. A stream that is missing, or that cannot
// be limited as requested, has no fields.
func (b *builder) stream(m *pdpp.Manifest, spec grant.SpecStream) Stream {
	s := m.Stream(spec.Name)
	if s == nil {
		b.addMissing("%s has no stream %s.", connectorName(m), grant.Show(spec.Name))
		return Stream{}
	}
	name := grant.Show(s.Name) + " of " + connectorName(m)
	fields := b.fields(name, s, spec)
	limited := !spec.Since.IsZero() || !spec.Until.IsZero()
	switch {
	case limited && s.ConsentTimeField == "":
		b.addMissing("%s cannot be limited in time as requested.", name)
		return Stream{}
	case spec.Resources != nil && !s.SelectResources:
		b.addMissing("%s cannot be limited to single records as requested.", name)
		return Stream{}
	}
	out := Stream{
		Name: s.Name, Label: s.Label, Description: s.Description, View: spec.View, SelectFields: s.SelectFields,
		TimeField: s.ConsentTimeField, Since: spec.Since, Until: spec.Until, Resources: spec.Resources, Necessity: spec.Necessity,
	}
	for _, name := range fields {
		out.Fields = append(out.Fields, Field{
			Name: name, Description: rawjson.GetString(s.Field(name).Schema, "description"), Key: slices.Contains(s.PrimaryKey, name),
		})
	}
	return out
}

// fields returns the requested fields that the stream declares, and its primary key.
func (b *builder) fields(name string, s *pdpp.Stream, spec grant.SpecStream) []string {
	if spec.View != "" {
		v, ok := s.View(spec.View)
		if !ok {
			b.addMissing("%s has no view %s.", name, grant.Show(spec.View))
			return nil
		}
		return grant.WithKey(s, v.Fields)
	}
	if spec.Fields == nil {
		return grant.AllFields(s)
	}
	known := 0
	for _, f := range spec.Fields {
		if s.Field(f) != nil {
			known++
			continue
		}
		b.addMissing("%s has no field %s.", name, grant.Show(f))
	}
	out := grant.WithKey(s, spec.Fields)
	switch {
	case known == 0:
		return nil
	case !s.SelectFields && len(out) < len(s.Fields):
		b.addMissing("%s can only be shared with all its fields, and some of them were not requested.", name)
		return nil
	}
	return out
}

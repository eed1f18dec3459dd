package pdpp

import (
	"encoding/json"
	"slices"
)

// Kind is the type by which values of a field are compared (REC-7, REC-19).
type Kind uint8

// The comparison kinds. A field has a kind only when its schema has exactly one
// non-null scalar type. A field of KindNone cannot be filtered, sorted or grouped.
const (
	KindNone Kind = iota
	KindString
	KindInteger
	KindNumber
	KindBoolean
	KindDate
	KindDateTime
)

// IsTime reports whether values are compared as instants.
func (k Kind) IsTime() bool { return k == KindDate || k == KindDateTime }

// IsNumeric reports whether values are compared as exact decimals.
func (k Kind) IsNumeric() bool { return k == KindInteger || k == KindNumber }

// IsOrdered reports whether range operators and sorting may be declared (M-4).
func (k Kind) IsOrdered() bool { return k.IsNumeric() || k.IsTime() }

// Role is a display role of a field (M-7). Unknown roles are kept and shown but have
// no effect.
type Role string

// The known roles.
const (
	RolePrimaryTitle Role = "primary-title"
	RolePrimaryText  Role = "primary-text"
	RoleSecondary    Role = "secondary"
	RoleEventTime    Role = "event-time"
	RoleActor        Role = "actor"
	RoleAmount       Role = "amount"
	RoleMedia        Role = "media"
)

// BlobShape says whether and how a field refers to blobs (M-9).
type BlobShape uint8

// The shapes.
const (
	BlobNone BlobShape = iota
	BlobOne
	BlobList
)

// Manifest is a validated source declaration (rs-contract §11.1). It is
// immutable once parsed.
type Manifest struct {
	ConnectorKey ConnectorKey
	SourceID     string // the registry URI; shown only in manifests and grants
	SourceKind   string // "connector"
	Version      string // declaration_version
	DisplayName  string // connector_display_name; "" when absent
	Digest       string // hex SHA-256 of Raw
	Raw          json.RawMessage
	Streams      []*Stream // manifest order

	byName map[string]*Stream
}

// Stream returns the declared stream with that name, or nil.
func (m *Manifest) Stream(name string) *Stream { return m.byName[name] }

// BuildIndex builds the look-up tables by name, and sets the fields that follow from the
// others. The parser calls it once, after all other fields are set.
func (m *Manifest) BuildIndex() {
	m.byName = make(map[string]*Stream, len(m.Streams))
	for _, s := range m.Streams {
		m.byName[s.Name] = s
		s.byName = make(map[string]*Field, len(s.Fields))
		for i, f := range s.Fields {
			f.Index = i
			s.byName[f.Name] = f
		}
	}
	for _, s := range m.Streams {
		for _, rel := range s.Relations {
			if related := m.byName[rel.Stream]; related != nil && related.Field(rel.ForeignKey) != nil {
				related.Field(rel.ForeignKey).ForeignKey = true
			}
		}
	}
}

// Stream is one declared stream.
type Stream struct {
	Name             string
	Label            string // display.label
	Description      string
	Semantics        string          // append_only or mutable_state
	Schema           json.RawMessage // as declared
	Fields           []*Field        // schema.properties in declared order
	Required         []string        // schema.required
	PrimaryKey       []string
	CursorField      string // "" when none
	ConsentTimeField string // "" when none
	SelectFields     bool   // selection.fields
	SelectResources  bool   // selection.resources
	Views            []View
	Relations        []Relation
	RangeFilters     []RangeFilter // declared order
	LexicalFields    []string
	SemanticFields   []string
	Aggregations     Aggregations

	byName map[string]*Field
}

// Field returns the declared property with that name, or nil.
func (s *Stream) Field(name string) *Field { return s.byName[name] }

// RangeOps returns the declared range operators of a field, in declared order.
func (s *Stream) RangeOps(field string) []Op {
	for _, r := range s.RangeFilters {
		if r.Field == field {
			return r.Ops
		}
	}
	return nil
}

// Relation returns the declared relationship with that name.
func (s *Stream) Relation(name string) (Relation, bool) {
	for _, r := range s.Relations {
		if r.Name == name {
			return r, true
		}
	}
	return Relation{}, false
}

// View returns the declared view with that id.
func (s *Stream) View(id string) (View, bool) {
	for _, v := range s.Views {
		if v.ID == id {
			return v, true
		}
	}
	return View{}, false
}

// Field is one declared top-level property.
type Field struct {
	Name        string
	Index       int             // position in Stream.Fields
	Types       []string        // JSON types in schema order, "null" included
	Kind        Kind            // how values compare
	Format      string          // JSON Schema format
	Role        Role            // x_pdpp_role
	DisplayType string          // x_pdpp_type: presentation only
	Blob        BlobShape       // a declared blob reference
	Schema      json.RawMessage // the property's schema as declared, compact

	ForeignKey bool // a relation of the manifest joins on this field
}

// View is a named projection.
type View struct {
	ID     string
	Label  string
	Fields []string
}

// Relation is a declared relationship. Expandable relations are those named in
// query.expand; the limits are zero for has_one.
type Relation struct {
	Name         string
	Stream       string // the related stream
	ForeignKey   string // a field of the related stream that holds the parent's id
	HasMany      bool
	Expandable   bool
	DefaultLimit int
	MaxLimit     int
}

// Cardinality returns the wire name of the relation's cardinality.
func (r Relation) Cardinality() string {
	if r.HasMany {
		return "has_many"
	}
	return "has_one"
}

// RangeFilter declares range operators for one field.
type RangeFilter struct {
	Field string
	Ops   []Op
}

// Aggregations are the declared aggregate capabilities.
type Aggregations struct {
	Count         bool
	Sum           []string
	Min           []string
	Max           []string
	GroupBy       []string
	GroupByTime   []string
	CountDistinct []string
}

// Uses reports whether any aggregation is declared for a field.
func (a Aggregations) Uses(field string) bool {
	for _, fields := range [][]string{a.Sum, a.Min, a.Max, a.GroupBy, a.GroupByTime, a.CountDistinct} {
		if slices.Contains(fields, field) {
			return true
		}
	}
	return false
}

package grant

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"pdpp"
)

const (
	maxSpec    = 64 << 10 // bytes (H-146)
	maxPurpose = 2048     // bytes

	// maxLifetime bounds expires_in. Without expires_in a grant does not expire.
	maxLifetime = 36500 * 24 * time.Hour

	// DefaultPurpose is the purpose of a grant whose spec names none (H-147).
	DefaultPurpose = "https://pdpp.dev/purpose/personal_ai_assistant"
)

// Spec is what an owner or a client wants a grant for one source to contain: a grant spec
// (H-15) or an entry of a request (H-146) whose syntax is valid. Whether its names exist
// is decided later, against a catalog.
type Spec struct {
	SourceID           string            `json:"source_id,omitempty"`
	ConnectorKey       pdpp.ConnectorKey `json:"connector_key,omitempty"`
	Streams            []SpecStream      `json:"streams"`
	AccessMode         string            `json:"access_mode"`
	PurposeCode        string            `json:"purpose_code"`
	PurposeDescription string            `json:"purpose_description,omitempty"`
	Retention          *pdpp.Retention   `json:"retention,omitempty"`
	ExpiresIn          time.Duration     `json:"expires_in,omitempty"` // 0: see ExpiresAt
	ExpiresAt          time.Time         `json:"expires_at,omitzero"`  // zero: until revoked
}

// SpecStream is one stream of a Spec. Without Fields and View it means all fields, and
// without InstanceIDs and Connections all active connections of the source.
type SpecStream struct {
	Name        string              `json:"name"` // AllStreams: every declared stream
	Fields      []string            `json:"fields,omitempty"`
	View        string              `json:"view,omitempty"`
	InstanceIDs []pdpp.ConnectionID `json:"instance_ids,omitempty"`
	Connections []string            `json:"connections,omitempty"` // ids, names or labels
	Since       time.Time           `json:"since,omitzero"`
	Until       time.Time           `json:"until,omitzero"`
	Resources   []pdpp.RecordID     `json:"resources,omitempty"` // nil: all records
	Necessity   string              `json:"necessity,omitempty"` // for the consent page; has no effect (H-147)
}

// AllStreams is the name of the stream entry that means every declared stream.
const AllStreams = "*"

// parseSpec checks the syntax of a grant spec (H-15).
func parseSpec(text []byte) (*Spec, error) {
	if len(text) > maxSpec {
		return nil, &fault{what: "has more than " + strconv.Itoa(maxSpec) + " bytes; split it into several grants"}
	}
	n, err := parse(text)
	if err != nil {
		return nil, err
	}
	o, err := n.object(slices.Concat(entryKeys, []string{"expires_in", "expires_at"})...)
	if err != nil {
		return nil, err
	}
	if o.has("type") {
		if _, err := o.oneOf("type", detailType); err != nil {
			return nil, err
		}
	}
	s := &Spec{}
	if err := s.read(o, slices.Concat(streamKeys, []string{"connections"})); err != nil {
		return nil, err
	}
	return s, s.readExpiry(o)
}

// The keys of a request entry and of its streams (H-146). A grant spec may have more.
var (
	entryKeys = []string{
		"type", "source", "streams", "selection_preset", "access_mode", "purpose_code", "purpose_description", "retention",
	}
	streamKeys = []string{"name", "fields", "view", "instance_ids", "time_range", "resources", "necessity"}
)

// read reads what specs and request entries have in common.
func (s *Spec) read(o object, streamKeys []string) error {
	for _, part := range []func(object) error{s.readSource, s.readMode, s.readPurpose} {
		if err := part(o); err != nil {
			return err
		}
	}
	var err error
	if s.Streams, err = specStreams(o, streamKeys); err != nil {
		return err
	}
	s.Retention, err = readRetention(o)
	return err
}

func (s *Spec) readSource(o object) error {
	source, err := o.needObject("source", "kind", "id", "connector_key")
	if err != nil {
		return err
	}
	if source.has("kind") {
		if _, err := source.oneOf("kind", "connector"); err != nil {
			return err
		}
	}
	if s.SourceID, err = source.optionalText("id"); err != nil {
		return err
	}
	key, err := source.optionalText("connector_key")
	s.ConnectorKey = pdpp.ConnectorKey(key)
	return err
}

func (s *Spec) readMode(o object) (err error) {
	s.AccessMode = Continuous
	if o.has("access_mode") {
		s.AccessMode, err = o.oneOf("access_mode", Continuous, SingleUse)
	}
	return err
}

func (s *Spec) readPurpose(o object) (err error) {
	s.PurposeCode = DefaultPurpose
	if n, ok := o.get("purpose_code"); ok {
		if s.PurposeCode, err = n.text(); err != nil {
			return err
		}
		if len(s.PurposeCode) > maxPurpose || strings.ContainsFunc(s.PurposeCode, unicode.IsControl) {
			return n.fault("must be at most %d bytes without control characters", maxPurpose)
		}
	}
	s.PurposeDescription, err = o.optionalText("purpose_description")
	return err
}

// readExpiry reads expires_in or expires_at.
func (s *Spec) readExpiry(o object) error {
	in, hasIn := o.get("expires_in")
	if hasIn && o.has("expires_at") {
		return in.fault("cannot be combined with expires_at; keep one")
	}
	if hasIn {
		text, err := in.text()
		if err != nil {
			return err
		}
		d, ok := pdpp.ParseDuration(text)
		if !ok || d <= 0 || d > maxLifetime {
			return in.fault("%s is not a duration of at most 36500d; write it like 90d, 12h or 15m", Show(text))
		}
		s.ExpiresIn = d
		return nil
	}
	at, err := o.optionalTime("expires_at")
	// Rounded as in the document of the grant, so that comparisons see the stored value.
	s.ExpiresAt = at.Truncate(time.Millisecond)
	return err
}

// specStreams reads the streams of a spec.
func specStreams(o object, keys []string) ([]SpecStream, error) {
	if preset, ok := o.get("selection_preset"); ok {
		return nil, preset.fault("unknown preset; list the streams instead")
	}
	n, err := o.need("streams")
	if err != nil {
		return nil, err
	}
	items, err := n.items()
	if err != nil {
		return nil, err
	}
	out := make([]SpecStream, 0, len(items))
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		s, err := specStream(item, keys)
		if err != nil {
			return nil, err
		}
		if s.Name == AllStreams && len(items) > 1 {
			return nil, item.fault("\"*\" must be the only entry; leave out the other streams")
		}
		if seen[s.Name] {
			return nil, item.fault("stream %s is listed twice", Show(s.Name))
		}
		seen[s.Name] = true
		out = append(out, s)
	}
	return out, nil
}

// specStream reads one stream.
func specStream(n node, keys []string) (s SpecStream, err error) {
	o, err := n.object(keys...)
	if err != nil {
		return s, err
	}
	if s.Necessity, err = o.optionalText("necessity"); err != nil {
		return s, err
	}
	if s.Name, err = o.needText("name"); err != nil {
		return s, err
	}
	if s.Name == AllStreams {
		// Only connections can narrow it, because they apply to every stream.
		for _, key := range []string{"fields", "view", "time_range", "resources"} {
			if n, ok := o.get(key); ok {
				return s, n.fault("cannot be combined with \"*\"; list the streams by name")
			}
		}
	}
	for _, part := range []func(object) error{s.readFields, s.readConnections, s.readTimeRange} {
		if err := part(o); err != nil {
			return s, err
		}
	}
	s.Resources, err = readResources(o)
	return s, err
}

func (s *SpecStream) readFields(o object) (err error) {
	fields, hasFields := o.get("fields")
	view, hasView := o.get("view")
	switch {
	case hasFields && hasView:
		return view.fault("cannot be combined with fields; keep one")
	case hasFields:
		s.Fields, err = texts(fields, func(string) bool { return true })
	case hasView:
		s.View, err = view.text()
	}
	return err
}

func (s *SpecStream) readConnections(o object) (err error) {
	ids, hasIDs := o.get("instance_ids")
	named, hasNamed := o.get("connections")
	switch {
	case hasIDs && hasNamed:
		return named.fault("cannot be combined with instance_ids; keep one")
	case hasIDs:
		s.InstanceIDs, err = texts(ids, pdpp.ConnectionID.Valid)
	case hasNamed:
		s.Connections, err = texts(named, func(string) bool { return true })
	}
	return err
}

func (s *SpecStream) readTimeRange(o object) error {
	if !o.has("time_range") {
		return nil
	}
	r, err := o.needObject("time_range", "since", "until")
	if err != nil {
		return err
	}
	s.Since, s.Until, err = r.bounds()
	return err
}

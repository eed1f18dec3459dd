package grant

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"pdpp"
)

// maxEntries is the largest number of entries of a request (H-146).
const maxEntries = 50

// ParseDetails checks the syntax and the limits of authorization_details (H-146) and
// returns its entries. It does not consult a catalog, so that its errors tell a stranger
// nothing about an owner. Every error is a *pdpp.Error with CodeInvalidInput whose Param
// is the JSON path of the cause, or "" for the text as a whole.
func ParseDetails(text []byte) ([]Spec, error) {
	entries, err := parseDetails(text)
	if err != nil {
		return nil, invalidInput("authorization_details ", err)
	}
	return entries, nil
}

func parseDetails(text []byte) ([]Spec, error) {
	if len(text) > maxSpec {
		return nil, &fault{what: "has more than " + strconv.Itoa(maxSpec) + " bytes; send several requests"}
	}
	n, err := parse(text)
	if err != nil {
		return nil, err
	}
	items, err := n.items()
	if err != nil {
		return nil, err
	}
	if len(items) > maxEntries {
		return nil, n.fault("has more than %d entries; send several requests", maxEntries)
	}
	out := make([]Spec, len(items))
	seen := map[pdpp.ConnectionID]bool{}
	for i, item := range items {
		if err := out[i].readEntry(item); err != nil {
			return nil, err
		}
		if err := sameTerms(&out[0], &out[i], item); err != nil {
			return nil, err
		}
		for j := range i {
			if out[i].overlaps(&out[j]) {
				return nil, item.fault("names the connections of an earlier entry again; combine the entries")
			}
		}
		for _, id := range out[i].InstanceIDs() {
			if seen[id] {
				return nil, item.fault("names connection %s of an earlier entry again; combine the entries", Show(id))
			}
			seen[id] = true
		}
	}
	return out, nil
}

// readEntry reads one entry of a request. It is stricter than a grant spec, because its
// texts are shown to an owner who did not write them.
func (s *Spec) readEntry(n node) error {
	o, err := n.object(entryKeys...)
	if err != nil {
		return err
	}
	if _, err := o.oneOf("type", detailType); err != nil {
		return err
	}
	if err := s.read(o, streamKeys); err != nil {
		return err
	}
	source, _ := o.get("source")
	switch u, err := url.Parse(s.SourceID); {
	case s.SourceID == "" && s.ConnectorKey == "":
		return source.fault("needs id or connector_key")
	case s.SourceID != "" && (err != nil || !u.IsAbs()):
		return faultAt(join(source.path(), "id"), "must be an absolute URI")
	case s.ConnectorKey != "" && !s.ConnectorKey.Valid():
		return faultAt(join(source.path(), "connector_key"), "does not have the required form")
	}
	if err := s.checkTexts(o.self); err != nil {
		return err
	}
	streams, _ := o.get("streams")
	for i, stream := range s.Streams {
		at := streams.path() + "[" + strconv.Itoa(i) + "]"
		if stream.Name != AllStreams && !validStreamName(stream.Name) {
			return faultAt(at+".name", "%s is not a stream name", Show(stream.Name))
		}
		if stream.Necessity != "" && stream.Necessity != "required" && stream.Necessity != "optional" {
			return faultAt(at+".necessity", "%s is not one of required, optional", Show(stream.Necessity))
		}
	}
	return nil
}

// checkTexts checks the texts that the owner is shown.
func (s *Spec) checkTexts(at string) error {
	texts := []struct{ path, text string }{
		{join(at, "purpose_code"), s.PurposeCode},
		{join(at, "purpose_description"), s.PurposeDescription},
	}
	if s.Retention != nil {
		texts = append(texts, struct{ path, text string }{join(at, "retention") + ".on_expiry", s.Retention.OnExpiry})
	}
	for _, t := range texts {
		if len(t.text) > maxPurpose || strings.ContainsFunc(t.text, hidden) {
			return faultAt(t.path, "must be at most %d bytes without control characters", maxPurpose)
		}
	}
	return nil
}

// hidden reports whether a character can make a text look different from what it says.
func hidden(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// sameTerms checks that two entries have the same terms, because the owner decides on one
// purpose at a time.
func sameTerms(first, s *Spec, n node) error {
	for _, term := range []struct {
		key  string
		same bool
	}{
		{"purpose_code", first.PurposeCode == s.PurposeCode},
		{"purpose_description", first.PurposeDescription == s.PurposeDescription},
		{"access_mode", first.AccessMode == s.AccessMode},
		{"retention", sameRetention(first.Retention, s.Retention)},
	} {
		if !term.same {
			return faultAt(join(n.path(), term.key), "must be the same in all entries; send a separate request")
		}
	}
	return nil
}

func sameRetention(a, b *pdpp.Retention) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// overlaps reports whether two entries name the same source and one of them means all of
// its connections. A connection belongs to one grant of a decision (H-82).
func (s *Spec) overlaps(other *Spec) bool {
	all := func(s SpecStream) bool { return s.InstanceIDs == nil }
	return s.SourceID == other.SourceID && s.ConnectorKey == other.ConnectorKey &&
		(slices.ContainsFunc(s.Streams, all) || slices.ContainsFunc(other.Streams, all))
}

// InstanceIDs returns the connections that the streams name, each once.
func (s *Spec) InstanceIDs() []pdpp.ConnectionID {
	var ids []pdpp.ConnectionID
	for _, stream := range s.Streams {
		ids = append(ids, stream.InstanceIDs...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

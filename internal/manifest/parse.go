package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
	"unicode"

	"pdpp"
)

// maxStreams is the largest number of streams of a manifest (M-10).
const maxStreams = 200

// Parse parses and validates a connector manifest. The result is sealed and shares no
// memory with raw. Parsing its Raw again returns an equal value.
//
// Every error is a *pdpp.Error with CodeInvalidInput. Its Message has one line
// for each of the first 20 problems, with the JSON path.
func Parse(raw []byte) (*pdpp.Manifest, error) {
	compact, err := wellFormed(raw)
	if err != nil {
		return nil, err
	}
	p := &parser{}
	m := p.manifest(value{raw: compact})
	if err := p.err(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(compact)
	m.Raw = compact
	m.Digest = hex.EncodeToString(sum[:])
	return m, nil
}

// manifest reads a declaration, with or without its wrapper (M-1).
func (p *parser) manifest(v value) *pdpp.Manifest {
	m := &pdpp.Manifest{}
	outer, ok := p.object(v)
	if !ok {
		return m
	}
	decl, keys := outer, []value{outer.get("connector_key")}
	if inner := outer.get("source_declaration"); !inner.absent() {
		if decl, ok = p.object(inner); !ok {
			return m
		}
		keys = append(keys, decl.get("connector_key"))
	}
	p.identity(m, decl)
	m.ConnectorKey = p.connectorKey(m.SourceID, keys)
	p.streams(m, decl.get("streams"))
	// Relations are checked last, because they may refer to a later stream.
	m.BuildIndex()
	p.checkRelations(m)
	return m
}

func (p *parser) identity(m *pdpp.Manifest, decl object) {
	m.Version = p.token(decl.get("declaration_version"))
	if display, ok := p.optionalObject(decl.get("display")); ok {
		m.DisplayName = p.text(display.get("name"))
	}
	source, ok := p.object(decl.get("source"))
	if !ok {
		return
	}
	m.SourceKind = p.oneOf(source.get("kind"), "connector")
	m.SourceID = p.token(source.get("id"))
}

// maxToken bounds the version and the source id, which every grant contains (G-1).
const maxToken = 2048

// token reads a required string that other documents compare byte by byte.
func (p *parser) token(v value) string {
	s := p.requiredText(v)
	if len(s) > maxToken {
		p.add(v.at, "has %d bytes; at most %d are allowed", len(s), maxToken)
		return ""
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		p.add(v.at, "must not contain control characters")
		return ""
	}
	return s
}

// connectorKey returns the key of the declaration or its wrapper, else the last path
// segment of the source id (M-1, C-22).
func (p *parser) connectorKey(sourceID string, stated []value) pdpp.ConnectorKey {
	var key pdpp.ConnectorKey
	for _, v := range stated {
		if v.absent() {
			continue
		}
		k := p.statedKey(v)
		if k == "" {
			return ""
		}
		if key != "" && k != key {
			p.add(v.at, "%s differs from %s, the connector_key of the wrapper", quote(string(k)), quote(string(key)))
			return ""
		}
		key = k
	}
	if key != "" || sourceID == "" {
		return key
	}
	key = pdpp.ConnectorKey(lastSegment(sourceID))
	if !key.Valid() {
		p.add(stated[0].at, "is required, because source.id does not end in a path segment that is a connector key")
	}
	return key
}

// statedKey reads one connector_key. It returns "" for an invalid key.
func (p *parser) statedKey(v value) pdpp.ConnectorKey {
	key := pdpp.ConnectorKey(p.requiredText(v))
	if key != "" && !key.Valid() {
		p.add(v.at, "%s is not a connector key: 1 to 64 of a-z 0-9 _ -, starting with a letter or digit", quote(string(key)))
		return ""
	}
	return key
}

// lastSegment returns the last path segment of a URI and ignores a slash at the end. It
// does not decode escapes, so that they never yield a valid key.
func lastSegment(id string) string {
	u, err := url.Parse(id)
	if err != nil {
		return ""
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

func (p *parser) streams(m *pdpp.Manifest, v value) {
	if v.absent() {
		p.add(v.at, "is required")
		return
	}
	items := p.optionalList(v)
	if len(items) == 0 {
		p.add(v.at, "is empty; a source has at least one stream")
		return
	}
	if len(items) > maxStreams {
		p.add(v.at, "has %d streams; at most %d are allowed", len(items), maxStreams)
		return
	}
	seen := map[string]bool{}
	for _, item := range items {
		s := p.stream(item)
		if s == nil {
			continue
		}
		if s.Name != "" && seen[s.Name] {
			p.add(item.at.key("name"), "there is already a stream %s", quote(s.Name))
		}
		seen[s.Name] = true
		m.Streams = append(m.Streams, s)
	}
}

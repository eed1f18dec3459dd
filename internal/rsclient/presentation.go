package rsclient

import (
	"strings"
	"sync"

	"pdpp"
	"pdpp/internal/evidence"
	"pdpp/internal/rawjson"
)

// Presentations are the declarations of the streams of an answer (REC-5, MS-34), by
// <connector_key>/<stream>.
type Presentations map[string]*evidence.Presentation

// PresentationsOf reads meta.presentation of an answer. An answer without it has
// none.
func PresentationsOf(body []byte) Presentations { return presentationsOf(get(body, "meta")) }

func presentationsOf(meta []byte) Presentations {
	raw := get(meta, "presentation")
	if raw == nil {
		return nil
	}
	return parsed.get(raw, parsePresentations)
}

func parsePresentations(raw []byte) Presentations {
	all := make(Presentations)
	for name, v := range rawjson.Members(raw) {
		p := &evidence.Presentation{BlobsByID: true, PrimaryKey: asTexts(get(v, "primary_key")), Roles: make(map[pdpp.Role][]string)}
		if field := text(v, "time_field"); field != "" {
			p.TimeFields = []string{field}
		}
		for role, fields := range rawjson.Members(get(v, "roles")) {
			p.Roles[pdpp.Role(role)] = asTexts(fields)
		}
		all[string(name)] = p
	}
	return all
}

// parsed caches the declarations of recent answers, which are the same in all of them.
// The cache is bounded, whatever servers send.
var parsed presentationCache

type presentationCache struct {
	mu    sync.RWMutex
	known map[string]Presentations
}

const (
	maxParsed      = 64
	maxParsedBytes = 16 << 10 // of one declaration; longer ones are read each time
)

func (c *presentationCache) get(raw []byte, parse func([]byte) Presentations) Presentations {
	if len(raw) > maxParsedBytes {
		return parse(raw)
	}
	c.mu.RLock()
	found, ok := c.known[string(raw)]
	c.mu.RUnlock()
	if ok {
		return found
	}
	made := parse(raw)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxParsed {
		c.known = make(map[string]Presentations)
	}
	c.known[string(raw)] = made
	return made
}

// nothingDeclared is the presentation of other streams: an object with a blob_id is
// still a blob reference (MS-64).
var nothingDeclared = evidence.Presentation{BlobsByID: true}

// For returns the declaration of a stream; never nil. Without a connector key, the only
// connector with such a stream counts.
func (p Presentations) For(connectorKey, stream string) *evidence.Presentation {
	if found, ok := p[connectorKey+"/"+stream]; ok {
		return found
	}
	var only *evidence.Presentation
	for name, found := range p {
		if connectorKey != "" || !strings.HasSuffix(name, "/"+stream) {
			continue
		}
		if only != nil {
			return &nothingDeclared
		}
		only = found
	}
	if only == nil {
		return &nothingDeclared
	}
	return only
}

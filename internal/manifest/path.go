package manifest

import (
	"strconv"
	"strings"
)

// path is a place in the manifest; nil is the root. It is a linked list, so that places
// without a problem cost little in a large document.
type path struct {
	parent *path
	name   string
	index  int // used when name is "" and isItem
	isItem bool
}

func (p *path) key(name string) *path { return &path{parent: p, name: name} }

func (p *path) item(i int) *path { return &path{parent: p, index: i, isItem: true} }

// maxPath bounds the length of a path in a message.
const maxPath = 400

// String returns the path in the form streams[2].query.sum, or "manifest" for the root.
func (p *path) String() string {
	if p == nil {
		return "manifest"
	}
	var b strings.Builder
	for _, s := range steps(p) {
		if s.write(&b); b.Len() >= maxPath {
			break
		}
	}
	return clip(b.String(), maxPath)
}

func (p *path) write(b *strings.Builder) {
	switch {
	case p.isItem:
		b.WriteString("[" + strconv.Itoa(p.index) + "]")
	case !isPlainKey(p.name):
		b.WriteString("[" + quote(p.name) + "]")
	case b.Len() == 0:
		b.WriteString(p.name)
	default:
		b.WriteString("." + p.name)
	}
}

// isPlainKey reports whether a key needs no quotes in a path.
func isPlainKey(s string) bool {
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '$':
		default:
			return false
		}
	}
	return s != "" && len(s) <= maxQuoted
}

// maxQuoted bounds one quoted value in a message.
const maxQuoted = 128

// quote returns a value of the manifest in quotes, so that it stays on its line.
func quote(s string) string { return strconv.Quote(clip(s, maxQuoted)) }

// clip truncates s to at most n bytes at a character boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	cut := strings.ToValidUTF8(s[:n], "")
	return cut + "…"
}

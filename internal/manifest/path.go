package manifest

import (
	"strconv"
	"strings"
)

// path is a place in the manifest. It is a linked list, so that walking a large
// document costs nothing for the places that have no problem. nil is the root.
type path struct {
	parent *path
	name   string
	index  int // used when name is "" and isItem
	isItem bool
}

func (p *path) key(name string) *path { return &path{parent: p, name: name} }

func (p *path) item(i int) *path { return &path{parent: p, index: i, isItem: true} }

// maxPath bounds what a path may take of a message.
const maxPath = 400

// String writes the path as streams[2].query.sum; the root is "manifest".
func (p *path) String() string {
	if p == nil {
		return "manifest"
	}
	var steps []*path
	for s := p; s != nil; s = s.parent {
		steps = append(steps, s)
	}
	var b strings.Builder
	for i := len(steps) - 1; i >= 0 && b.Len() < maxPath; i-- {
		steps[i].write(&b)
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

// isPlainKey reports whether a key can stand in a path without quotes.
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

// quote writes a value of the manifest so that it cannot break out of its line.
func quote(s string) string { return strconv.Quote(clip(s, maxQuoted)) }

// clip cuts s to at most n bytes on a character boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	cut := strings.ToValidUTF8(s[:n], "")
	return cut + "…"
}

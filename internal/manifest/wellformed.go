package manifest

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"pdpp/internal/rawjson"
)

const (
	maxInput = 8 << 20 // bytes
	maxDepth = 64      // nested objects and lists
)

// wellFormed checks the JSON text and returns it without insignificant white space.
func wellFormed(raw []byte) (json.RawMessage, error) {
	var ps problems
	if len(raw) > maxInput {
		ps.add(nil, "has %d bytes; at most %d are allowed", len(raw), maxInput)
		return nil, ps.err()
	}
	if !utf8.Valid(raw) {
		ps.add(nil, "is not valid UTF-8")
		return nil, ps.err()
	}
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		line, column := rawjson.Position(raw, err)
		ps.add(nil, "is not valid JSON at line %d, column %d: %v", line, column, err)
		return nil, ps.err()
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, whole); err != nil {
		ps.add(nil, "cannot be compacted: %v", err)
		return nil, ps.err()
	}
	w := walker{dec: newDecoder(compact.Bytes()), problems: &ps}
	w.value(nil, 0)
	return compact.Bytes(), ps.err()
}

// walker visits every value once to find duplicate keys and excessive nesting.
type walker struct {
	dec      *json.Decoder
	problems *problems
}

// value visits the next value. It returns false when the walk cannot continue.
func (w *walker) value(at *path, depth int) bool {
	tok, err := w.dec.Token()
	if err != nil {
		w.problems.add(at, "cannot be read: %v", err)
		return false
	}
	delim, nested := tok.(json.Delim)
	if !nested {
		return true
	}
	if depth == maxDepth {
		w.problems.add(at, "is nested too deeply; at most %d levels are allowed", maxDepth)
		return false
	}
	if delim == '{' {
		return w.members(at, depth+1)
	}
	return w.items(at, depth+1)
}

func (w *walker) members(at *path, depth int) bool {
	seen := map[string]bool{}
	for w.dec.More() {
		tok, err := w.dec.Token()
		name, ok := tok.(string)
		if err != nil || !ok {
			w.problems.add(at, "cannot be read as an object")
			return false
		}
		if seen[name] {
			w.problems.add(at.key(name), "duplicate key %s", quote(name))
		}
		seen[name] = true
		if !w.value(at.key(name), depth) {
			return false
		}
	}
	_, err := w.dec.Token()
	return err == nil
}

func (w *walker) items(at *path, depth int) bool {
	for i := 0; w.dec.More(); i++ {
		if !w.value(at.item(i), depth) {
			return false
		}
	}
	_, err := w.dec.Token()
	return err == nil
}

func newDecoder(raw []byte) *json.Decoder {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec
}

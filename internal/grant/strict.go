package grant

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/rawjson"
)

// fault is the first error in a JSON text: its place, and what to do.
type fault struct {
	at   string // JSON path; "" for the text as a whole
	what string
}

func (f *fault) Error() string {
	if f.at == "" {
		return f.what
	}
	return f.at + ": " + f.what
}

// faultAt returns a fault at a JSON path.
func faultAt(at, format string, args ...any) error {
	return &fault{at: at, what: fmt.Sprintf(format, args...)}
}

// node is one value of a valid JSON text, and its place. Null is rejected like any other
// wrong type, because a null constraint could be taken for no constraint (G-4).
type node struct {
	at   string // path of the object or list it is in; "" for the root
	key  string // in an object
	item int    // in a list, from 1
	raw  []byte
}

// path returns the JSON path. It is built on demand, because a grant may list thousands
// of fields and is parsed for every request.
func (n node) path() string {
	switch {
	case n.item > 0:
		return n.at + "[" + strconv.Itoa(n.item-1) + "]"
	case n.key != "":
		return join(n.at, n.key)
	}
	return n.at
}

func (n node) fault(format string, args ...any) error {
	return faultAt(n.path(), format, args...)
}

// parse checks a whole text: grammar, UTF-8, depth, unique keys.
func parse(text []byte) (node, error) {
	compact, err := rawjson.Compact(nil, text)
	switch {
	case errors.Is(err, rawjson.ErrDuplicateKey):
		return node{}, &fault{at: duplicate(text), what: "duplicate key; keep one"}
	case err != nil:
		return node{}, &fault{what: "is not valid JSON" + reason(text, err)}
	}
	return node{raw: compact}, nil
}

// reason returns the place and the reason of an error in a text.
func reason(text []byte, err error) string {
	var whole json.RawMessage
	if syntax := json.Unmarshal(text, &whole); syntax != nil {
		line, column := rawjson.Position(text, syntax)
		return fmt.Sprintf(" at line %d, column %d: %v", line, column, syntax)
	}
	return ": " + strings.TrimPrefix(err.Error(), "rawjson: ")
}

// duplicate returns the path of the first duplicate key.
func duplicate(text []byte) string {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	at, _ := findDuplicate(dec, "")
	return at
}

// findDuplicate reads one value. It stops at a duplicate key or at a syntax error.
// Compact has already checked the depth.
func findDuplicate(dec *json.Decoder, at string) (string, bool) {
	tok, err := dec.Token()
	if err != nil {
		return at, true
	}
	open, nested := tok.(json.Delim)
	if !nested {
		return "", false
	}
	seen := map[string]bool{}
	for i := 0; dec.More(); i++ {
		inner := at + "[" + strconv.Itoa(i) + "]"
		if open == '{' {
			tok, err := dec.Token()
			key, ok := tok.(string)
			if err != nil || !ok {
				return at, true
			}
			inner = join(at, key)
			if seen[key] {
				return inner, true
			}
			seen[key] = true
		}
		if found, stop := findDuplicate(dec, inner); stop {
			return found, true
		}
	}
	_, err = dec.Token()
	return at, err != nil
}

// join returns the path of a member. It quotes a key that is not a plain word.
func join(at, key string) string {
	plain := key != "" && len(key) <= maxShown && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	switch {
	case !plain:
		return at + "[" + Show(key) + "]"
	case at == "":
		return key
	}
	return at + "." + key
}

// maxShown bounds the length of a value in a message, and maxNames the number of names
// that it suggests.
const (
	maxShown = 128
	maxNames = 20
)

// Show quotes a value of the input for a message of one line.
func Show[S ~string](s S) string {
	if len(s) > maxShown {
		return strconv.Quote(strings.ToValidUTF8(string(s[:maxShown]), "") + "…")
	}
	return strconv.Quote(string(s))
}

// list returns the names as a list for a message.
func list[S ~string](names []S) string {
	var b strings.Builder
	for i, name := range names {
		if i == maxNames {
			fmt.Fprintf(&b, " and %d more", len(names)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(name))
	}
	if b.Len() == 0 {
		return "none"
	}
	return b.String()
}

// object is a node with a closed set of keys.
type object struct {
	node
	self    string // path
	members []node
}

// object reads an object that may have the known keys only.
func (n node) object(known ...string) (object, error) {
	if rawjson.KindOf(n.raw) != rawjson.KindObject {
		return object{}, n.fault("must be an object")
	}
	o := object{node: n, self: n.path(), members: make([]node, 0, len(known))}
	for key, raw := range rawjson.Members(n.raw) {
		i := slices.IndexFunc(known, func(k string) bool { return k == string(key) })
		if i < 0 {
			return object{}, &fault{at: join(o.self, string(key)), what: "unknown key; known keys are " + list(known)}
		}
		o.members = append(o.members, node{at: o.self, key: known[i], raw: raw})
	}
	return o, nil
}

// get returns a member.
func (o object) get(key string) (node, bool) {
	for _, m := range o.members {
		if m.key == key {
			return m, true
		}
	}
	return node{at: o.self, key: key}, false
}

// has reports whether the object has the key.
func (o object) has(key string) bool {
	_, ok := o.get(key)
	return ok
}

// need returns a required member.
func (o object) need(key string) (node, error) {
	n, ok := o.get(key)
	if !ok {
		return n, n.fault("is required")
	}
	return n, nil
}

// needObject reads a required object member.
func (o object) needObject(key string, known ...string) (object, error) {
	n, err := o.need(key)
	if err != nil {
		return object{}, err
	}
	return n.object(known...)
}

// text reads a string that is not empty.
func (n node) text() (string, error) {
	s, ok := rawjson.String(n.raw)
	if !ok {
		return "", n.fault("must be a string")
	}
	if s == "" {
		return "", n.fault("must not be empty")
	}
	return s, nil
}

// needText reads a required string member.
func (o object) needText(key string) (string, error) {
	n, err := o.need(key)
	if err != nil {
		return "", err
	}
	return n.text()
}

// optionalText reads a string member and returns "" when it is missing.
func (o object) optionalText(key string) (string, error) {
	if !o.has(key) {
		return "", nil
	}
	return o.needText(key)
}

// items reads a list that is not empty.
func (n node) items() ([]node, error) {
	if rawjson.KindOf(n.raw) != rawjson.KindArray {
		return nil, n.fault("must be a list")
	}
	at := n.path()
	var out []node
	for raw := range rawjson.Elements(n.raw) {
		out = append(out, node{at: at, item: len(out) + 1, raw: raw})
	}
	if len(out) == 0 {
		return nil, n.fault("must not be empty")
	}
	return out, nil
}

// texts reads a list of distinct strings that check accepts.
func texts[S ~string](n node, check func(S) bool) ([]S, error) {
	items, err := n.items()
	if err != nil {
		return nil, err
	}
	out := make([]S, 0, len(items))
	seen := make(map[S]bool, len(items))
	for _, item := range items {
		text, err := item.text()
		if err != nil {
			return nil, err
		}
		s := S(text)
		if !check(s) {
			return nil, item.fault("%s does not have the required form", Show(s))
		}
		if seen[s] {
			return nil, item.fault("%s is listed twice", Show(s))
		}
		seen[s] = true
		out = append(out, s)
	}
	return out, nil
}

// time reads an absolute time (C-34) of the years 2 to 9999. Year 1 contains the zero
// time, which means an open bound. Years with more digits, or before year 1, cannot be
// written and parsed again.
func (n node) time() (time.Time, error) {
	s, err := n.text()
	if err != nil {
		return time.Time{}, err
	}
	t, ok := pdpp.ParseTime(s)
	t = t.UTC()
	if !ok || t.Year() < 2 || t.Year() > 9999 {
		return time.Time{}, n.fault("%s is not an absolute time; write it like 2026-01-31T00:00:00Z", Show(s))
	}
	return t, nil
}

// optionalTime reads a time member and returns the zero time when it is missing.
func (o object) optionalTime(key string) (time.Time, error) {
	n, ok := o.get(key)
	if !ok {
		return time.Time{}, nil
	}
	return n.time()
}

// bounds reads since and until. At least one is required, and since must be earlier (G-2).
func (o object) bounds() (since, until time.Time, err error) {
	if since, err = o.optionalTime("since"); err != nil {
		return since, until, err
	}
	if until, err = o.optionalTime("until"); err != nil {
		return since, until, err
	}
	if since.IsZero() && until.IsZero() {
		return since, until, o.fault("needs since, until, or both")
	}
	if !since.IsZero() && !until.IsZero() && !since.Before(until) {
		return since, until, o.fault("since must be before until")
	}
	return since, until, nil
}

// oneOf reads a string member from a closed set.
func (o object) oneOf(key string, allowed ...string) (string, error) {
	s, err := o.needText(key)
	if err == nil && !slices.Contains(allowed, s) {
		n, _ := o.get(key)
		err = n.fault("%s is not one of %s", Show(s), list(allowed))
	}
	return s, err
}

package journeys

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// textReader reads only the text blocks.
type textReader struct {
	t      *testing.T
	blocks []string
	lines  []string // of the last block
}

func readText(t *testing.T, res *sdk.CallToolResult) result {
	t.Helper()
	r := textReader{t: t}
	for _, c := range res.Content {
		if b, ok := c.(*sdk.TextContent); ok {
			r.blocks = append(r.blocks, b.Text)
		}
	}
	if len(r.blocks) == 0 {
		t.Fatal("the text is missing")
	}
	r.lines = strings.Split(r.blocks[len(r.blocks)-1], "\n")
	return r
}

// scanner reads tokens of a line.
type scanner struct{ rest string }

// skip drops a separator.
func (s *scanner) skip(prefixes ...string) bool {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(s.rest, p); ok {
			s.rest = rest
			return true
		}
	}
	return false
}

// json reads a JSON value.
func (s *scanner) json() (any, bool) {
	d := json.NewDecoder(strings.NewReader(s.rest))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil, false
	}
	s.rest = s.rest[d.InputOffset():]
	return v, true
}

// mustJSON reads a JSON value; nil if there is none.
func (s *scanner) mustJSON() any {
	v, _ := s.json()
	return v
}

// quoted reads a JSON string.
func (s *scanner) quoted() (string, bool) {
	if !strings.HasPrefix(s.rest, `"`) {
		return "", false
	}
	v, ok := s.json()
	str, _ := v.(string)
	return str, ok
}

var bareName = regexp.MustCompile(`^[A-Za-z0-9_.-]+`)

// name reads the name before an equals sign.
func (s *scanner) name() (string, bool) {
	before := s.rest
	n, ok := s.quoted()
	if !ok {
		n = bareName.FindString(s.rest)
		s.rest = s.rest[len(n):]
	}
	if n == "" || !s.skip("=") {
		s.rest = before
		return "", false
	}
	return n, true
}

var cutMark = regexp.MustCompile(`^\(cut(:\d+)?\)`)

// value reads the value after an equals sign, and whether it was truncated.
func (s *scanner) value() (v any, cut bool) {
	if s.skip("binary") {
		v, _ = s.json()
		return v, false
	}
	v, ok := s.json()
	if !ok {
		v, s.rest, _ = strings.Cut(s.rest, " ")
		return v, true
	}
	if m := cutMark.FindString(s.rest); m != "" {
		s.rest = s.rest[len(m):]
		return v, true
	}
	return v, false
}

// pairs reads all name=value pairs.
func (s *scanner) pairs(each func(name string, v any, cut bool)) {
	for {
		for s.skip(" | ", " ", "; ") {
		}
		name, ok := s.name()
		if !ok {
			return
		}
		v, cut := s.value()
		each(name, v, cut)
	}
}

// token returns a value of the first line.
func (r textReader) token(name string) string {
	_, rest, ok := strings.Cut(r.lines[0], " "+name+"=")
	if !ok {
		return ""
	}
	s := scanner{rest}
	if v, ok := s.quoted(); ok {
		return v
	}
	word, _, _ := strings.Cut(rest, " ")
	return word
}

var runnable = regexp.MustCompile(`(?:^|; )\s*(more|next|later|previous): ([a-z_]+) `)

// steps returns the calls under a label.
func (r textReader) steps(label string, lines ...string) (out []*step) {
	for _, l := range lines {
		m := runnable.FindStringSubmatchIndex(l)
		if m == nil || l[m[2]:m[3]] != label {
			continue
		}
		s := scanner{l[m[1]:]}
		v, ok := s.json()
		a, isObject := v.(map[string]any)
		if !ok || !isObject {
			r.t.Fatalf("not runnable: %s", l)
		}
		out = append(out, &step{l[m[4]:m[5]], a})
	}
	return out
}

func first(steps []*step) *step {
	if len(steps) == 0 {
		return nil
	}
	return steps[0]
}

func (r textReader) code() string {
	rest, ok := strings.CutPrefix(r.lines[0], "error ")
	if !ok {
		return ""
	}
	return regexp.MustCompile(`^[a-z0-9_.-]+`).FindString(rest)
}

func (r textReader) errorDetail() (param, message string) {
	_, rest, _ := strings.Cut(r.lines[0], ": ")
	s := scanner{rest}
	message, _ = s.quoted()
	for _, l := range r.lines {
		if rest, ok := strings.CutPrefix(l, "param="); ok {
			s := scanner{rest}
			param, _ = s.quoted()
		}
	}
	return param, message
}

var streamName = regexp.MustCompile(`\bstream ("(?:[^"\\]|\\.)*")`)

func (r textReader) streams() (names []string) {
	for _, l := range r.lines {
		if !strings.HasPrefix(l, "  stream ") {
			continue
		}
		for _, m := range streamName.FindAllStringSubmatch(l, -1) {
			s := scanner{m[1]}
			name, _ := s.quoted()
			names = append(names, name)
		}
	}
	return names
}

func (r textReader) flags() map[string]string {
	out := map[string]string{}
	for _, l := range r.lines {
		rest, ok := strings.CutPrefix(l, " fields: ")
		if !ok {
			continue
		}
		for f := range strings.SplitSeq(rest, " ") {
			name, flags, _ := strings.Cut(strings.TrimSuffix(f, "]"), "[")
			out[name] = flags
		}
	}
	return out
}

// choices reads `connection "id" "label"` of a schema and `connection "id" …
// display_name="label"` of an error.
func (r textReader) choices() (out []choice) {
	for _, l := range r.lines {
		for part := range strings.SplitSeq(l, "connection ") {
			s := scanner{part}
			id, ok := s.quoted()
			if !ok {
				continue
			}
			c := choice{id: id}
			s.skip(" ")
			c.label, _ = s.quoted()
			s.pairs(func(name string, v any, _ bool) {
				if name == "display_name" {
					c.label = text(v)
				}
			})
			out = append(out, c)
		}
	}
	return out
}

var numbered = regexp.MustCompile(`^\d+\. `)

func (r textReader) items() (out []item) {
	for i, l := range r.lines {
		n := numbered.FindString(l)
		if n == "" {
			continue
		}
		it := parseItem(r.t, l[len(n):])
		if i+1 < len(r.lines) && strings.HasPrefix(r.lines[i+1], "   ") {
			it.more = first(r.steps("more", r.lines[i+1]))
		}
		out = append(out, it)
	}
	return out
}

func parseItem(t *testing.T, l string) item {
	it := item{fields: map[string]string{}, cut: map[string]bool{}}
	s := scanner{l}
	var ok bool
	if it.id, ok = s.quoted(); !ok {
		t.Fatalf("no id: %s", l)
	}
	s.skip(" ")
	before := s.rest
	if it.title, ok = s.quoted(); ok && strings.HasPrefix(s.rest, "=") {
		it.title, s.rest = "", before // a quoted name, not a title
	}
	s.pairs(func(name string, v any, cut bool) {
		if name == "deleted" {
			it.deleted = v == true
		}
		it.fields[name], it.cut[name] = text(v), cut
	})
	if s.rest != "" {
		t.Fatalf("unexpected %q in %s", s.rest, l)
	}
	return it
}

func (r textReader) cursor() string {
	if s := r.next(); s != nil {
		return text(s.args["cursor"])
	}
	return ""
}

func (r textReader) nextPage(args) (next args, repeated bool) {
	if s := r.next(); s != nil {
		next = s.args
	}
	return next, r.token("shown") != r.token("returned")+r.token("hits")
}

func (r textReader) bookmark() string {
	if s := first(r.steps("later", r.lines...)); s != nil {
		return text(s.args["changes_since"])
	}
	return r.token("next_changes_since")
}

func (r textReader) total() string {
	_, n, _ := strings.Cut(r.token("count"), ":")
	return n
}

func (r textReader) next() *step { return first(r.steps("next", r.lines...)) }

var charsRange = regexp.MustCompile(` chars=(\d+)\.\.(\d+) total=(\d+)`)

func (r textReader) window() (w window) {
	m := charsRange.FindStringSubmatch(r.lines[0])
	if m == nil || !strings.HasPrefix(r.lines[0], "field window ") {
		return w
	}
	w.start, _ = strconv.Atoi(m[1])
	w.end, _ = strconv.Atoi(m[2])
	w.total, _ = strconv.Atoi(m[3])
	s := scanner{strings.TrimPrefix(r.lines[len(r.lines)-1], "text=")}
	w.text, _ = s.quoted()
	w.next = r.next()
	return w
}

func (r textReader) value() string {
	_, rest, _ := strings.Cut(r.lines[0], ") = ")
	s := scanner{rest}
	v, _ := s.value()
	return text(v)
}

func (r textReader) groups() (out []group) {
	_, rest, ok := strings.Cut(r.lines[0], ": ")
	if !ok {
		return nil
	}
	s := scanner{rest}
	for {
		s.skip(" ")
		key, ok := s.json()
		if !ok || !s.skip("=") {
			return out
		}
		v, _ := s.value()
		out = append(out, group{text(key), text(v)})
		if s.skip("(count:") { // of a metric other than count
			s.value()
			s.skip(")")
		}
	}
}

// document reads the first block, a document in JSON, and the card.
func (r textReader) document() (d document) {
	var doc struct{ ID, Title, Text string }
	if err := json.Unmarshal([]byte(r.blocks[0]), &doc); err != nil {
		r.t.Fatalf("the first block is not a document: %v", err)
	}
	d = document{id: doc.ID, title: doc.Title, text: doc.Text, binary: map[string]map[string]any{}, whole: r.blocks[0]}
	for _, l := range r.lines {
		rest, ok := strings.CutPrefix(l, "binary ")
		if !ok {
			continue
		}
		s := scanner{rest}
		name, _ := s.quoted()
		s.skip(" ")
		v, _ := s.json()
		d.binary[name], _ = v.(map[string]any)
	}
	d.more = first(r.steps("more", r.lines...))
	return d
}

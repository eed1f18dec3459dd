package journeys

import (
	"encoding/json"
	"strconv"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// structReader reads only the structured output.
type structReader struct{ sc node }

func readStructured(t *testing.T, res *sdk.CallToolResult) result {
	t.Helper()
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var sc any
	if err := json.Unmarshal(raw, &sc); err != nil {
		t.Fatal(err)
	}
	return structReader{node{sc}}
}

// node is a JSON value that may be missing.
type node struct{ v any }

func (n node) at(names ...string) node {
	for _, name := range names {
		o, _ := n.v.(map[string]any)
		n = node{o[name]}
	}
	return n
}

func (n node) list() []node {
	l, _ := n.v.([]any)
	out := make([]node, len(l))
	for i, v := range l {
		out[i] = node{v}
	}
	return out
}

func (n node) object() map[string]any {
	o, _ := n.v.(map[string]any)
	return o
}

func (n node) text() string {
	if n.v == nil {
		return ""
	}
	if f, ok := n.v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return text(n.v)
}

func (n node) int() int {
	i, _ := strconv.Atoi(n.text())
	return i
}

// step returns a call of the output.
func (n node) step() *step {
	if n.v == nil {
		return nil
	}
	a, _ := n.at("args").v.(map[string]any)
	return &step{n.at("tool").text(), a}
}

func (r structReader) code() string { return r.sc.at("error", "code").text() }

func (r structReader) errorDetail() (param, message string) {
	return r.sc.at("error", "param").text(), r.sc.at("error", "message").text()
}

func (r structReader) streams() (names []string) {
	for _, c := range r.sc.at("data", "connectors").list() {
		for _, s := range c.at("streams").list() {
			names = append(names, s.at("name").text())
		}
	}
	return names
}

func (r structReader) flags() map[string]string {
	out := map[string]string{}
	for _, c := range r.sc.at("data", "connectors").list() {
		for _, s := range c.at("streams").list() {
			o, _ := s.at("field_capabilities").v.(map[string]any)
			for name, flags := range o {
				out[name] = text(flags)
			}
		}
	}
	return out
}

func (r structReader) choices() (out []choice) {
	lists := r.sc.at("error", "available_connections").list()
	for _, c := range r.sc.at("data", "connectors").list() {
		lists = append(lists, c.at("granted_connections").list()...)
	}
	for _, c := range lists {
		out = append(out, choice{c.at("connection_id").text(), c.at("display_name").text()})
	}
	return out
}

func (r structReader) items() (out []item) {
	if hits := r.sc.at("results"); hits.v != nil {
		for i, h := range hits.list() {
			out = append(out, structHit(h, r.sc.at("data", "data").list()[i], r.sc.at("read_tool").text()))
		}
		return out
	}
	more := map[string]*step{}
	ladder := r.sc.at("content_ladder")
	for _, rec := range ladder.at("records").list() {
		for _, f := range rec.at("fields").list() {
			s := f.at("read").step()
			if offset := f.at("offset_chars"); s == nil && offset.v != nil {
				s = &step{ladder.at("read_tool").text(), args{"id": rec.at("id").v, "field_path": f.at("field_path").v, "offset_chars": offset.v}}
			}
			if s != nil && more[rec.at("id").text()] == nil {
				more[rec.at("id").text()] = s
			}
		}
	}
	ids := r.sc.at("ids").list()
	for i, row := range r.sc.at("data", "data").list() {
		it := item{id: ids[i].text(), deleted: row.at("deleted").v == true, fields: map[string]string{}, cut: map[string]bool{}}
		payload, _ := row.at("data").v.(map[string]any)
		for name := range payload {
			it.fields[name] = row.at("data", name).text()
			it.cut[name] = row.at("truncated_fields", name).v != nil
		}
		it.title = it.fields[r.title()]
		it.more = more[it.id]
		out = append(out, it)
	}
	return out
}

// title returns the field with the titles, by the roles in the result.
func (r structReader) title() string {
	streams, _ := r.sc.at("data", "meta", "presentation").v.(map[string]any)
	for name := range streams {
		for _, f := range r.sc.at("data", "meta", "presentation", name, "roles", "primary-title").list() {
			return f.text()
		}
	}
	return ""
}

// structHit returns a result with the data of its hit. tool reads the rest.
func structHit(result, hit node, tool string) item {
	it := item{id: result.at("id").text(), title: result.at("title").text(), fields: map[string]string{}, cut: map[string]bool{}}
	for name := range hit.at("fields").object() {
		it.fields[name] = hit.at("fields", name).text()
	}
	snippet := hit.at("snippet")
	it.fields[snippet.at("field").text()] = snippet.at("text").text()
	for _, read := range result.at("reads").list() {
		it.cut[read.at("field_path").text()] = true
		if it.more == nil {
			it.more = &step{tool, args(read.object()).with("id", it.id).with("connection_id", result.at("connection_id").v)}
		}
	}
	return it
}

func (r structReader) cursor() string { return r.sc.at("data", "next_cursor").text() }
func (r structReader) nextPage(a args) (next args, repeated bool) {
	if r.cursor() == "" {
		return nil, false
	}
	return a.with("cursor", r.cursor()), false
}

func (r structReader) bookmark() string { return r.sc.at("data", "next_changes_since").text() }
func (r structReader) total() string    { return r.sc.at("data", "meta", "count", "value").text() }

func (r structReader) next() *step {
	if s := r.sc.at("error", "next").step(); s != nil {
		return s
	}
	return r.sc.at("next").step()
}

func (r structReader) window() window {
	w := r.sc.at("window")
	out := window{text: w.at("text").text(), start: w.at("start_chars").int(), end: w.at("end_chars").int(), total: w.at("total_chars").int()}
	if c := w.at("next_cursor").text(); c != "" {
		out.next = &step{"read_record_field", args{
			"id": r.sc.at("record", "id").v, "field_path": r.sc.at("field", "path").v, "cursor": c, "limit_chars": w.at("limit_chars").v,
		}}
	}
	return out
}

func (r structReader) value() string { return r.sc.at("data", "value").text() }

func (r structReader) groups() (out []group) {
	for _, g := range r.sc.at("data", "groups").list() {
		v := g.at("value")
		if v.v == nil {
			v = g.at("count")
		}
		out = append(out, group{g.at("key").text(), v.text()})
	}
	return out
}

func (r structReader) document() document {
	d := document{
		id: r.sc.at("id").text(), title: r.sc.at("title").text(), text: r.sc.at("text").text(),
		binary: map[string]map[string]any{}, whole: text(r.sc.v),
	}
	for _, b := range r.sc.at("metadata", "binary").list() {
		d.binary[b.at("field_path").text()], _ = b.v.(map[string]any)
	}
	for _, f := range r.sc.at("metadata", "content_ladder", "fields").list() {
		if d.more == nil {
			d.more = f.at("read").step()
		}
	}
	return d
}

package rs_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"pgregory.net/rapid"
)

// call is a random read, with what the model needs to know about it.
type call struct {
	method, target string
	headers        []string

	stream    string // of a record list, else ""
	words     string // of a search, else ""
	aggregate string // the stream of an aggregate, else ""
	filters   map[string]string
	plain     bool // the model covers all its parameters
}

func drawCall(t *rapid.T, u *universe, cursors []string) call {
	c := call{method: "GET", headers: []string{fixedID}, filters: map[string]string{}, plain: true}
	if rare(t, 4, "HEAD") {
		c.method = "HEAD"
	}
	var names []string
	for _, s := range u.streams {
		names = append(names, s.name)
	}
	names = append(names, "strm_none")
	name := rapid.SampledFrom(names).Draw(t, "stream")
	q := url.Values{}
	u.drawSelectors(t, &c, q)
	switch rapid.IntRange(0, 14).Draw(t, "route") {
	case 12, 13, 14:
		c.target, c.aggregate = "/v1/streams/"+name+"/aggregate", name
		u.drawAggregate(t, &c, name, q)
	case 10, 11:
		c.target = "/v1/search"
		u.drawSearch(t, &c, name, q, cursors)
	case 9:
		c.target = rapid.SampledFrom([]string{"/v1/streams", "/v1/connectors"}).Draw(t, "list")
	case 8:
		c.target = "/v1/streams/" + name
	case 7:
		c.target = "/v1/schema"
		u.drawSchema(t, name, q)
	case 5, 6:
		r := rapid.SampledFrom(append(u.records, &modelRecord{id: "none"})).Draw(t, "record")
		if r.stream != nil {
			name = r.stream.name
		}
		c.target = "/v1/streams/" + name + "/records/" + r.id
		if rapid.Bool().Draw(t, "window") {
			c.target += "/field-window"
			u.drawWindow(t, name, q)
			break
		}
		u.drawShape(t, &c, name, q)
	default:
		c.target, c.stream = "/v1/streams/"+name+"/records", name
		u.drawShape(t, &c, name, q)
		u.drawList(t, &c, name, q, cursors)
	}
	if rare(t, 4, "unknown parameter") {
		q.Set("nope", "1")
	}
	if len(q) > 0 {
		c.target += "?" + q.Encode()
	}
	return c
}

func (u *universe) drawSelectors(t *rapid.T, c *call, q url.Values) {
	if rare(t, 2, "select connection") {
		q.Set("connection_id", rapid.SampledFrom(append(slices.Clone(u.mine), theirConn, "cin_none")).Draw(t, "connection"))
		c.plain = false
	}
	if rare(t, 3, "select connector") {
		q.Set("connector_id", rapid.SampledFrom([]string{"src", "none"}).Draw(t, "connector"))
	}
}

func (u *universe) drawSchema(t *rapid.T, name string, q url.Values) {
	switch rapid.IntRange(0, 4).Draw(t, "schema") {
	case 0:
		q.Set("view", "compact")
	case 1:
		q.Set("view", "compact")
		q.Set("stream", name)
	case 2:
		q.Set("stream", name)
		q.Set("detail", "full")
	case 3:
		q.Set("stream", name)
	}
}

// drawWindow draws a field window of a granted or ungranted field.
func (u *universe) drawWindow(t *rapid.T, name string, q url.Values) {
	q.Set("field", rapid.SampledFrom(append(allFields(u.stream(name)), "undeclared")).Draw(t, "field"))
	if rapid.Bool().Draw(t, "json") {
		q.Set("as", "json")
	}
	if rare(t, 3, "window search") {
		q.Set("q", rapid.SampledFrom([]string{"a", "1", "none at all"}).Draw(t, "text"))
	}
}

// drawShape draws the parameters that lists and details have in common.
func (u *universe) drawShape(t *rapid.T, c *call, name string, q url.Values) {
	s := u.stream(name)
	switch {
	case rare(t, 3, "fields"):
		q["fields"] = rapid.SliceOfNDistinct(rapid.SampledFrom(append(allFields(s), "undeclared")), 1, 3, rapid.ID).Draw(t, "fields")
	case rare(t, 3, "view"):
		q.Set("view", s.viewID())
	}
	if s.child != nil && rapid.Bool().Draw(t, "expand") {
		q.Set("expand", s.child.relation())
	} else if rare(t, 4, "expand something") {
		q.Set("expand", rapid.SampledFrom(u.streams).Draw(t, "relation").relation())
	}
	if rare(t, 3, "preview") {
		c.headers = append(c.headers, "Prefer: pdpp-field-preview=64, pdpp-page-bytes=4096")
		c.plain = false
	}
}

func (u *universe) drawList(t *rapid.T, c *call, name string, q url.Values, cursors []string) {
	s := u.stream(name)
	if rapid.Bool().Draw(t, "limit") {
		q.Set("limit", fmt.Sprint(rapid.IntRange(1, 4).Draw(t, "n")))
	}
	if rapid.Bool().Draw(t, "count") {
		q.Set("count", "exact")
	}
	switch {
	case rare(t, 2, "ascending"):
		q.Set("order", "asc")
	case rare(t, 3, "sort"):
		q.Set("sort", rapid.SampledFrom(allFields(s)).Draw(t, "sort"))
	}
	u.drawFilters(t, c, s, q)
	if rare(t, 2, "changes") {
		for _, name := range []string{"order", "sort", "count", "expand"} {
			if !rare(t, 4, "together") {
				q.Del(name)
			}
		}
		q.Set("changes_since", rapid.SampledFrom(append([]string{"beginning"}, cursors...)).Draw(t, "since"))
		c.plain = false
	}
	if len(cursors) > 0 && rare(t, 2, "cursor") {
		q.Set("cursor", rapid.SampledFrom(cursors).Draw(t, "which"))
		c.plain = false
	}
}

func (u *universe) stream(name string) *modelStream {
	for _, s := range u.streams {
		if s.name == name {
			return s
		}
	}
	return &modelStream{name: name, fields: []modelField{{"id", "string"}}}
}

// drawOperand draws the value of a record, visible or not.
func (u *universe) drawOperand(t *rapid.T, s *modelStream, f modelField) string {
	operands := []string{"none"}
	for _, r := range u.records {
		raw := r.values[f.name]
		if r.stream != s || len(raw) > 100 {
			continue
		}
		if text := ""; json.Unmarshal([]byte(raw), &text) == nil && raw != "null" {
			operands = append(operands, text)
		} else if f.kind == "integer" && raw != "" && raw[0] == '7' {
			operands = append(operands, raw)
		}
	}
	return rapid.SampledFrom(operands).Draw(t, "operand")
}

package rsclient

import (
	"iter"
	"net/url"
	"slices"
	"strings"

	"pdpp"
)

// Query builds a query string: parameters in the order they were added, names and values
// percent-encoded (MS-31, MS-32). The zero value is empty.
type Query struct{ text []byte }

// Set adds name=value; nothing when the value is empty.
func (q *Query) Set(name, value string) {
	if value != "" {
		q.add(name, value)
	}
}

func (q *Query) add(name, value string) {
	if len(q.text) > 0 {
		q.text = append(q.text, '&')
	}
	q.text = append(append(q.text, url.QueryEscape(name)...), '=')
	q.text = append(q.text, url.QueryEscape(value)...)
}

// parts returns the encoded parameters.
func (q Query) parts() iter.Seq[string] {
	if len(q.text) == 0 {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(string(q.text), "&")
}

// Each adds name=value for every value.
func (q *Query) Each(name string, values []string) {
	for _, v := range values {
		q.Set(name, v)
	}
}

// Member adds name[key]=value.
func (q *Query) Member(name, key, value string) { q.add(name+"["+key+"]", value) }

// Filter adds a condition. An empty value is sent: filter[a]= compares with the empty
// string.
func (q *Query) Filter(field string, op pdpp.Op, value string) { q.add(op.Param(field), value) }

// All returns the values of a parameter, in order.
func (q Query) All(name string) []string {
	var values []string
	for part := range q.parts() {
		if raw, ok := strings.CutPrefix(part, url.QueryEscape(name)+"="); ok {
			value, _ := url.QueryUnescape(raw) // it was escaped here
			values = append(values, value)
		}
	}
	return values
}

// Get returns the first value of a parameter; "" if it is missing.
func (q Query) Get(name string) string {
	if all := q.All(name); len(all) > 0 {
		return all[0]
	}
	return ""
}

// Without returns a copy of the query without some parameters.
func (q Query) Without(names ...string) Query {
	var kept []string
	for part := range q.parts() {
		name, _, _ := strings.Cut(part, "=")
		if !slices.ContainsFunc(names, func(n string) bool { return url.QueryEscape(n) == name }) {
			kept = append(kept, part)
		}
	}
	return Query{[]byte(strings.Join(kept, "&"))}
}

// String returns the query string, without a question mark.
func (q Query) String() string { return string(q.text) }

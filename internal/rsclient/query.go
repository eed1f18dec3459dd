package rsclient

import (
	"net/url"
	"strings"
)

// Query is a query string in the making: parameters in the order they were added,
// names and values percent-encoded (MS-31, MS-32). The zero value is empty.
type Query struct{ parts []string }

// Set adds name=value; nothing when the value is empty.
func (q *Query) Set(name, value string) {
	if value != "" {
		q.parts = append(q.parts, url.QueryEscape(name)+"="+url.QueryEscape(value))
	}
}

// Each adds name=value for every value.
func (q *Query) Each(name string, values []string) {
	for _, v := range values {
		q.Set(name, v)
	}
}

// Member adds name[key]=value, or name[key][sub]=value. An empty value is sent:
// filter[a]= compares with the empty string.
func (q *Query) Member(name, key, sub, value string) {
	n := name + "[" + key + "]"
	if sub != "" {
		n += "[" + sub + "]"
	}
	q.parts = append(q.parts, url.QueryEscape(n)+"="+url.QueryEscape(value))
}

// String is the query string, without a question mark.
func (q Query) String() string { return strings.Join(q.parts, "&") }

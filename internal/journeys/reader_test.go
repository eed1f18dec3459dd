package journeys

import (
	"encoding/json"
	"maps"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// args are the arguments of a call.
type args map[string]any

// with returns the arguments with one more.
func (a args) with(name string, value any) args {
	a = maps.Clone(a)
	a[name] = value
	return a
}

// step is a call that a result offers.
type step struct {
	tool string
	args args
}

// result is what a reader finds in its half of a tool result. A missing value is the zero
// value.
type result interface {
	code() string // of an error; "": success
	errorDetail() (param, message string)
	streams() []string // of an index
	flags() map[string]string
	choices() []choice // connections to choose from
	items() []item     // records or hits
	cursor() string
	// nextPage returns the arguments of the next page, given those of this one; nil at the
	// end. repeated reports that the next page begins with this one again, because not all
	// of it was shown.
	nextPage(a args) (next args, repeated bool)
	bookmark() string
	total() string // of a count
	next() *step   // offered for the whole result
	window() window
	value() string // of an aggregate without groups
	groups() []group
	document() document
}

// choice is a connection with its label.
type choice struct{ id, label string }

// item is a record of a list, or a hit.
type item struct {
	id, title string
	deleted   bool
	fields    map[string]string // as text; numbers as digits
	cut       map[string]bool
	more      *step
}

// window is a part of a text.
type window struct {
	text       string
	start, end int
	total      int
	next       *step
}

// group is one group of an aggregate.
type group struct{ key, value string }

// document is one record.
type document struct {
	id, title, text string
	binary          map[string]map[string]any // facts, by field
	more            *step
	whole           string // all of it, to search for values
}

// walker calls tools and passes one half of each result to its reader.
type walker struct {
	*testing.T
	w        *world
	half     func(*testing.T, *sdk.CallToolResult) result
	sessions map[string]*sdk.ClientSession
	calls    int
}

// on calls a tool under the grant of a connector.
func (w *walker) call(connector, tool string, a args) result {
	w.Helper()
	w.calls++
	raw, err := json.Marshal(a)
	if err != nil {
		w.Fatal(err)
	}
	res, err := w.sessions[connector].CallTool(w.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(raw)})
	if err != nil {
		w.Fatalf("%s %s: %v", tool, raw, err)
	}
	got := w.half(w.T, res)
	if failed := got.code() != ""; failed != res.IsError {
		w.Fatalf("%s %s: isError=%t, but the reader sees the code %q", tool, raw, res.IsError, got.code())
	}
	return got
}

// follow makes an offered call.
func (w *walker) follow(connector string, s *step) result {
	w.Helper()
	if s == nil {
		w.Fatal("the reader sees no offered call")
	}
	return w.call(connector, s.tool, s.args)
}

// do makes a call that must succeed.
func (w *walker) do(connector, tool string, a args) result {
	w.Helper()
	got := w.call(connector, tool, a)
	if got.code() != "" {
		w.Fatalf("%s %v: %s", tool, a, got.code())
	}
	return got
}

// pages reads a list to its end.
func (w *walker) pages(connector, tool string, a args) (all []item, last result) {
	w.Helper()
	for range 200 {
		page := w.do(connector, tool, a)
		next, repeated := page.nextPage(a)
		if !repeated {
			all = append(all, page.items()...)
		}
		if next == nil {
			return all, page
		}
		a = next
	}
	w.Fatal("the list does not end")
	return nil, nil
}

// want compares a value with the expected one.
func (w *walker) want(what, got, want string) {
	w.Helper()
	if got != want {
		w.Errorf("%s = %.200q, want %.200q", what, got, want)
	}
}

// text returns a value as text.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

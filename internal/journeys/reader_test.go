package journeys

import (
	"encoding/json"
	"maps"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// args are the arguments of a call.
type args map[string]any

// with gives the arguments with one more.
func (a args) with(name string, value any) args {
	a = maps.Clone(a)
	a[name] = value
	return a
}

// step is a call that an answer offers.
type step struct {
	tool string
	args args
}

// seen is what a reader makes of its half of a result. What the half does not say is
// the zero value.
type seen interface {
	code() string // of an error; "" for a success
	refusal() (param, message string)
	streams() []string // of an index
	flags() map[string]string
	choices() []choice // connections to choose from
	items() []item     // records or hits
	cursor() string
	// onward are the arguments of the next page, given those of this one; nil at the
	// end. again reports that it repeats what is seen here, because not all is.
	onward(a args) (next args, again bool)
	bookmark() string
	total() string // of a count
	next() *step   // the way on of the whole answer
	window() window
	value() string // of an aggregate without groups
	groups() []group
	document() document
}

// choice is a connection under its name.
type choice struct{ id, label string }

// item is a record of a list, or a hit.
type item struct {
	id, title string
	deleted   bool
	fields    map[string]string // what is shown of them, as text; numbers as digits
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

// document is one record. Binary facts are by field.
type document struct {
	id, title, text string
	binary          map[string]map[string]any
	more            *step
	whole           string // the rest of what it says, to look for values in
}

// walker calls tools and gives its reader one half of what comes back.
type walker struct {
	*testing.T
	w        *world
	half     func(*testing.T, *sdk.CallToolResult) seen
	sessions map[string]*sdk.ClientSession
	calls    int
}

// on calls a tool under the grant of a connector.
func (w *walker) on(connector, tool string, a args) seen {
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

// follow does what an answer offers.
func (w *walker) follow(connector string, s *step) seen {
	w.Helper()
	if s == nil {
		w.Fatal("the reader sees no way on")
	}
	return w.on(connector, s.tool, s.args)
}

// good is on for a call that must succeed.
func (w *walker) good(connector, tool string, a args) seen {
	w.Helper()
	got := w.on(connector, tool, a)
	if got.code() != "" {
		w.Fatalf("%s %v: %s", tool, a, got.code())
	}
	return got
}

// pages reads a list to its end.
func (w *walker) pages(connector, tool string, a args) (all []item, last seen) {
	w.Helper()
	for range 200 {
		page := w.good(connector, tool, a)
		next, again := page.onward(a)
		if !again {
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

// want compares an answer with what is known to be true.
func (w *walker) want(what, got, want string) {
	w.Helper()
	if got != want {
		w.Errorf("%s = %.200q, want %.200q", what, got, want)
	}
}

// text is a value as a reader notes it down.
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

package setup

import (
	"bytes"
	"encoding/json"
	"strings"
)

// putInto returns the step that adds a server to a settings file.
func putInto(path string) string {
	return "Put this into " + path + ", next to what it already contains, and restart the program:"
}

// entry is a server in a settings file: a program to start, or a URL.
type entry struct {
	Name    string   `json:"name,omitempty"`
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	URL     string   `json:"url,omitempty"`
}

func hostedEntry(at Place) entry  { return entry{URL: at.endpoint()} }
func adapterEntry(at Place) entry { return entry{Command: at.program(), Args: at.arguments()} }

// inSection returns the text of a settings file with one server.
func inSection(section string, e entry) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(compact(map[string]map[string]entry{section: {serverName: e}})), "", "  "); err != nil {
		panic(err) // compact returns valid JSON
	}
	return b.String() + "\n"
}

// compact returns the JSON of strings and lists of strings on one line.
func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // cannot happen for these types
	}
	return strings.TrimSpace(b.String())
}

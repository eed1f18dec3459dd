package rsclient

import "pdpp/internal/rawjson"

// Window is a piece of a field (FW-3). Positions are characters; -1: not known.
type Window struct {
	Identity
	Source
	Field struct {
		Path, Type string
		AsJSON     bool
	}
	Raw      []byte // the member window, as received
	Text     string
	Start    int
	End      int
	Total    int
	Limit    int
	Next     int // where the next window starts
	Previous int
	// Where the text that was looked for stands.
	MatchStart, MatchEnd int
	Complete             bool
	HasMore              bool
}

// WindowOf reads a field-window answer; false when it is none. What it does not say
// of itself is as it was asked for (IO-13).
func WindowOf(body []byte, asked Identity, field string) (Window, bool) {
	raw := object(body, "window")
	content, ok := rawjson.String(get(raw, "text"))
	w := Window{
		Identity: Identity{ConnectionOf(body), text(body, "stream"), firstID(body, windowRecord)}.or(asked),
		Source:   sourceOf(body), Raw: raw, Text: content,
		Start: number(raw, "start_chars"), End: number(raw, "end_chars"), Total: number(raw, "total_chars"), Limit: number(raw, "limit_chars"),
		Next: number(raw, "next_offset_chars"), Previous: number(raw, "previous_offset_chars"),
		MatchStart: number(raw, "match_start_chars"), MatchEnd: number(raw, "match_end_chars"),
		Complete: isTrue(raw, "complete"), HasMore: isTrue(raw, "has_more"),
	}
	f := object(body, "field")
	w.Field.Path, w.Field.Type, w.Field.AsJSON = text(f, "path"), text(f, "type"), text(f, "as") == "json"
	if w.Field.Path == "" {
		w.Field.Path = field
	}
	return w, ok && w.Start >= 0 && w.End >= w.Start
}

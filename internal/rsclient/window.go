package rsclient

import "pdpp/internal/rawjson"

// Window is a piece of a field (FW-3). Positions are characters; -1 if not known.
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
	// Positions of the match of q.
	MatchStart, MatchEnd int
	NextMatch            int // where the next match starts
	Complete             bool
	HasMore              bool
}

// WindowOf reads a field-window answer; false for any other body. Missing members are
// taken from the request (IO-13).
func WindowOf(body []byte, asked Identity, field string) (Window, bool) {
	var whole, piece memberBuffer
	o := index(&whole, body)
	raw := o.object("window")
	p := index(&piece, raw)
	content, ok := rawjson.String(p.get("text"))
	w := Window{
		Identity: Identity{o.firstID(connectionNames), o.text("stream"), o.firstID(windowRecord)}.or(asked),
		Source:   o.source(), Raw: raw, Text: content,
		Start: p.number("start_chars"), End: p.number("end_chars"), Total: p.number("total_chars"), Limit: p.number("limit_chars"),
		Next: p.number("next_offset_chars"), Previous: p.number("previous_offset_chars"),
		MatchStart: p.number("match_start_chars"), MatchEnd: p.number("match_end_chars"),
		NextMatch: p.number("next_match_start_chars"),
		Complete:  p.isTrue("complete"), HasMore: p.isTrue("has_more"),
	}
	f := o.object("field")
	w.Field.Path, w.Field.Type, w.Field.AsJSON = text(f, "path"), text(f, "type"), text(f, "as") == "json"
	if w.Field.Path == "" {
		w.Field.Path = field
	}
	return w, ok && w.Start >= 0 && w.End >= w.Start
}

package evidence

import (
	"strings"

	"pdpp"
)

// Source is the origin of a title or an event time.
type Source string

// The sources (EX-3, EX-4).
const (
	SourceRole     Source = "role"     // a field with the declared role
	SourceStream   Source = "stream"   // the declared time field of the stream
	SourceName     Source = "name"     // a field with a documented name
	SourceFallback Source = "fallback" // composed from the envelope
	SourceEnvelope Source = "envelope" // emitted_at
)

// maxTitle is the largest length of a title in characters (EX-3).
const maxTitle = 120

// Title is the title of a record.
type Title struct {
	Text      string // one clean line; ends with … when truncated
	Source    Source
	Field     string // "" for a fallback
	Truncated bool
}

// TitleOf returns the title of a record (EX-3, D7). It never guesses, and never uses a
// text that a search found. Only a record without any identity has no title.
func TitleOf(r *Record) Title { return TitleAt(r, EventTimeOf(r)) }

// TitleAt is like TitleOf, for callers that have the result of EventTimeOf.
func TitleAt(r *Record, at EventTime) Title {
	for _, field := range r.presentation().Roles[pdpp.RolePrimaryTitle] {
		if t, ok := r.text(field); ok {
			if title, ok := r.fieldTitle(t, SourceRole, field); ok {
				return title
			}
		}
	}
	if t, ok := r.named("title"); ok {
		if title, ok := r.fieldTitle(t, SourceName, "title"); ok {
			return title
		}
	}
	title := line(strings.Join(nonBlank(r.label(), r.Stream, at.inTitle()), " / "), false)
	title.Source = SourceFallback
	return title
}

func (r *Record) fieldTitle(t text, source Source, field string) (Title, bool) {
	s, more := r.head(t)
	title := line(s, more)
	title.Source, title.Field = source, field
	return title, title.Text != ""
}

// line returns s as one line. more says that the text is longer than s.
func line(s string, more bool) Title {
	head, cut := collapse(s, maxTitle)
	cut = cut || more
	if cut && head != "" {
		head += ellipsis
	}
	return Title{Text: head, Truncated: cut}
}

// label returns the name of the source of a record. The connection id is the last
// choice (MS-61).
func (r *Record) label() string {
	known := nonBlank(r.DisplayName, r.ConnectorDisplayName, string(r.ConnectorKey), string(r.ConnectionID))
	if len(known) == 0 {
		return ""
	}
	return known[0]
}

// nonBlank returns the parts with visible characters.
func nonBlank(parts ...string) []string {
	var kept []string
	for _, p := range parts {
		if s, _ := collapse(p, 1); s != "" {
			kept = append(kept, p)
		}
	}
	return kept
}

// timeNames are the documented names of times, best first (D7, EX-4): actions of people
// come before those of systems.
var timeNames = []string{"sent_at", "authored_at", "created_at", "occurred_at", "updated_at"}

// EventTime is the time at which a record happened.
type EventTime struct {
	Value  string // as stored; "" when unknown
	Source Source
	Field  string // "" for emitted_at
}

// IsAuthored reports whether the time is of the record itself and not of its arrival. A
// hit then shows it as authored_at.
func (t EventTime) IsAuthored() bool { return t.Value != "" && t.Source != SourceEnvelope }

// inTitle returns the time for a title. It marks the time of arrival as such, because the
// record did not happen then.
func (t EventTime) inTitle() string {
	if t.Source == SourceEnvelope && t.Value != "" {
		return "received " + t.Value
	}
	return t.Value
}

// EventTimeOf returns the time of a record (EX-4).
func EventTimeOf(r *Record) EventTime {
	p := r.presentation()
	for _, field := range p.Roles[pdpp.RoleEventTime] {
		if v := r.timeIn(r.text(field)); v != "" {
			return EventTime{v, SourceRole, field}
		}
	}
	for _, field := range p.TimeFields {
		if v := r.timeIn(r.text(field)); v != "" {
			return EventTime{v, SourceStream, field}
		}
	}
	for _, name := range timeNames {
		if v := r.timeIn(r.named(name)); v != "" {
			return EventTime{v, SourceName, name}
		}
	}
	emitted := r.EmittedAt
	if r.EmittedText != "" {
		emitted, _ = pdpp.ParseTime(r.EmittedText)
	}
	if emitted.IsZero() {
		return EventTime{}
	}
	return EventTime{Value: pdpp.FormatTime(emitted), Source: SourceEnvelope}
}

// timeIn returns a text that is a time (C-34) unchanged, else "". A number is not a time,
// because its unit is not declared.
func (r *Record) timeIn(t text, ok bool) string {
	if !ok {
		return ""
	}
	s, more := r.head(t)
	if _, isTime := pdpp.ParseTime(s); !isTime || more {
		return ""
	}
	return s
}

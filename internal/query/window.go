package query

import (
	"strings"
	"unicode/utf8"

	"pdpp"
)

// maxWindowSearch is the length of the longest q (FW-1).
const maxWindowSearch = 256

// Window is the requested part of a field: by offset, or around the first match of a
// text.
type Window struct {
	Field  string
	JSON   bool // as=json: the window is cut from the field's JSON text
	Offset int
	Limit  Limit // in characters

	Query  string // "" without a search
	Before int    // characters before the match
}

// WindowParams are the parameters of a field window besides the selectors.
var WindowParams = []string{"field", "offset_chars", "limit_chars", "q", "before_chars", "after_chars", "as"}

// Window reads the parameters of a field window (FW-1, FW-2, FW-8).
func (p *Params) Window() (w Window, err error) {
	if w.Field, err = p.windowField(); err != nil {
		return w, err
	}
	as, err := p.OneOf("as", "text", "json")
	if err != nil {
		return w, badWindow("as", "as is text or json.")
	}
	w.JSON = as == "json"
	if w.Query, err = p.windowQuery(); err != nil {
		return w, err
	}
	if w.Offset, _, err = p.windowInt("offset_chars", 0, 1<<40, 0); err != nil {
		return w, err
	}
	before, hasBefore, err := p.windowInt("before_chars", 0, pdpp.MaxContext, 0)
	if err != nil {
		return w, err
	}
	after, hasAfter, err := p.windowInt("after_chars", 0, pdpp.MaxContext, 0)
	if err != nil {
		return w, err
	}
	limit, hasLimit, err := p.windowInt("limit_chars", 1, 1<<62, pdpp.DefaultWindow)
	switch {
	case err != nil:
		return w, err
	case w.Query == "" && (hasBefore || hasAfter):
		return w, badWindow("q", "before_chars and after_chars require q.")
	}
	w.Before = before
	if !hasLimit && (hasBefore || hasAfter) {
		limit = before + utf8.RuneCountInString(w.Query) + after
	}
	w.Limit = Limit{N: min(limit, pdpp.MaxWindow)}
	if hasLimit && limit > pdpp.MaxWindow {
		w.Limit.Requested = limit
	}
	return w, nil
}

func (p *Params) windowField() (string, error) {
	field, err := p.One("field")
	if err != nil || field == "" || strings.IndexByte(field, 0) >= 0 {
		return "", &pdpp.Error{
			Code: pdpp.CodeInvalidFieldPath, Param: "field",
			Message: "field names one top-level property of the record.",
		}
	}
	return field, nil
}

func (p *Params) windowQuery() (string, error) {
	q, err := p.One("q")
	if err != nil || utf8.RuneCountInString(q) > maxWindowSearch {
		return "", badWindow("q", "q has 1 to 256 characters.")
	}
	return q, nil
}

func (p *Params) windowInt(name string, lo, hi, fallback int) (n int, given bool, err error) {
	v, err := p.One(name)
	if err == nil && v == "" {
		return fallback, false, nil
	}
	if err == nil {
		n, err = integer(v)
	}
	if err != nil || n < lo || n > hi {
		return 0, true, badWindow(name, name+" is not an integer in its range.")
	}
	return n, true, nil
}

func badWindow(param, message string) error {
	return &pdpp.Error{Code: pdpp.CodeInvalidWindow, Param: param, Message: message}
}

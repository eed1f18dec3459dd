package pages

import (
	"html/template"
	"slices"
	"strings"

	"pdpp/internal/consent"
)

// narrowing is the part of the consent form in which the owner limits a stream to fields and
// dates. It fills the template "narrowing", which has numberMark in place of the number of
// the stream.
type narrowing struct {
	narrowingFacts
	Fields []consentField
}

// narrowingFacts is what two streams must have in common to share a rendered narrowing, besides
// their fields.
type narrowingFacts struct {
	Name                      string
	SelectFields, Timed, Open bool
	Since, Until, Min, Max    string
	SinceFault, UntilFault    *consent.Fault
}

// numberMark is the number of a stream in the template "narrowing". Values that a template
// is filled with cannot contain it, because < is escaped in them.
const numberMark = "<n>"

// narrowings renders the narrowing of streams. The accounts of a connector have the same
// streams, so that each is rendered once for all accounts: an owner may have a thousand.
type narrowings map[narrowingFacts]renderedNarrowing

type renderedNarrowing struct {
	fields []consentField
	html   string
}

// render returns the narrowing of the stream with number n.
func (r narrowings) render(n int, w *narrowing) (template.HTML, error) {
	known, ok := r[w.narrowingFacts]
	if !ok || !slices.Equal(known.fields, w.Fields) {
		var b strings.Builder
		if err := templates["consent"].ExecuteTemplate(&b, "narrowing", w); err != nil {
			return "", err
		}
		known = renderedNarrowing{w.Fields, b.String()}
		r[w.narrowingFacts] = known
	}
	return template.HTML(strings.ReplaceAll(known.html, numberMark, itoa(n))), nil
}

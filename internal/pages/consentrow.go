package pages

import (
	"html/template"
	"slices"
	"strings"

	"pdpp/internal/consent"
)

// consentRow is a stream on the consent page: its checkbox, and the fields and dates to which the
// owner can limit it. It fills the template "stream", which has marks in place of what
// differs between the accounts of a connector.
type consentRow struct {
	rowFacts
	Fields []consentField
}

// rowFacts is what two rows must have in common to be rendered once, besides their fields.
type rowFacts struct {
	Name, Necessity                   string
	SelectFields, Timed, Ticked, Open bool
	Since, Until, Min, Max            string
	Fault, SinceFault, UntilFault     *consent.Fault
}

// The marks of the template "stream". Values that a template is filled with cannot contain
// them, because < is escaped in them.
const (
	numberMark = "<n>"
	aboutMark  = "<about>"
)

// consentRows renders rows. The accounts of a connector have the same streams, so that each is
// rendered once for all of them: an owner may be offered thousands.
type consentRows map[rowFacts]renderedRow

type renderedRow struct {
	fields []consentField
	html   string
}

// render returns the row of the stream with number n.
func (r consentRows) render(n int, about string, row *consentRow) (template.HTML, error) {
	known, ok := r[row.rowFacts]
	if !ok || !slices.Equal(known.fields, row.Fields) {
		var b strings.Builder
		if err := templates["consent"].ExecuteTemplate(&b, "stream", row); err != nil {
			return "", err
		}
		known = renderedRow{row.Fields, b.String()}
		r[row.rowFacts] = known
	}
	html := strings.Replace(known.html, aboutMark, template.HTMLEscapeString(about), 1)
	return template.HTML(strings.ReplaceAll(html, numberMark, itoa(n))), nil
}

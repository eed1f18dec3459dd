package manifest

import (
	"fmt"
	"strings"

	"pdpp"
)

// maxProblems is how many problems one error spells out.
const maxProblems = 20

// problems collects what is wrong, in the order it was found.
type problems struct {
	lines []string
	total int
	place *path  // of the first
	why   string // and what is wrong there
}

// add records one problem: where, which rule, and what to change. The rule is ""
// for the form of the input itself, which no numbered rule covers.
func (p *problems) add(at *path, rule, format string, args ...any) {
	p.total++
	if p.total == 1 {
		p.place, p.why = at, fmt.Sprintf(format, args...)
	}
	if len(p.lines) == maxProblems {
		return
	}
	line := at.String() + ": " + fmt.Sprintf(format, args...)
	if rule != "" {
		line += " (" + rule + ")"
	}
	p.lines = append(p.lines, line)
}

// first is the first problem: where and what.
func (p *problems) first() (at *path, why string) { return p.place, p.why }

// err is nil when nothing was found.
func (p *problems) err() error {
	if p.total == 0 {
		return nil
	}
	msg := strings.Join(p.lines, "\n")
	if more := p.total - len(p.lines); more > 0 {
		msg += fmt.Sprintf("\nand %d more", more)
	}
	return &pdpp.Error{Code: pdpp.CodeInvalidInput, Message: msg}
}

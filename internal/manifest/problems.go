package manifest

import (
	"fmt"
	"strings"

	"pdpp"
)

// maxProblems is the number of problems that an error describes.
const maxProblems = 20

// problems collects problems in the order in which they are found.
type problems struct {
	lines []string
	total int
	place *path  // of the first problem
	why   string // description of the first problem
}

// add records one problem: its place, and what to change.
func (p *problems) add(at *path, format string, args ...any) {
	p.total++
	if p.total == 1 {
		p.place, p.why = at, fmt.Sprintf(format, args...)
	}
	if len(p.lines) == maxProblems {
		return
	}
	p.lines = append(p.lines, at.String()+": "+fmt.Sprintf(format, args...))
}

// first returns the place and description of the first problem.
func (p *problems) first() (at *path, why string) { return p.place, p.why }

// err returns an error that describes the problems, or nil when there are none.
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

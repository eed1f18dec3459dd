package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf16"

	"pdpp"
	"pdpp/internal/evidence"
)

// jsonText encodes a value as JSON, with a newline at the end.
func jsonText(v any, indent string) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(v)
	return b.String(), err
}

// printJSON writes the one object of a --json answer (H-8).
func (a *app) printJSON(v any) error {
	text, err := jsonText(v, "")
	if err != nil {
		return err
	}
	return a.print(escaped(text))
}

// printRows writes a list as a --json answer: an object whose one member has a row for
// each item, and is [] without items.
func printRows[T, R any](a *app, name string, items []T, row func(T) R) error {
	rows := []R{}
	for _, item := range items {
		rows = append(rows, row(item))
	}
	return a.printJSON(map[string][]R{name: rows})
}

// print writes to standard output. A failed write is an error: the answer may have
// contained a token that is shown only once.
func (a *app) print(s string) error {
	if _, err := io.WriteString(a.Stdout, visible(s)); err != nil {
		return &pdpp.Error{Code: pdpp.CodeCannotCreate, Message: "The answer could not be written.", Err: err}
	}
	return nil
}

// note writes one line to standard error.
func (a *app) note(format string, args ...any) {
	fmt.Fprint(a.Stderr, visible(fmt.Sprintf(format+"\n", args...)))
}

// table aligns rows of cells. People write what is in the cells, so control characters in
// them must not reach the terminal.
func table(rows ...[]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = plain(cell)
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a Builder returns no errors
	return trimRight(b.String())
}

// trimRight removes the padding after empty last cells.
func trimRight(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.TrimRight(line, " \n"))
		b.WriteByte('\n')
	}
	return b.String()
}

// visible replaces invisible characters in what a command prints. Control characters stay:
// colours need them, and plain removes them from cells.
func visible(s string) string {
	return mapInvisible(s, func(rune) string { return "\ufffd" })
}

// escaped replaces invisible characters in JSON by escapes, which keep the value.
func escaped(s string) string {
	return mapInvisible(s, func(r rune) string {
		if r < 0x10000 {
			return fmt.Sprintf("\\u%04x", r)
		}
		high, low := utf16.EncodeRune(r)
		return fmt.Sprintf("\\u%04x\\u%04x", high, low)
	})
}

func mapInvisible(s string, to func(rune) string) string {
	var b strings.Builder
	for i, r := range s {
		if r >= 0x7f && evidence.IsRemovedAt(s, i, r) {
			b.WriteString(to(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plain replaces invisible characters and control characters, which a terminal would obey.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return '\ufffd'
		}
		return r
	}, visible(s))
}

// orNull returns a text value of an answer; null when it is empty (H-17).
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// timeOrNull returns a time of an answer; null when it is zero.
func timeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := pdpp.FormatTime(t)
	return &s
}

// when formats a time for a text answer; never is the text for the zero time.
func when(t time.Time, never string) string {
	if t.IsZero() {
		return never
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// count formats a number with its noun.
func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// thousands formats a number in groups of three digits.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

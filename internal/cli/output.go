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

// printJSON writes the one object of a --json answer (H-8).
func (a *app) printJSON(v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	return a.print(escaped(b.String()))
}

// print writes to standard output. An answer that got lost is a failure: it may
// have held a token that is shown only once.
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

// table aligns rows of cells. Cells come from people, so that control characters
// in them must not reach the terminal.
func table(rows ...[]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = plain(cell)
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a Builder takes everything
	return trimRight(b.String())
}

// trimRight drops the padding behind empty last cells.
func trimRight(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.TrimRight(line, " \n"))
		b.WriteByte('\n')
	}
	return b.String()
}

// visible replaces characters that nobody could see in what a command prints, whoever
// wrote them. Controls stay: colors are made of them, and cells have none (plain).
func visible(s string) string {
	return mapInvisible(s, func(rune) string { return "\ufffd" })
}

// escaped is JSON in which such characters are escapes, so that it says the same.
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

// plain replaces characters that nobody could see, or that a terminal would obey.
func plain(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r < ' ' || evidence.IsRemovedAt(s, i, r) {
			r = '\ufffd'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// orNull is a text value of an answer; null when there is none (H-17).
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// timeOrNull is a time of an answer; null when there is none.
func timeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := pdpp.FormatTime(t)
	return &s
}

// when is a time in a text answer.
func when(t time.Time, never string) string {
	if t.IsZero() {
		return never
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// count is a number with its noun.
func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// thousands writes a number in groups of three digits.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

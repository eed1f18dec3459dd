package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// bar is a line of progress on a terminal (H-22). A nil bar shows nothing.
type bar struct {
	w     io.Writer
	width int
	now   func() time.Time
	start time.Time
	drawn time.Time
}

// step is the progress to show.
type step struct {
	name           string
	done, total    int64 // in any unit; total 0: unknown
	records, wrong int64
	noun           string // of what records counts; "": record
}

// newBar returns a bar, or nil if standard error cannot show one.
func (a *app) newBar() *bar {
	if !a.color {
		return nil
	}
	b := &bar{w: a.Stderr, width: 80, now: a.Now, start: a.Now()}
	if f, ok := a.Stderr.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			b.width = width
		}
	}
	return b
}

// redraw is the shortest time between two drawings of a bar.
const redraw = 100 * time.Millisecond

func (b *bar) show(s step) {
	if b == nil {
		return
	}
	now := b.now()
	if now.Sub(b.drawn) < redraw {
		return
	}
	b.drawn = now
	fmt.Fprintf(b.w, "\r%s\x1b[K", line(s, now.Sub(b.start), b.width-1))
}

// clear removes the bar from the screen.
func (b *bar) clear() {
	if b != nil && !b.drawn.IsZero() {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}

const barCells = 24

// line formats a bar in at most width characters.
func line(s step, took time.Duration, width int) string {
	var b strings.Builder
	b.WriteString(plain(s.name))
	if s.total > 0 {
		full := int(min(s.done, s.total) * barCells / s.total)
		fmt.Fprintf(&b, " [%s%s] %3d%%", strings.Repeat("#", full), strings.Repeat(".", barCells-full),
			min(s.done, s.total)*100/s.total)
	}
	noun := cmp.Or(s.noun, "record")
	fmt.Fprintf(&b, "  %s", count(s.records, noun, noun+"s"))
	if seconds := took.Seconds(); seconds >= 0.5 {
		fmt.Fprintf(&b, "  %s/s", thousands(int64(float64(s.records)/seconds)))
	}
	if s.wrong > 0 {
		fmt.Fprintf(&b, "  %s rejected", thousands(s.wrong))
	}
	return cut(b.String(), width)
}

func cut(s string, width int) string {
	if width < 1 || utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:width-1]) + "…"
}

package demo

import (
	"strconv"
	"strings"
)

// block is a hand-written text below a line "=== a | b | c".
type block struct {
	head []string
	body string
}

// corpus is all embedded text. Blocks with the same first heading keep their order.
type corpus struct {
	blocks map[string][]block
}

// The text files, in reading order.
var textFiles = []string{"people.txt", "flat.txt", "story.txt", "letters.txt", "banks.txt", "work.txt", "chat.txt", "notes.txt", "japan.txt"}

func readCorpus() *corpus {
	c := &corpus{blocks: make(map[string][]block)}
	for _, name := range textFiles {
		c.read(string(readFile(name)))
	}
	return c
}

func (c *corpus) read(text string) {
	for part := range strings.SplitSeq("\n"+text, "\n=== ") {
		head, body, _ := strings.Cut(part, "\n")
		if strings.TrimSpace(head) == "" {
			continue
		}
		fields := cells(head)
		c.blocks[fields[0]] = append(c.blocks[fields[0]], block{fields[1:], strings.Trim(body, "\n")})
	}
}

func (c *corpus) all(name string) []block {
	b := c.blocks[name]
	if len(b) == 0 {
		panic("demo: no text named " + name)
	}
	return b
}

// one returns the text of the only block with a name.
func (c *corpus) one(name string) string { return c.all(name)[0].body }

// paragraphs returns the items of a block that are separated by blank lines.
func (c *corpus) paragraphs(name string) []string {
	var out []string
	for _, b := range c.all(name) {
		out = append(out, strings.Split(b.body, "\n\n")...)
	}
	return out
}

// lines returns the items of a block with one item per line.
func (c *corpus) lines(name string) []string { return strings.Split(c.one(name), "\n") }

// table returns the lines of a block, split into cells.
func (c *corpus) table(name string) [][]string {
	var out [][]string
	for _, line := range c.lines(name) {
		out = append(out, cells(line))
	}
	return out
}

// cells splits a line at "|", but not inside the braces of a template.
func cells(line string) []string {
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '{':
			depth++
		case '}':
			depth--
		case '|':
			if depth == 0 {
				out = append(out, strings.TrimSpace(line[start:i]))
				start = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(line[start:]))
}

// number parses a cell. The texts are embedded, so an error is a typing mistake in them.
func number(cell string) int {
	n, err := strconv.Atoi(cell)
	if err != nil {
		panic("demo: " + err.Error())
	}
	return n
}

// tidy removes the blank lines that an empty alternative leaves.
func tidy(text string) string {
	for strings.Contains(text, "\n\n\n") {
		text = strings.ReplaceAll(text, "\n\n\n", "\n\n")
	}
	return strings.Trim(text, "\n")
}

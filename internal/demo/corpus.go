package demo

import "strings"

// block is a piece of hand-written text under a "=== a | b | c" line.
type block struct {
	head []string
	body string
}

// corpus is all embedded text. Blocks of one first heading keep their order.
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
		fields := strings.Split(head, "|")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
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

// one gives the text of a block that stands alone.
func (c *corpus) one(name string) string { return c.all(name)[0].body }

// paragraphs gives the items of a block that are separated by blank lines.
func (c *corpus) paragraphs(name string) []string {
	var out []string
	for _, b := range c.all(name) {
		out = append(out, strings.Split(b.body, "\n\n")...)
	}
	return out
}

// lines gives the items of a block with one per line.
func (c *corpus) lines(name string) []string { return strings.Split(c.one(name), "\n") }

// table gives lines split at "|", cells trimmed.
func (c *corpus) table(name string) [][]string {
	var out [][]string
	for _, line := range c.lines(name) {
		cells := strings.Split(line, "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		out = append(out, cells)
	}
	return out
}

package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// conversation is one thread of the phone.
type conversation struct {
	key, id, title, kind string
	start                time.Time
	dialogs              int               // number of generated dialogs, in addition to the written scenes
	senders              map[string]string // letter in the script to name
	names                []string
	messages             []message
}

type message struct {
	sender, text string
	at           time.Time
}

const me = "Mara Lindqvist"

// conversations returns all threads with their messages in time order.
func (w *world) conversations() []*conversation {
	var out []*conversation
	for _, b := range w.corpus.all("conv") {
		c := &conversation{
			key: b.head[0], id: b.head[1], title: b.head[2], kind: b.head[3], start: moment(b.head[4]),
			dialogs: number(b.head[5]), senders: map[string]string{"M": me}, names: []string{me},
		}
		for entry := range strings.SplitSeq(b.head[6], ",") {
			if letter, name, ok := strings.Cut(entry, "="); ok {
				c.senders[letter] = name
				c.names = append(c.names, name)
			}
		}
		w.talk(c)
		out = append(out, c)
	}
	return out
}

func (w *world) talk(c *conversation) {
	d := newDice("chat " + c.key)
	for _, b := range w.corpus.all("scene") {
		if b.head[0] == c.key {
			c.play(d, b.body, moment(b.head[1]))
		}
	}
	var scripts []string
	for _, b := range w.corpus.all("dialog") {
		if b.head[0] == c.key {
			scripts = append(scripts, b.body)
		}
	}
	last := lastDay
	if c.key == "crew" { // this thread ends with the move
		last = moment("2025-04-14")
	}
	next := newBag(d, scripts)
	span := int(last.Sub(c.start) / day)
	for range c.dialogs {
		at := d.at(c.start.AddDate(0, 0, d.between(1, span)), 6, 22)
		script := next.next(at)
		if at.After(moment("2025-05-01")) {
			script = afterMove.Replace(script)
		}
		c.play(d, script, at)
	}
	slices.SortStableFunc(c.messages, func(a, b message) int { return a.at.Compare(b.at) })
}

// play adds the messages of a script, one "X: text" per line, from a time on.
func (c *conversation) play(d *dice, script string, at time.Time) {
	for line := range strings.SplitSeq(script, "\n") {
		letter, text, _ := strings.Cut(line, ": ")
		sender, ok := c.senders[letter]
		if !ok {
			panic("demo: nobody called " + letter + " in " + c.key)
		}
		c.messages = append(c.messages, message{sender, adaptTo(d.expand(text, nil), at), at})
		at = at.Add(time.Duration(d.between(8, 420)) * time.Second)
	}
}

func (w *world) chat() []record {
	d := newDice("chat")
	var out []record
	for n, c := range w.conversations() {
		out = append(out, record{"conversations", quoted(c.id), c.data(), d.after(c.start.Add(5 * time.Hour))})
		for i, m := range c.messages {
			id := c.messageID(i, m)
			out = append(out, record{"messages", quoted(id), c.message(i, n, id, d), d.after(m.at)})
		}
	}
	return out
}

func (c *conversation) data() []byte {
	var o object
	o.str("id", c.id)
	o.str("title", c.title)
	o.str("kind", c.kind)
	o.list("participants", c.names)
	o.integer("message_count", int64(len(c.messages)))
	o.str("started_at", hamburg(c.start.Add(5*time.Hour)))
	if c.key == "crew" {
		o.boolean("archived", true)
	}
	return o.bytes()
}

// message returns one message. Special cases are at fixed positions, so that every kind of
// value that a phone may export occurs: null, absent, empty, unknown.
func (c *conversation) message(i, n int, id string, d *dice) []byte {
	m := c.messages[i]
	text := m.text
	var o object
	o.str("id", id)
	o.str("conversation_id", c.id)
	o.str("sender", m.sender)
	if (i+n)%113 == 112 {
		text = "" // a picture without words
	}
	o.str("text", text)
	o.str("sent_at", hamburg(m.at))
	o.boolean("outgoing", m.sender == me)
	if i%7 == 3 {
		o.raw("reaction", "null")
	} else if d.chance(12) {
		o.str("reaction", pick(d, []string{"❤️", "👍", "😂", "🥖", "🙏", "🎶", "😮"}))
	}
	if i%89 == 88 {
		o.raw("export_meta", `{"client":"phone","seq":`+fmt.Sprint(i)+`,"tags":["a/b","c\\d"]}`) // undeclared
	}
	return o.bytes()
}

// messageID returns ids like those of real exports: with slashes, colons, spaces, percent
// signs, quotes, dots, other scripts, or with the form of another value. All are legal
// record ids (REC-2).
func (c *conversation) messageID(i int, m message) string {
	if id := peculiar(c.key, i); id != "" {
		return id
	}
	switch c.key {
	case "jonas":
		return fmt.Sprintf("jonas/%s/%04d", isoDay(m.at), i)
	case "yuki":
		return fmt.Sprintf("雪:%s:%d", month(m.at), i)
	case "helene":
		return fmt.Sprintf("Hélène & moi, n° %d", i)
	case "alto":
		return fmt.Sprintf("alt 2 %d%%", i)
	case "family":
		return fmt.Sprintf("../family/%d", i)
	case "samir":
		return fmt.Sprintf("سمير-%d", i)
	case "lucia":
		return fmt.Sprintf("%07d", i)
	case "radwerk":
		return fmt.Sprintf(`"Radwerk" <%d>`, i)
	case "crew":
		return fmt.Sprintf(`umzug\%d?kiste=%d&x#%d`, i, i%64+1, i)
	case "bread":
		return fmt.Sprintf("🥖 '%d'", i)
	case "petra":
		return fmt.Sprintf("%%2Fverlag%%2F%d", i)
	}
	return fmt.Sprintf("self.%d..", i)
}

func peculiar(key string, i int) string {
	switch fmt.Sprint(key, "#", i) {
	case "lucia#3":
		return "null"
	case "lucia#4":
		return "1e3"
	case "lucia#5":
		return "-0"
	case "self#1":
		return "..."
	case "self#2":
		return "a/../b"
	case "self#3":
		return " leading and trailing "
	case "bread#2": // 200 bytes
		return "export/" + strings.Repeat("Brotklub:Sauerteig/", 10) + "end"
	}
	return ""
}

package demo

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"
)

// letter is one mail message before it has an id.
type letter struct {
	id            string
	from, to      *person
	cc            []*person
	thread        string
	subject, body string
	labels        []string
	files         []file
	at            time.Time
	replyTo       string // id of the message before it in the thread
}

// mail returns all records of one mailbox.
func (w *world) mail(box string) []record {
	d := newDice("mail " + box)
	out := w.contacts(box)
	for i, l := range w.letters(box) {
		emitted := d.after(l.at)
		out = append(out, record{"messages", quoted(l.id), l.data(box, i, d), emitted})
		for n, f := range l.files {
			out = append(out, attachment(l, n, f, emitted.Add(time.Duration(n+1)*time.Second)))
		}
	}
	return out
}

// letters returns the messages of a mailbox in the order in which they were sent.
func (w *world) letters(box string) []*letter {
	out := w.story(box)
	if box == "personal" {
		out = append(out, w.routines(personalRoutines)...)
		out = append(out, w.notices()...)
		out = append(out, w.longPersonal()...)
	} else {
		out = append(out, w.routines(workRoutines)...)
		out = append(out, w.jobThreads()...)
		out = append(out, w.longWork()...)
	}
	slices.SortStableFunc(out, func(a, b *letter) int { return a.at.Compare(b.at) })
	last := make(map[string]string)
	for i, l := range out {
		l.id = fmt.Sprintf("%c%05d", box[0], i+1)
		l.replyTo = last[l.thread]
		last[l.thread] = l.id
	}
	return out
}

// story returns the hand-written messages.
func (w *world) story(box string) []*letter {
	var out []*letter
	for _, b := range w.corpus.all("letter") {
		if b.head[1] != box {
			continue
		}
		from, to, _ := strings.Cut(b.head[2], ">")
		l := &letter{
			from: w.people.get(from), to: w.people.get(to), at: moment(b.head[0]), thread: b.head[3],
			subject: b.head[4], body: b.body, labels: strings.Split(b.head[5], ","),
		}
		if !l.from.isOwner() && !l.to.isOwner() { // a message between others, of which she got a copy
			l.cc = []*person{w.people.get("mara")}
		}
		for name := range strings.SplitSeq(b.head[6], ",") {
			if name != "" {
				l.files = append(l.files, file{name: name, lines: strings.Split(b.body, "\n"), scale: 3})
			}
		}
		out = append(out, l)
	}
	return out
}

func (l *letter) data(box string, i int, d *dice) []byte {
	var o object
	o.str("id", l.id)
	o.str("thread_id", l.thread)
	o.strOrNull("in_reply_to", l.replyTo)
	o.str("folder", l.folder())
	o.str("from_name", l.from.name)
	o.str("from_address", l.from.address)
	o.list("to", []string{l.to.address})
	if len(l.cc) > 0 {
		o.list("cc", []string{l.cc[0].address})
	} else if i%3 == 0 { // else absent
		o.raw("cc", "null")
	}
	o.str("subject", l.subject)
	o.str("body_text", l.body)
	o.str("language", languageOf(l.body, l.from.lang))
	o.str("sent_at", utc(l.at))
	if i%97 != 96 {
		o.boolean("is_read", l.from.isOwner() || !d.chance(7))
	}
	o.integer("size_bytes", l.size(d))
	o.list("labels", l.labels)
	o.integer("attachment_count", int64(len(l.files)))
	if box == "work" && i%9 == 4 {
		o.str("signature_b64", signature(l))
	} else {
		o.raw("signature_b64", "null")
	}
	if i%61 == 60 {
		o.str("x_mailer", "Kontor 4.2 (Möwe)") // undeclared on purpose
		o.raw("x_spam_score", "1e-3")
	}
	return o.bytes()
}

func (l *letter) folder() string {
	switch {
	case l.from.isOwner():
		return "sent"
	case slices.Contains(l.labels, "notices"):
		return "updates"
	}
	return "inbox"
}

func (l *letter) size(d *dice) int64 {
	n := len(l.body) + len(l.subject) + d.between(900, 2600) // headers
	for _, f := range l.files {
		n += len(f.content()) * 4 / 3
	}
	return int64(n)
}

// signature returns long base64 text, which is recognized as binary by its content and not
// by the name of its field (EX-8).
func signature(l *letter) string {
	d := newDice("signature " + l.id)
	raw := make([]byte, 384)
	for i := range raw {
		raw[i] = byte(d.r.Uint32())
	}
	return base64.StdEncoding.EncodeToString(raw)
}

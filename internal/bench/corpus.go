package bench

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/sortkey"
	"pdpp/internal/store"
)

// Corpus is an endless mailbox. Every record is generated from its number alone, so that
// any record can be named without storing it. It is safe for concurrent use.
type Corpus struct{ words *vocabulary }

// NewCorpus returns the mailbox. All of them are equal.
func NewCorpus() *Corpus { return &Corpus{newVocabulary()} }

// Categories are equally frequent, except Rare.
var Categories = []string{
	"bills", "books", "car", "charity", "children", "events", "family", "food", "friends", "garden",
	"health", "home", "news", "pets", "receipts", "school", "sports", "taxes", "travel", "work",
}

// Rare is the category of one record in rareEvery: enough for more than a page
// in 20,000 records.
const (
	Rare      = "legal"
	rareEvery = 500
)

var (
	firstSent    = time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)
	firstEmitted = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

const (
	sentEvery    = 7 * time.Minute // records arrive in the order in which they were sent
	emittedEvery = 2 * time.Millisecond
	threadLength = 5
	senders      = 2000
)

// ID returns the id of the n-th record, which is random like the ids of real mail.
func (c *Corpus) ID(n int) pdpp.RecordID { return pdpp.RecordID(hexID(mix(uint64(n) + 1))) }

func hexID(z uint64) string { return fmt.Sprintf("%016x", z) }

func sentAt(n int) time.Time {
	jitter := time.Duration(mix(uint64(n))%uint64(sentEvery/time.Second)) * time.Second
	return firstSent.Add(time.Duration(n)*sentEvery + jitter)
}

// Position returns the position of the n-th record in the order of its stream.
func (c *Corpus) Position(n int) query.Position {
	key, ok := sortkey.FromText(pdpp.KindDateTime, sentAt(n).Format(time.RFC3339))
	if !ok {
		panic("a formatted time must parse")
	}
	return query.Position{Connection: connection.ID, Key: store.OrderKey(key, c.ID(n))}
}

// AppendLine appends the n-th record as a line of NDJSON (I-4).
func (c *Corpus) AppendLine(dst []byte, n int) []byte {
	d := dice{state: mix(uint64(n)) ^ 0x6d61696c}
	id := c.ID(n)
	dst = append(dst, `{"key":"`...)
	dst = append(dst, id...)
	dst = append(dst, `","data":{"id":"`...)
	dst = append(dst, id...)
	dst = append(dst, `","from":"`...)
	dst = c.appendAddress(dst, &d)
	dst = append(dst, `","subject":"`...)
	dst = c.appendText(dst, &d, 3+d.below(6), false)
	dst = append(dst, `","body":"`...)
	dst = c.appendText(dst, &d, 40+d.below(41), true)
	dst = append(dst, ' ')
	dst = append(dst, matterOf(n)...)
	dst = append(dst, `","sent_at":"`...)
	dst = sentAt(n).AppendFormat(dst, time.RFC3339)
	dst = append(dst, `","category":"`...)
	dst = append(dst, category(&d)...)
	dst = append(dst, `","amount":`...)
	dst = strconv.AppendFloat(dst, float64(d.below(1_000_000))/100, 'f', 2, 64)
	dst = append(dst, `,"is_read":`...)
	dst = strconv.AppendBool(dst, d.below(4) > 0)
	dst = append(dst, `,"thread_id":"t`...)
	dst = append(dst, hexID(mix(uint64(n/threadLength)+1<<40))...)
	dst = append(dst, `"},"emitted_at":"`...)
	dst = firstEmitted.Add(time.Duration(n)*emittedEvery).AppendFormat(dst, pdpp.TimestampFormat)
	return append(dst, "\"}\n"...)
}

func category(d *dice) string {
	if d.below(rareEvery) == 0 {
		return Rare
	}
	return Categories[d.below(len(Categories))]
}

// A matter is a word that occurs in matterSize messages, spread over matterSpan messages:
// a rare word that is equally frequent in a store of any size.
const (
	matterSize = 30
	matterSpan = 15_000
)

func matterOf(n int) string {
	const matters = matterSpan / matterSize // in the same span
	span, round, turn := n/matterSpan, n/matters, n%matters
	return "matter" + strconv.Itoa(span*matters+(turn+int(mix(uint64(round))%matters))%matters)
}

// appendAddress appends a random sender. Some senders are far more frequent than others.
func (c *Corpus) appendAddress(dst []byte, d *dice) []byte {
	dst = append(dst, c.words.words[c.words.wheel[d.below(len(c.words.wheel))]%senders]...)
	return append(dst, "@mail.example"...)
}

// appendText appends random words as the content of a JSON string, with punctuation and
// line breaks if paragraphs is true.
func (c *Corpus) appendText(dst []byte, d *dice, words int, paragraphs bool) []byte {
	for i := range words {
		switch {
		case i == 0:
		case paragraphs && d.below(24) == 0:
			dst = append(dst, `.\n`...)
		case paragraphs && d.below(12) == 0:
			dst = append(dst, `, `...)
		default:
			dst = append(dst, ' ')
		}
		dst = append(dst, c.words.pick(d)...)
	}
	return dst
}

// Lines returns the records from <= n < to as NDJSON, which is generated while it is read.
func (c *Corpus) Lines(from, to int) io.Reader { return &lineReader{corpus: c, next: from, to: to} }

type lineReader struct {
	corpus   *Corpus
	next, to int
	buf      []byte
	rest     []byte
}

// Read implements io.Reader.
func (r *lineReader) Read(p []byte) (int, error) {
	for n := 0; ; {
		m := copy(p[n:], r.rest)
		r.rest = r.rest[m:]
		if n += m; n == len(p) {
			return n, nil
		}
		if r.next >= r.to {
			if n == 0 {
				return 0, io.EOF
			}
			return n, nil
		}
		r.buf = r.corpus.AppendLine(r.buf[:0], r.next)
		r.rest = r.buf
		r.next++
	}
}

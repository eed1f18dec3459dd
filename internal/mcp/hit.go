package mcp

import (
	"slices"
	"strconv"
	"strings"

	"pdpp/internal/evidence"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/mcp/recordtext"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// maxExcerpts is how many excerpts of a hit are passed on (MS-123).
const maxExcerpts = 3

// hit is a search hit, flattened.
type hit struct {
	*rsclient.Hit
	ref   ref
	id    string // of the result: the handle, or what the hit calls itself
	title string
	// titleField is the field that the title is of; "" for one that was put together.
	titleField string
	url        string
	at         evidence.EventTime
	snippet    string             // with balanced tags, as the next ones
	excerpts   []rsclient.Excerpt // that are passed on
}

// newHit reads the nth hit of a page.
func newHit(n int, found *rsclient.Hit, all rsclient.Presentations, provider string) hit {
	h := hit{Hit: found, ref: refer(identify(found)), snippet: quote.Balance(evidence.Clean(found.Snippet.Text))}
	h.url = h.ref.url(provider, found.URL, found.RecordURL)
	if h.id = h.ref.id; h.id == "" {
		h.id = firstOf(found.OwnID, found.URL, "result:"+strconv.Itoa(n))
	}
	h.Stream, h.Connection = h.ref.Stream, h.ref.Connection
	if card := found.Card; card != nil { // the server's own evaluation comes first (MS-61)
		h.title, h.titleField = quote.Short(card.Title, limits.TitleChars), card.TitleField
		h.timed(card)
	}
	if h.title == "" || h.at.Value == "" {
		h.evaluate(all)
	}
	h.title = firstOf(evidence.Clean(h.title), h.id)
	if h.ref.id != "" {
		h.excerpts = h.matched()
	}
	return h
}

// evaluate finds what no card says.
func (h *hit) evaluate(all rsclient.Presentations) {
	rec := h.Evidence(all)
	if h.title == "" {
		title := evidence.TitleOf(rec)
		h.title, h.titleField = title.Text, title.Field
	}
	if h.at.Value == "" {
		h.at = evidence.EventTimeOf(rec)
	}
}

// timed takes the time of a card, if it has one.
func (h *hit) timed(c *rsclient.Card) {
	if c.EventTime == "" {
		return
	}
	h.at = evidence.EventTime{Value: quote.First(c.EventTime, limits.LabelChars)}
	if c.Emitted {
		h.at.Source = evidence.SourceEnvelope
	}
}

// identify is the record that a hit is of (MS-124): what its parts say, else its own
// id, read as a handle or as the id of a record of its stream. A hit that is no
// record has no stream.
func identify(h *rsclient.Hit) Handle {
	whole := Handle{h.Connection, h.Stream, h.Identity.Record}
	if h.Stream != "" && h.Keyed {
		return whole
	}
	if own, err := ParseHandle(h.OwnID); err == nil {
		own.Connection = firstOf(own.Connection, h.Connection)
		return own
	}
	if h.Stream != "" && h.OwnID != "" {
		return whole
	}
	return Handle{Connection: h.Connection}
}

// matched are the excerpts of matched fields, else the snippet where its field is
// known. None is invented.
func (h *hit) matched() []rsclient.Excerpt {
	list := h.Excerpts[:0] // in the place of those that came
	for _, e := range h.Excerpts {
		if len(list) < maxExcerpts && recordtext.IsReadable(e.Field) && h.isMatched(e.Field) {
			if e.Text == h.Snippet.Text { // as of most
				e.Text = h.snippet
			} else {
				e.Text = quote.Balance(evidence.Clean(e.Text))
			}
			list = append(list, e)
		}
	}
	if s := h.Snippet; len(list) == 0 && recordtext.IsReadable(s.Field) && s.Text != "" {
		list = append(list, rsclient.Excerpt{Field: s.Field, Text: h.snippet, Complete: s.Complete, Total: s.Total, Offset: s.Offset})
	}
	return list
}

// isMatched reports a field that the hit lists as matched. One that lists none leaves
// it open.
func (h *hit) isMatched(field string) bool {
	listed := false
	for name := range rawjson.Elements(h.MatchedFields) {
		if listed = true; rawjson.Is(name, field) {
			return true
		}
	}
	return !listed
}

// window is the place to read on from an excerpt: where the server says, else around
// the first highlight, else at the start of the field (MS-68).
func (h *hit) window(e *rsclient.Excerpt) window {
	if e.Offset >= 0 {
		return h.ref.from(e.Field, e.Offset)
	}
	if q := quote.FirstMark(e.Text); q != "" {
		return h.ref.around(e.Field, q)
	}
	return h.ref.from(e.Field, 0)
}

// append appends the hit as one of the results (MS-123): what ChatGPT's contract asks
// for, the connection, and how to read on. All else is in the hit itself, under data.
func (h *hit) append(b []byte) []byte {
	b = quote.AppendID(append(b, `{"id":`...), h.id)
	b = appendMember(b, "title", h.title)
	b = quote.AppendID(append(b, `,"url":`...), h.url)
	if h.ref.Connection != "" {
		b = quote.AppendID(append(b, `,"connection_id":`...), h.ref.Connection)
	}
	reads := 0
	for i := range h.excerpts {
		e := &h.excerpts[i]
		if e.Complete {
			continue
		}
		if reads++; reads == 1 {
			b = append(b, `,"reads":[`...)
		} else {
			b = append(b, ',')
		}
		w := h.window(e)
		b = w.appendRest(b)
	}
	if reads > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

// item fills an item with the hit (MS-126). told is what the text says of its source
// elsewhere.
func (h *hit) item(it *recordtext.Item, n int, told source) {
	subject := recordtext.Subject{ID: h.ref.id, Beside: h.ref.beside, Name: h.id}
	if h.ref.id != "" {
		subject.Calls = &h.ref
	}
	it.Start(n, subject)
	title := evidence.Title{Text: h.title, Field: h.titleField}
	if h.titleField == "" && h.title == h.id { // nothing else was known
		title.Text = ""
	}
	it.Title(title, h.at)
	if h.ref.id == "" {
		it.LabelID("url", h.url)
	}
	if strings.HasPrefix(h.id, recordURI) || h.ref.id == "" { // no handle that can be read
		it.Label("stream", h.ref.Stream)
		told = source{}
	}
	told.label(it, h.Source)
	for i := range h.excerpts {
		e := &h.excerpts[i]
		rest := h.window(e)
		it.AddText(recordtext.Text{Naming: recordtext.Named(e.Field), Source: e.Text, Total: e.Total, Marked: true, Whole: e.Complete, Rest: &rest})
	}
	if len(h.excerpts) == 0 && h.Snippet.Text != "" {
		it.AddText(recordtext.Text{Naming: recordtext.Naming{Label: "snippet"}, Source: h.snippet, Total: -1, Marked: true})
	}
	if h.Card != nil {
		h.addCard(it)
	}
}

// addCard adds the fields and binary facts of the server's own card.
func (h *hit) addCard(it *recordtext.Item) {
	for _, f := range h.Card.Fields {
		if f.Field == "" || slices.ContainsFunc(h.excerpts, func(e rsclient.Excerpt) bool { return e.Field == f.Field }) {
			continue
		}
		name := recordtext.Named(f.Field)
		if s, _ := rawjson.String(f.Value); s != "" {
			start := h.ref.from(f.Field, 0)
			it.AddText(recordtext.Text{Naming: name, Source: s, Total: -1, Whole: !f.Truncated, Rest: &start})
		} else {
			it.AddValue(name, f.Value, recordtext.OmitsNothing)
		}
	}
	for _, f := range h.Card.Binary {
		facts, omits := evidence.File{Binary: f.Facts, BlobID: f.BlobID}, recordtext.OmitsNothing
		if recordtext.IsReadableFile(&facts) {
			omits = recordtext.OmitsText
		}
		it.AddValue(recordtext.Named(f.Field), recordtext.AppendShortFacts([]byte("binary"), facts, nil), omits)
	}
	if n := h.Card.Omitted; n > 0 {
		it.AddValue(recordtext.Naming{Label: "binary_omitted"}, strconv.AppendInt(nil, int64(n), 10), recordtext.OmitsNested)
	}
}

// firstOf is the first text that is not empty.
func firstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

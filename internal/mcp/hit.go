package mcp

import (
	"cmp"
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

// maxExcerpts is the number of excerpts of a hit that results have (MS-123).
const maxExcerpts = 3

// hit is a search hit, flattened.
type hit struct {
	*rsclient.Hit
	ref   ref
	id    string // the id of the result: the handle, else the id of the hit itself
	title string
	// titleField is the field that has the title; "" for a title that was composed.
	titleField string
	url        string
	at         evidence.EventTime
	snippet    string             // with balanced tags
	excerpts   []rsclient.Excerpt // excerpts of the result, with balanced tags
}

// newHit flattens the nth hit of a page.
func newHit(n int, found *rsclient.Hit, all rsclient.Presentations, provider string) hit {
	h := hit{Hit: found, ref: refer(identify(found)), snippet: quote.Balance(evidence.Clean(found.Snippet.Text))}
	h.url = h.ref.url(provider, found.URL, found.RecordURL)
	if h.id = h.ref.id; h.id == "" {
		h.id = cmp.Or(found.OwnID, found.URL, "result:"+strconv.Itoa(n))
	}
	h.Stream, h.Connection = h.ref.Stream, h.ref.Connection
	if card := found.Card; card != nil { // the server's own evaluation comes first (MS-61)
		h.title, h.titleField = quote.Short(card.Title, limits.TitleChars), card.TitleField
		h.takeTime(card)
	}
	if h.title == "" || h.at.Value == "" {
		h.evaluate(all)
	}
	h.title = cmp.Or(evidence.Clean(h.title), h.id)
	if h.ref.id != "" {
		h.excerpts = h.matched()
	}
	return h
}

// evaluate derives the title and the time that the card does not state.
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

// takeTime sets the time from the card, if the card has one.
func (h *hit) takeTime(c *rsclient.Card) {
	if c.EventTime == "" {
		return
	}
	h.at = evidence.EventTime{Value: quote.First(c.EventTime, limits.LabelChars)}
	if c.Emitted {
		h.at.Source = evidence.SourceEnvelope
	}
}

// identify returns the record of a hit (MS-124). It is named by the members of the hit, or
// else by the hit's own id, which is a handle or the id of a record in its stream. Without
// a stream, a hit is not a record.
func identify(h *rsclient.Hit) Handle {
	whole := Handle{h.Connection, h.Stream, h.Identity.Record}
	if h.Stream != "" && h.Keyed {
		return whole
	}
	if own, err := parseHandle(h.OwnID); err == nil {
		own.Connection = cmp.Or(own.Connection, h.Connection)
		return own
	}
	if h.Stream != "" && h.OwnID != "" {
		return whole
	}
	return Handle{Connection: h.Connection}
}

// matched returns the excerpts of matched fields, else the snippet if its field is known.
func (h *hit) matched() []rsclient.Excerpt {
	list := h.Excerpts[:0] // in place
	for _, e := range h.Excerpts {
		if len(list) < maxExcerpts && recordtext.IsReadable(e.Field) && h.isMatched(e.Field) {
			if e.Text == h.Snippet.Text { // true for most hits
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

// isMatched reports whether the hit lists a field as matched. If it lists none, any field
// may have matched, and isMatched returns true.
func (h *hit) isMatched(field string) bool {
	listed := false
	for name := range rawjson.Elements(h.MatchedFields) {
		if listed = true; rawjson.Is(name, field) {
			return true
		}
	}
	return !listed
}

// window returns where an excerpt continues: at the server's offset, else around the first
// highlight, else at the start of the field (MS-68).
func (h *hit) window(e *rsclient.Excerpt) window {
	if e.Offset >= 0 {
		return h.ref.from(e.Field, e.Offset)
	}
	if q := quote.FirstMark(e.Text); q != "" {
		return h.ref.around(e.Field, q)
	}
	return h.ref.from(e.Field, 0)
}

// write writes the hit as one of the results (MS-123): the members of ChatGPT's contract,
// the connection, and the calls that read on. Everything else is in the hit, under data.
func (h *hit) write(w *rawjson.Writer) {
	w.Object()
	quote.WriteID(w, "id", h.id)
	w.Optional("title", h.title)
	quote.WriteID(w, "url", h.url)
	if h.ref.Connection != "" {
		quote.WriteID(w, "connection_id", h.ref.Connection)
	}
	reads := 0
	for i := range h.excerpts {
		e := &h.excerpts[i]
		if e.Complete {
			continue
		}
		if reads++; reads == 1 {
			w.OpenArray("reads")
		}
		rest := h.window(e)
		rest.writeRest(w)
	}
	if reads > 0 {
		w.End("]")
	}
	w.End("}")
}

// item fills an item with the hit (MS-126). from is its source if the text names it.
func (h *hit) item(it *recordtext.Item, n int, from source) {
	subject := recordtext.Subject{ID: h.ref.id, ConnectionArg: h.ref.connectionArg, Name: h.id}
	if h.ref.id != "" {
		subject.Calls = &h.ref
	}
	it.Start(n, subject)
	title := evidence.Title{Text: h.title, Field: h.titleField}
	if h.titleField == "" && h.title == h.id { // there is no other
		title.Text = ""
	}
	it.Title(title, h.at)
	if h.ref.id == "" {
		it.LabelID("url", h.url)
	}
	if strings.HasPrefix(h.id, recordURI) || h.ref.id == "" { // the id does not show the stream
		it.Label("stream", h.ref.Stream)
		from = source{}
	}
	from.label(it, h.Source)
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

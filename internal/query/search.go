package query

import (
	"unicode/utf8"

	"pdpp"
	"pdpp/internal/analyzer"
)

// Bounds of a lexical search.
const (
	MaxSearchChars   = 512
	MaxSearchTerms   = 32
	MaxSearchStreams = 64
)

// SearchParams are the parameters of a lexical search, besides the selectors.
var SearchParams = []string{"q", "limit", "cursor", "streams", "filter"}

// SearchStreams reads the streams that a search is narrowed to; nil for all. They are
// resolved before the other parameters (C-20).
func (p *Params) SearchStreams() ([]string, error) {
	streams, err := p.List("streams")
	if len(streams) > MaxSearchStreams {
		return nil, pdpp.BadParam("streams", "At most %d streams can be named.", MaxSearchStreams)
	}
	return streams, err
}

// SearchRequest has the parameters of a search besides its streams.
type SearchRequest struct {
	Terms   []string // distinct, as the index has them
	Filters []Filter
	Limit   Limit
	Cursor  string
}

// Search reads the parameters of a search over these streams.
func (p *Params) Search(streams []string) (w SearchRequest, err error) {
	if w.Terms, err = p.searchTerms(); err != nil {
		return w, err
	}
	if w.Filters, err = p.Filters(); err != nil {
		return w, err
	}
	if len(w.Filters) > 0 && len(streams) != 1 {
		return w, pdpp.BadParam("streams", "A filter needs exactly one stream: send streams=<name>.")
	}
	if w.Limit, err = p.Limit(); err != nil {
		return w, err
	}
	w.Cursor, err = p.One("cursor")
	return w, err
}

func (p *Params) searchTerms() ([]string, error) {
	q, err := p.One("q")
	if err != nil {
		return nil, err
	}
	if q == "" {
		return nil, pdpp.BadParam("q", "q is required: the words to look for.")
	}
	if utf8.RuneCountInString(q) > MaxSearchChars {
		return nil, pdpp.BadParam("q", "q is at most %d characters long.", MaxSearchChars)
	}
	terms := analyzer.Query(q)
	if len(terms) == 0 {
		return nil, pdpp.BadParam("q", "q has no word to look for: send letters or digits.")
	}
	if len(terms) > MaxSearchTerms {
		return nil, pdpp.BadParam("q", "q has more than %d different words.", MaxSearchTerms)
	}
	return terms, nil
}

// Search is a query for the records in whose searchable fields, taken together, every
// term occurs.
type Search struct {
	Subject pdpp.SubjectID
	Sources []SearchSource
	Terms   []string
	Oldest  *int64 // the store's number of the oldest match to return; nil for all
}

// SearchSource is a binding with the fields to search: those that are declared as
// searchable and visible to the caller.
type SearchSource struct {
	Source
	Fields []*pdpp.Field
}

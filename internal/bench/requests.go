package bench

import (
	"context"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/query"
)

// asker makes requests for a store of n records.
type asker struct {
	corpus  *Corpus
	n       int
	subject pdpp.SubjectID
	sealer  *query.Sealer
	rng     dice
}

const (
	recordsPath = "/v1/streams/" + stream + "/records"
	pageSize    = "limit=25"
	cursorOrder = "1/sent_at:6" // query.OrderName of the stream; TestCursorOrder compares
)

// newAsker opens the store for a moment to learn its owner.
func newAsker(ctx context.Context, c *Corpus, dir string, n int) (*asker, error) {
	sealer, err := query.NewSealer(instanceKey)
	if err != nil {
		return nil, err
	}
	w, err := OpenWorld(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &asker{corpus: c, n: n, subject: w.Subject, sealer: sealer, rng: dice{state: 7}}, w.Close()
}

func request(target string) []byte {
	return []byte("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token +
		"\r\nAccept: application/json\r\n\r\n")
}

// many makes a set of requests.
func many(n int, one func() []byte) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = one()
	}
	return out
}

// detail asks for any record.
func (a *asker) detail() []byte {
	return request(recordsPath + "/" + string(a.corpus.ID(a.rng.below(a.n))))
}

func (a *asker) first() []byte { return request(recordsPath + "?" + pageSize) }

// page asks for the page at any place.
func (a *asker) page() []byte { return a.pageAt(a.rng.below(a.n), "") }

// deep asks for a page around the middle.
func (a *asker) deep() []byte { return a.pageAt(a.n/2+a.rng.below(max(1, a.n/100)), "") }

// pageAt asks for the page that follows the n-th record, among those that a
// filter lets through.
func (a *asker) pageAt(n int, filter string) []byte {
	raw := pageSize + filter
	params, err := query.Parse(raw, "limit", "filter")
	if err != nil {
		panic(err) // it is one of ours
	}
	scope := query.ScopeOf(a.subject, grantID, recordsPath, cursorOrder, params)
	return request(recordsPath + "?" + raw + "&cursor=" + a.sealer.SealPosition(scope, a.corpus.Position(n), time.Now()))
}

func (a *asker) anyCategory() string {
	return "&filter[category]=" + Categories[a.rng.below(len(Categories))]
}

// filtered asks for the first page of a category.
func (a *asker) filtered() []byte { return request(recordsPath + "?" + pageSize + a.anyCategory()) }

// filteredPage asks for the page at any place of a category.
func (a *asker) filteredPage() []byte { return a.pageAt(a.rng.below(a.n), a.anyCategory()) }

// rare asks for the first page of the rare category.
func (a *asker) rare() []byte {
	return request(recordsPath + "?" + pageSize + "&filter[category]=" + Rare)
}

// ranged asks for the first page of a category with an amount in one half.
func (a *asker) ranged() []byte {
	return request(recordsPath + "?" + pageSize + a.anyCategory() + "&filter[amount][gte]=5000")
}

// rareWord searches for a word of matterSize records.
func (a *asker) rareWord() []byte { return searchFor(a.matter()) }

// matter is a word of matterSize records.
func (a *asker) matter() string {
	whole := max(1, a.n/matterSpan*matterSpan) // matters that are all there
	return matterOf(a.rng.below(whole))
}

// commonWords searches for two of the most frequent words, which nearly every
// record has.
func (a *asker) commonWords() []byte {
	first := a.rng.below(8)
	return searchFor(a.corpus.words.words[first] + "+" + a.corpus.words.words[first+1+a.rng.below(4)])
}

func searchFor(words string) []byte {
	return request("/v1/search?" + pageSize + "&q=" + strings.ReplaceAll(words, "é", "%C3%A9"))
}

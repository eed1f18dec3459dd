package bench

import (
	"context"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/query"
)

// requester creates requests for a store of n records.
type requester struct {
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

// newRequester opens the store to read its owner, and closes it again.
func newRequester(ctx context.Context, c *Corpus, dir string, n int) (*requester, error) {
	sealer, err := query.NewSealer(instanceKey)
	if err != nil {
		return nil, err
	}
	w, err := OpenWorld(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &requester{corpus: c, n: n, subject: w.Subject, sealer: sealer, rng: dice{state: 7}}, w.Close()
}

func request(target string) []byte {
	return []byte("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token +
		"\r\nAccept: application/json\r\n\r\n")
}

// many returns n requests.
func many(n int, one func() []byte) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = one()
	}
	return out
}

// detail requests a random record.
func (a *requester) detail() []byte {
	return request(recordsPath + "/" + string(a.corpus.ID(a.rng.below(a.n))))
}

func (a *requester) first() []byte { return request(recordsPath + "?" + pageSize) }

// page requests a page at a random position.
func (a *requester) page() []byte { return a.pageAt(a.rng.below(a.n), "") }

// deep requests a page near the middle.
func (a *requester) deep() []byte { return a.pageAt(a.n/2+a.rng.below(max(1, a.n/100)), "") }

// pageAt requests the page after the n-th record, among those that match a filter.
func (a *requester) pageAt(n int, filter string) []byte {
	raw := pageSize + filter
	params, err := query.Parse(raw, "limit", "filter")
	if err != nil {
		panic(err) // the position was created here
	}
	scope := query.ScopeOf(a.subject, grantID, recordsPath, cursorOrder, params)
	return request(recordsPath + "?" + raw + "&cursor=" + a.sealer.SealPosition(scope, a.corpus.Position(n), time.Now()))
}

func (a *requester) anyCategory() string {
	return "&filter[category]=" + Categories[a.rng.below(len(Categories))]
}

// filtered requests the first page of a category.
func (a *requester) filtered() []byte { return request(recordsPath + "?" + pageSize + a.anyCategory()) }

// filteredPage requests a page at a random position of a category.
func (a *requester) filteredPage() []byte { return a.pageAt(a.rng.below(a.n), a.anyCategory()) }

// rare requests the first page of the rare category.
func (a *requester) rare() []byte {
	return request(recordsPath + "?" + pageSize + "&filter[category]=" + Rare)
}

// ranged requests the first page of a category with amounts in one half of their range.
func (a *requester) ranged() []byte {
	return request(recordsPath + "?" + pageSize + a.anyCategory() + "&filter[amount][gte]=5000")
}

// rareWord searches for a word of matterSize records.
func (a *requester) rareWord() []byte { return searchFor(a.matter()) }

// matter returns a word that occurs in matterSize records.
func (a *requester) matter() string {
	whole := max(1, a.n/matterSpan*matterSpan) // only complete matters
	return matterOf(a.rng.below(whole))
}

// commonWords searches for two of the most frequent words, which are in nearly every record.
func (a *requester) commonWords() []byte {
	first := a.rng.below(8)
	return searchFor(a.corpus.words.words[first] + "+" + a.corpus.words.words[first+1+a.rng.below(4)])
}

func searchFor(words string) []byte {
	return request("/v1/search?" + pageSize + "&q=" + strings.ReplaceAll(words, "é", "%C3%A9"))
}

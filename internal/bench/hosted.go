package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// post is a request of the hosted endpoint, of the revision that most programs speak.
func post(method, params string) []byte {
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	return []byte("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token +
		"\r\nMCP-Protocol-Version: 2025-11-25\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

// tool is a call of a tool.
func tool(name, args string) []byte {
	return post("tools/call", `{"name":"`+name+`","arguments":`+args+`}`)
}

func (a *asker) anyID() string {
	return string(connection.ID) + "/" + stream + ":" + string(a.corpus.ID(a.rng.below(a.n)))
}

func (a *asker) hostedFetch() []byte { return tool("fetch", `{"id":"`+a.anyID()+`"}`) }

func (a *asker) hostedWindow() []byte {
	return tool("read_record_field", `{"id":"`+a.anyID()+`","field_path":"body","limit_chars":200}`)
}

func (a *asker) hostedList() []byte { return post("tools/list", `{}`) }

// both asks for the same once over the endpoint and once over /v1.
type both struct{ hosted, direct []byte }

func (a *asker) queryBoth() both {
	category := Categories[a.rng.below(len(Categories))]
	return both{
		tool("query_records", `{"stream":"`+stream+`","filter":{"category":"`+category+`"},"limit":25}`),
		preferring(recordsPath+"?"+pageSize+"&filter[category]="+category, "pdpp-field-preview=2048, pdpp-page-bytes=65536"),
	}
}

func (a *asker) searchBoth() both {
	word := a.matter()
	return both{
		tool("search", `{"q":`+strconv.Quote(word)+`,"limit":25}`),
		preferring("/v1/search?"+pageSize+"&q="+word, "pdpp-page-bytes=49152"),
	}
}

// preferring is a read as the tools make it.
func preferring(target, prefer string) []byte {
	return []byte("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token +
		"\r\nAccept: application/json\r\nPrefer: " + prefer + "\r\n\r\n")
}

// Hosted compares the hosted endpoint in front of the store in dir with a bare handler
// that takes the same requests and writes the same bytes, and with the reads that its
// tools make.
func (s *Suite) Hosted(ctx context.Context, dir string, n int) ([]Row, error) {
	a, err := newAsker(ctx, s.Corpus, dir, n)
	if err != nil {
		return nil, err
	}
	var rows []Row
	serve := func(ctx context.Context, ready func(string)) error { return Serve(ctx, dir, ready) }
	err = serving(ctx, serve, func(addr string) error {
		for _, k := range []struct {
			name     string
			requests [][]byte
			kept     int
			target   *Target
		}{
			{"fetch", many(manyDetails, a.hostedFetch), keptDetails, AtLeast(0.4)},
			{"read_record_field", many(manyDetails, a.hostedWindow), keptDetails, AtLeast(0.4)},
			{"tools/list", many(1, a.hostedList), 1, AtLeast(0.7)},
		} {
			bodies, err := fetch(addr, k.requests, min(k.kept, n))
			if err != nil {
				return err
			}
			ours, bare, err := s.sideBySide(ctx, "hosted "+k.name, addr, k.requests, rpcHandler{newCanned(bodies)})
			if err != nil {
				return err
			}
			rows = append(rows, compare("hosted "+k.name+" / bare handler", "req/s", ours, bare, k.target))
		}
		for _, k := range []struct {
			name string
			ask  func() both
		}{{"query_records of 25", a.queryBoth}, {"search for a rare word", a.searchBoth}} {
			row, err := s.hostedDirect(ctx, addr, k.name, k.ask)
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
		return nil
	})
	return rows, err
}

// hostedDirect compares tool calls with the reads they make.
func (s *Suite) hostedDirect(ctx context.Context, addr, name string, ask func() both) (Row, error) {
	var hosted, direct [][]byte
	for range manyPages {
		b := ask()
		hosted, direct = append(hosted, b.hosted), append(direct, b.direct)
	}
	var ours, theirs []float64
	for i := range s.Rounds {
		s.Progress("hosted %s, round %d of %d", name, i+1, s.Rounds)
		err := s.profiled("hosted "+name, i == s.Rounds-1, func() error {
			rate, err := load(ctx, addr, hosted, s.Round)
			ours = append(ours, rate)
			return err
		})
		if err != nil {
			return Row{}, err
		}
		rate, err := load(ctx, addr, direct, s.Round)
		if err != nil {
			return Row{}, err
		}
		theirs = append(theirs, rate)
	}
	return compare(fmt.Sprintf("hosted %s / the same read of /v1", name), "req/s", median(ours), median(theirs), AtLeast(0.6)), nil
}

// rpcHandler is a JSON-RPC endpoint that does nothing but decode requests.
type rpcHandler struct{ answers *canned }

// ServeHTTP implements http.Handler.
func (h rpcHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var m struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
	}
	if err != nil || json.Unmarshal(body, &m) != nil || m.Method == "" {
		http.Error(w, "not JSON-RPC", http.StatusBadRequest)
		return
	}
	h.answers.ServeHTTP(w, r)
}

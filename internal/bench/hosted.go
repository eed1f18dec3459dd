package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// post returns a request of the hosted endpoint, in the revision that most clients use.
func post(method, params string) []byte {
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	return []byte("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token +
		"\r\nMCP-Protocol-Version: 2025-11-25\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

// tool returns a request that calls a tool.
func tool(name, args string) []byte {
	return post("tools/call", `{"name":"`+name+`","arguments":`+args+`}`)
}

func (a *requester) anyID() string {
	return string(connection.ID) + "/" + stream + ":" + string(a.corpus.ID(a.rng.below(a.n)))
}

func (a *requester) hostedFetch() []byte { return tool("fetch", `{"id":"`+a.anyID()+`"}`) }

func (a *requester) hostedWindow() []byte {
	return tool("read_record_field", `{"id":"`+a.anyID()+`","field_path":"body","limit_chars":200}`)
}

func (a *requester) hostedList() []byte { return post("tools/list", `{}`) }

// both has a request of the hosted endpoint and the same read of /v1.
type both struct{ hosted, direct []byte }

func (a *requester) queryBoth() both {
	category := Categories[a.rng.below(len(Categories))]
	return both{
		tool("query_records", `{"stream":"`+stream+`","filter":{"category":"`+category+`"},"limit":25}`),
		preferring(recordsPath+"?"+pageSize+"&filter[category]="+category, "pdpp-field-preview=2048, pdpp-page-bytes=65536"),
	}
}

func (a *requester) searchBoth() both {
	word := a.matter()
	return both{
		tool("search", `{"q":`+strconv.Quote(word)+`,"limit":25}`),
		preferring("/v1/search?"+pageSize+"&q="+word, "pdpp-page-bytes=49152"),
	}
}

// preferring returns a read with the Prefer header of the tools.
func preferring(target, prefer string) []byte {
	return []byte("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token +
		"\r\nAccept: application/json\r\nPrefer: " + prefer + "\r\n\r\n")
}

// Hosted compares the hosted endpoint over the store in dir with a bare handler that decodes
// the same requests and writes the same bytes, and with the reads of its tools.
func (s *Suite) Hosted(ctx context.Context, dir string, n int) ([]Row, error) {
	a, err := newRequester(ctx, s.Corpus, dir, n)
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

// hostedDirect compares tool calls with the reads that they make.
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

// rpcHandler is a JSON-RPC endpoint that only decodes requests and writes fixed answers.
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

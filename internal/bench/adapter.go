package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"pdpp"
	"pdpp/internal/credential"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/rsclient"
)

// toolCall is a call of a tool, and the read that the tool makes.
type toolCall struct {
	tool, args string
	direct     func(context.Context, rsclient.Reader) (*rsclient.Answer, error)
}

// Adapter compares `pdpp mcp` over stdio with the same reads through the adapter's own
// client, and measures its memory.
func (s *Suite) Adapter(ctx context.Context, binary string, t Served) ([]Row, error) {
	provider := "http://" + t.Addr
	root, err := os.MkdirTemp(s.Dir, "credentials-")
	if err != nil {
		return nil, err
	}
	cache := credential.Cache{Root: root, Now: time.Now}
	err = cache.Put(ctx, &credential.Credential{
		ID: string(grantID), Provider: provider, Token: token, Kind: "client", Status: credential.Active, Resource: provider, CreatedAt: time.Now(),
	})
	if err != nil {
		return nil, err
	}
	args := []string{provider, "--cache-root", root}
	row, err := s.spawns(ctx, binary, args)
	if err != nil {
		return nil, err
	}
	c, err := spawn(ctx, binary, args...)
	if err != nil {
		return nil, err
	}
	rows, err := s.calls(ctx, c, t)
	return append([]Row{row}, rows...), errors.Join(err, c.close())
}

// spawns compares the start of the adapter with that of a command that does nothing.
func (s *Suite) spawns(ctx context.Context, binary string, args []string) (Row, error) {
	s.Progress("starts of the adapter")
	times, err := s.inTurn(ctx, max(5, s.Samples/20),
		func() (time.Duration, error) {
			start := time.Now()
			c, err := spawn(ctx, binary, args...)
			if err != nil {
				return 0, err
			}
			took := time.Since(start)
			return took, c.close()
		},
		func() (time.Duration, error) {
			start := time.Now()
			err := exec.CommandContext(ctx, binary, "version").Run()
			return time.Since(start), err
		})
	if err != nil {
		return Row{}, err
	}
	return compare("adapter, spawn to initialize / spawn with version", "ms", times[0], times[1], AtMost(3)), nil
}

// calls measures one adapter: its memory, its calls, and its memory again.
func (s *Suite) calls(ctx context.Context, c *stdio, t Served) ([]Row, error) {
	rows, err := memory(c.cmd.Process.Pid, "resident memory of the adapter, idle", AtMost(30))
	if err != nil {
		return nil, err
	}
	a, err := newRequester(ctx, s.Corpus, t.Dir, t.Records)
	if err != nil {
		return rows, err
	}
	direct, err := rsclient.New(rsclient.Config{
		Provider: "http://" + t.Addr, Version: "bench", Transport: rsclient.Pooled(),
		Token: func(context.Context) (string, error) { return token, nil },
	})
	if err != nil {
		return rows, err
	}
	kinds := []struct {
		what string
		next func() toolCall
	}{{"fetch", a.fetch}, {"query_records of 25", a.query}, {"search", a.search}}
	for _, k := range kinds {
		s.Progress("%s through the adapter", k.what)
		var call toolCall
		times, err := s.inTurn(ctx, s.Samples,
			func() (time.Duration, error) {
				call = k.next()
				return c.tool(call.tool, call.args)
			},
			func() (time.Duration, error) {
				start := time.Now()
				_, err := call.direct(ctx, direct)
				return time.Since(start), err
			})
		if err != nil {
			return rows, err
		}
		rows = append(rows, compare(fmt.Sprintf("adapter, %s / the same read without it", k.what), "ms", times[0], times[1], AtMost(1.6)))
	}
	for i := range s.Calls {
		s.Progress("call %s of %s of the adapter", count(i+1), count(s.Calls))
		call := kinds[i%len(kinds)].next()
		if _, err := c.tool(call.tool, call.args); errors.Join(err, ctx.Err()) != nil {
			return rows, errors.Join(err, ctx.Err())
		}
	}
	more, err := memory(c.cmd.Process.Pid, fmt.Sprintf("resident memory of the adapter, %s calls", count(s.Calls)), AtMost(60))
	return append(rows, more...), err
}

// fetch reads any record.
func (a *requester) fetch() toolCall {
	id := string(a.corpus.ID(a.rng.below(a.n)))
	return toolCall{"fetch", `{"id":"` + string(connection.ID) + `/` + stream + `:` + id + `"}`, func(ctx context.Context, rs rsclient.Reader) (*rsclient.Answer, error) {
		var q rsclient.Query
		q.Set("connection_id", string(connection.ID))
		return rs.Record(ctx, stream, id, q, rsclient.Prefer{FieldPreview: limits.FetchField})
	}}
}

// query reads the first page of a category.
func (a *requester) query() toolCall {
	category := Categories[a.rng.below(len(Categories))]
	args := `{"stream":"` + stream + `","filter":{"category":"` + category + `"},"limit":25}`
	return toolCall{"query_records", args, func(ctx context.Context, rs rsclient.Reader) (*rsclient.Answer, error) {
		var q rsclient.Query
		q.Filter("category", pdpp.OpEq, category)
		q.Set("limit", "25")
		return rs.Records(ctx, stream, q, rsclient.Prefer{FieldPreview: limits.PreviewField, PageBytes: limits.PreviewPage})
	}}
}

// search finds a page of the records with a rare word.
func (a *requester) search() toolCall {
	word := a.matter()
	return toolCall{"search", `{"q":` + strconv.Quote(word) + `,"limit":25}`, func(ctx context.Context, rs rsclient.Reader) (*rsclient.Answer, error) {
		var q rsclient.Query
		q.Set("q", word)
		q.Set("limit", "25")
		return rs.Search(ctx, "", q, rsclient.Prefer{PageBytes: limits.SearchPage})
	}}
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

const batch = 200

// ledger knows which records were acknowledged: of each writer, those below a number.
type ledger struct {
	mu   sync.Mutex
	next map[int]int
}

func (l *ledger) at(writer int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next[writer]
}

func (l *ledger) acknowledge(writer, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == nil {
		l.next = map[int]int{}
	}
	l.next[writer] += n
}

// ingestSome stores a batch of small records, and sends it again until it was
// acknowledged.
func (c *client) ingestSome(ctx context.Context, writer int, l *ledger) {
	first := l.at(writer)
	var lines bytes.Buffer
	b := bufio.NewWriter(&lines)
	for i := range batch {
		writeMessage(b, fmt.Sprintf("live-%d-%d", writer, first+i), words(60))
	}
	b.Flush()
	if c.ingest(ctx, "live", lines.Bytes()) == batch {
		l.acknowledge(writer, batch)
		c.report.count("acknowledged")
	}
	pause(ctx, 500*time.Millisecond)
}

// ingest sends lines and returns how many were accepted.
func (c *client) ingest(ctx context.Context, connection string, lines []byte) int {
	answer := c.do(ctx, c.world.owner, http.MethodPost, "/v1/ingest/messages?connection_id="+c.world.conns[connection], "application/x-ndjson", lines)
	var counts struct {
		Accepted int `json:"records_accepted"`
		Rejected int `json:"records_rejected"`
	}
	if answer == nil {
		return 0
	}
	if err := json.Unmarshal(answer, &counts); err != nil || counts.Rejected > 0 {
		c.report.broken("ingest: %v %.200s", err, answer)
	}
	return counts.Accepted
}

// ingestMuch sends the largest body that the server takes.
func (c *client) ingestMuch(ctx context.Context, i int) {
	var lines bytes.Buffer
	b := bufio.NewWriter(&lines)
	for n := range 9 {
		writeMessage(b, fmt.Sprintf("much-%d-%d", i, n), strings.Repeat(words(1000), 5<<20/7000))
	}
	b.Flush()
	c.ingest(ctx, "scratch", lines.Bytes())
	pause(ctx, 20*time.Second)
}

// fillAndDelete stores many records with a command, beside the server, and deletes
// them all through it.
func (c *client) fillAndDelete(ctx context.Context, _ int) {
	err := c.world.ingest(ctx, "scratch", "messages", func(b *bufio.Writer) {
		for i := range 5000 {
			writeMessage(b, fmt.Sprint("scratch-", i), words(60))
		}
	})
	if err != nil && ctx.Err() == nil {
		c.report.broken("%v", err)
	}
	c.do(ctx, c.world.owner, http.MethodDelete, "/v1/streams/messages/records?connection_id="+c.world.conns["scratch"], "", nil)
	c.report.count("streams deleted")
	pause(ctx, 20*time.Second)
}

// declareAnew changes the manifest, so that all records are indexed again.
func (c *client) declareAnew(ctx context.Context, _ int) {
	if !pause(ctx, time.Minute) {
		return
	}
	if err := os.WriteFile(c.world.manifestFile(), []byte(c.world.declaration()), 0o600); err != nil {
		c.report.broken("%v", err)
		return
	}
	_, err := c.world.command(ctx, "ingest", "--manifest", c.world.manifestFile(), "--connection", "base", os.DevNull)
	if err != nil && ctx.Err() == nil {
		c.report.broken("%v", err)
	}
	c.report.count("declarations")
}

// withdraw makes a grant, reads with it, withdraws it with a command, and reads again.
func (c *client) withdraw(ctx context.Context, _ int) {
	defer pause(ctx, 2*time.Second)
	g, err := c.world.grant(ctx, "Passing")
	if err != nil {
		if ctx.Err() == nil {
			c.report.count("grants not made") // an ordinary command may give up when the store is busy
		}
		return
	}
	c.get(ctx, g.Token, "/v1/streams")
	start := time.Now()
	if _, err := c.world.command(ctx, "grants", "revoke", g.ID); err != nil {
		if ctx.Err() == nil {
			c.report.broken("%v", err)
		}
		return
	}
	c.report.withdrawal(time.Since(start))
	status, answer, err := c.send(ctx, g.Token, http.MethodGet, "/v1/streams", "", nil)
	if err == nil && status == http.StatusOK {
		c.report.broken("a withdrawn grant still reads: %.200s", answer)
	}
}

// verify looks for every acknowledged record.
func (l *ledger) verify(ctx context.Context, w *world, s *server) error {
	c := &client{world: w, server: s}
	have := map[string]bool{}
	path := "/v1/streams/messages/records?limit=100&fields=id&connection_id=" + w.conns["live"]
	for next, tries := path, 0; next != ""; {
		status, answer, err := c.send(ctx, w.owner, http.MethodGet, next, "", nil)
		if err != nil {
			return err
		}
		if status == http.StatusServiceUnavailable && tries < 600 { // an index may still be under way
			tries++
			if !pause(ctx, time.Second) {
				return ctx.Err()
			}
			continue
		}
		var page struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
			Links struct {
				Next string `json:"next"`
			} `json:"links"`
		}
		if err := json.Unmarshal(answer, &page); err != nil || status != http.StatusOK {
			return fmt.Errorf("reading everything: %d %w %.200s", status, err, answer)
		}
		for _, r := range page.Data {
			if have[r.ID] {
				return fmt.Errorf("record %s was listed twice", r.ID)
			}
			have[r.ID] = true
		}
		next = page.Links.Next
	}
	lost := 0
	for writer, n := range l.next {
		for i := range n {
			if !have[fmt.Sprintf("live-%d-%d", writer, i)] {
				lost++
			}
		}
	}
	if lost > 0 {
		return fmt.Errorf("%d of %d acknowledged records are missing", lost, len(have)+lost)
	}
	fmt.Printf("all acknowledged records are there, among %d\n", len(have))
	return nil
}

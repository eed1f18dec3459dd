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

// acknowledged has the number of acknowledged records of each writer.
type acknowledged struct {
	mu   sync.Mutex
	next map[int]int
}

func (a *acknowledged) at(writer int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.next[writer]
}

func (a *acknowledged) add(writer, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.next == nil {
		a.next = map[int]int{}
	}
	a.next[writer] += n
}

// ingestBatch stores a batch of small records. The next call sends the same batch again if
// it was not acknowledged.
func (c *client) ingestBatch(ctx context.Context, writer int, acked *acknowledged) {
	first := acked.at(writer)
	var lines bytes.Buffer
	b := bufio.NewWriter(&lines)
	for i := range batch {
		writeMessage(b, fmt.Sprintf("live-%d-%d", writer, first+i), words(60))
	}
	b.Flush()
	if c.ingest(ctx, "live", lines.Bytes()) == batch {
		acked.add(writer, batch)
		c.report.count("acknowledged")
	}
	pause(ctx, 500*time.Millisecond)
}

// ingest sends lines and returns the number of accepted ones.
func (c *client) ingest(ctx context.Context, connection string, lines []byte) int {
	path := "/v1/ingest/messages?connection_id=" + c.world.conns[connection]
	answer := c.do(ctx, request{c.world.owner, http.MethodPost, path, "application/x-ndjson", lines})
	var counts struct {
		Accepted int `json:"records_accepted"`
		Rejected int `json:"records_rejected"`
	}
	if answer == nil {
		return 0
	}
	if err := json.Unmarshal(answer, &counts); err != nil || counts.Rejected > 0 {
		c.report.problem("ingest: %v %.200s", err, answer)
	}
	return counts.Accepted
}

// ingestLarge sends a body close to the limit of the server.
func (c *client) ingestLarge(ctx context.Context, i int) {
	var lines bytes.Buffer
	b := bufio.NewWriter(&lines)
	for n := range 9 {
		writeMessage(b, fmt.Sprintf("much-%d-%d", i, n), strings.Repeat(words(1000), 5<<20/7000))
	}
	b.Flush()
	c.ingest(ctx, "scratch", lines.Bytes())
	pause(ctx, 20*time.Second)
}

// fillAndDelete stores many records with a command while the server runs, and deletes them
// through the server.
func (c *client) fillAndDelete(ctx context.Context, _ int) {
	err := c.world.ingest(ctx, "scratch", "messages", func(b *bufio.Writer) {
		for i := range 5000 {
			writeMessage(b, fmt.Sprint("scratch-", i), words(60))
		}
	})
	if err != nil && ctx.Err() == nil {
		c.report.problem("%v", err)
	}
	path := "/v1/streams/messages/records?connection_id=" + c.world.conns["scratch"]
	c.do(ctx, request{token: c.world.owner, method: http.MethodDelete, path: path})
	c.report.count("streams deleted")
	pause(ctx, 20*time.Second)
}

// changeManifest changes the manifest, so that all records are indexed again.
func (c *client) changeManifest(ctx context.Context, _ int) {
	if !pause(ctx, time.Minute) {
		return
	}
	if err := os.WriteFile(c.world.manifestFile(), []byte(c.world.declaration()), 0o600); err != nil {
		c.report.problem("%v", err)
		return
	}
	_, err := c.world.command(ctx, "ingest", "--manifest", c.world.manifestFile(), "--connection", "base", os.DevNull)
	if err != nil && ctx.Err() == nil {
		c.report.problem("%v", err)
	}
	c.report.count("declarations")
}

// revoke creates a grant, reads with it, revokes it with a command, and reads again.
func (c *client) revoke(ctx context.Context, _ int) {
	defer pause(ctx, 2*time.Second)
	g, err := c.world.grant(ctx, "Passing")
	if err != nil {
		if ctx.Err() == nil {
			c.report.count("grants not created") // the command may give up while the store is busy
		}
		return
	}
	c.get(ctx, g.Token, "/v1/streams")
	start := time.Now()
	if _, err := c.world.command(ctx, "grants", "revoke", g.ID); err != nil {
		if ctx.Err() == nil {
			c.report.problem("%v", err)
		}
		return
	}
	c.report.revocation(time.Since(start))
	status, answer, err := c.send(ctx, request{token: g.Token, method: http.MethodGet, path: "/v1/streams"})
	if err == nil && status == http.StatusOK {
		c.report.problem("a revoked grant can still read: %.200s", answer)
	}
}

// verify checks that every acknowledged record is stored.
func (a *acknowledged) verify(ctx context.Context, w *world, s *server) error {
	c := &client{world: w, server: s}
	have := map[string]bool{}
	path := "/v1/streams/messages/records?limit=100&fields=id&connection_id=" + w.conns["live"]
	for next, tries := path, 0; next != ""; {
		status, answer, err := c.send(ctx, request{token: w.owner, method: http.MethodGet, path: next})
		if err != nil {
			return err
		}
		if status == http.StatusServiceUnavailable && tries < 600 { // the index may still be rebuilt
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
	for writer, n := range a.next {
		for i := range n {
			if !have[fmt.Sprintf("live-%d-%d", writer, i)] {
				lost++
			}
		}
	}
	if lost > 0 {
		return fmt.Errorf("%d of %d acknowledged records are missing", lost, len(have)+lost)
	}
	fmt.Printf("all acknowledged records are stored, among %d\n", len(have))
	return nil
}

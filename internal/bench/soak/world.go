package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

//go:embed mail.json
var manifest string

// world is the data folder with its connections and tokens.
type world struct {
	program string
	dir     string // all files of this run
	data    string // the program's data folder
	owner   string // token
	conns   map[string]string
	readers []string // tokens of grants that are never revoked

	declarations atomic.Int64
}

// connections are used by different loads: base does not change, live grows, scratch is
// filled and deleted, large contains long texts and many parts.
var connections = []string{"base", "live", "scratch", "large"}

const (
	longTexts  = 20
	longSize   = 3 << 20
	partsOfOne = 15 // of 1 MiB each
)

func prepare(ctx context.Context, o options, dir string) (*world, error) {
	program, err := filepath.Abs(o.program)
	if err != nil {
		return nil, err
	}
	w := &world{program: program, dir: dir, data: filepath.Join(dir, "data"), conns: map[string]string{}}
	if err := os.WriteFile(w.manifestFile(), []byte(w.declaration()), 0o600); err != nil {
		return nil, err
	}
	for _, name := range connections {
		var added struct {
			ID string `json:"connection_id"`
		}
		if err := w.answer(ctx, &added, "connections", "add", "--manifest", w.manifestFile(), "--name", name); err != nil {
			return nil, err
		}
		w.conns[name] = added.ID
	}
	if err := w.ingest(ctx, "base", "messages", func(b *bufio.Writer) {
		for i := range o.records {
			writeMessage(b, fmt.Sprint("base-", i), words(60))
		}
	}); err != nil {
		return nil, err
	}
	if err := w.storeLongTexts(ctx); err != nil {
		return nil, err
	}
	return w, w.createTokens(ctx)
}

// storeLongTexts stores mail like that of an attacker who wants to make reads expensive.
func (w *world) storeLongTexts(ctx context.Context) error {
	err := w.ingest(ctx, "large", "messages", func(b *bufio.Writer) {
		for i := range longTexts {
			writeMessage(b, fmt.Sprint("large-", i), strings.Repeat(words(1000), longSize/7000)+" needle")
		}
	})
	if err != nil {
		return err
	}
	return w.ingest(ctx, "large", "parts", func(b *bufio.Writer) {
		for i := range partsOfOne {
			fmt.Fprintf(b, `{"key":"part-%d","data":{"id":"part-%d","message_id":"large-0","text":%q}}`+"\n", i, i, strings.Repeat("part ", 1<<20/5))
		}
	})
}

func (w *world) createTokens(ctx context.Context) error {
	var owner struct {
		Token string `json:"access_token"`
	}
	if err := w.answer(ctx, &owner, "owner", "token", "create"); err != nil {
		return err
	}
	w.owner = owner.Token
	for i := range 4 {
		g, err := w.grant(ctx, fmt.Sprint("Reader ", i))
		if err != nil {
			return err
		}
		w.readers = append(w.readers, g.Token)
	}
	return nil
}

// issued is a new grant with its token.
type issued struct {
	ID    string `json:"grant_id"`
	Token string `json:"access_token"`
}

func (w *world) grant(ctx context.Context, client string) (g issued, err error) {
	spec := filepath.Join(w.dir, "spec.json")
	text := `{"source":{"connector_key":"mail"},"streams":[{"name":"messages"},{"name":"parts"}]}`
	if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
		return g, err
	}
	return g, w.answer(ctx, &g, "grants", "create", "--client", client, "--spec", spec)
}

func (w *world) manifestFile() string { return filepath.Join(w.dir, "mail.json") }

// declaration returns the next version of the manifest. Every second version also makes
// categories searchable, so that each version rebuilds the index.
func (w *world) declaration() string {
	n := w.declarations.Add(1)
	text := strings.Replace(manifest, `"declaration_version": "1"`, fmt.Sprintf(`"declaration_version": "%d"`, n), 1)
	if n%2 == 0 {
		text = strings.Replace(text, `"lexical_fields": ["subject", "body"]`, `"lexical_fields": ["subject", "body", "category"]`, 1)
	}
	return text
}

// command runs the program on the data folder.
func (w *world) command(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, w.program, append([]string{"--data", w.data, "--quiet"}, args...)...)
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		err = fmt.Errorf("pdpp %s: %w: %.400s", args[0], err, exit.Stderr)
	}
	return out, err
}

// answer runs a command and reads its JSON answer.
func (w *world) answer(ctx context.Context, into any, args ...string) error {
	out, err := w.command(ctx, append(args, "--json")...)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, into)
}

// ingest stores lines through the command.
func (w *world) ingest(ctx context.Context, connection, stream string, write func(*bufio.Writer)) error {
	f, err := os.CreateTemp(w.dir, "lines-*.jsonl")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	b := bufio.NewWriter(f)
	write(b)
	if err := b.Flush(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	_, err = w.command(ctx, "ingest", "--connection", w.conns[connection], "--stream", stream, f.Name())
	return err
}

var vocabulary = strings.Fields(`rent deposit letter garden choir bread train ticket doctor harbour window piano
	translation invoice holiday bicycle kitchen winter lantern orchard market river paper silver thunder violet`)

func words(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(vocabulary[rand.IntN(len(vocabulary))])
		b.WriteByte(' ')
	}
	return b.String()
}

var began = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// writeMessage writes a message as a line of NDJSON.
func writeMessage(b *bufio.Writer, id, body string) {
	sent := began.Add(time.Duration(rand.IntN(5*365*24)) * time.Hour)
	fmt.Fprintf(b, `{"key":%q,"data":{"id":%q,"subject":%q,"body":%q,"category":%q,"sent_at":%q}}`+"\n",
		id, id, words(5), body, vocabulary[rand.IntN(8)], sent.Format(time.RFC3339))
}

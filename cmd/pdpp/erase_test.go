package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// H-29, REC-37: right after a delete of many records a backup contains none of their words,
// and the running server erases them from its files.
func TestDeletedWordsAreErased(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	var put, drop strings.Builder
	for i := range 300 {
		fmt.Fprintf(&put, `{"key":"r%d","data":{"id":"r%[1]d","memo":"xylophonist","amount_minor":5}}`+"\n", i)
		fmt.Fprintf(&drop, `{"key":"r%d","op":"delete"}`+"\n", i)
	}
	lines := filepath.Join(dir, "lines.jsonl")
	if err := os.WriteFile(lines, []byte(put.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out := run(t, "--data", data, "ingest", "--manifest", shared("manifest.json"), "--connection", "giro", "--stream", "entries", "--json", lines)
	connection := regexp.MustCompile(`cin_[a-z2-7]+`).FindString(out)
	run(t, "--data", data, "ingest", "--connection", "giro", shared("entries.jsonl"))
	token := regexp.MustCompile(`pdpp_ot_[\w-]+`).FindString(run(t, "--data", data, "owner", "token", "create"))
	if !hasWord(t, data, "xylophonist") {
		t.Fatal("the word is not in the files before; the test sees nothing")
	}
	p := start(t, "--data", data, "serve", "--listen", "127.0.0.1:0")
	url := p.await(t, p.stderr, listening)
	req, err := http.NewRequest(http.MethodPost, url+"/v1/ingest/entries?connection_id="+connection, strings.NewReader(drop.String()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/x-ndjson")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("ingest: %s", res.Status)
	}
	run(t, "--data", data, "backup", filepath.Join(dir, "copy"))
	if hasWord(t, filepath.Join(dir, "copy"), "xylophonist") {
		t.Error("a backup right after the delete contains a deleted word")
	}
	for end := time.Now().Add(patience); hasWord(t, data, "xylophonist"); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the files of the running server still contain a deleted word")
		}
	}
}

// Without a server the deleting command erases the words from the files.
func TestDeletedByACommand(t *testing.T) { // REC-37
	dir := t.TempDir()
	data, lines := filepath.Join(dir, "data"), filepath.Join(dir, "lines.jsonl")
	for _, form := range []string{`{"key":"r%d","data":{"id":"r%[1]d","memo":"xylophonist"}}`, `{"key":"r%d","op":"delete"}`} {
		var text strings.Builder
		for i := range 300 {
			fmt.Fprintf(&text, form+"\n", i)
		}
		if err := os.WriteFile(lines, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, "--data", data, "ingest", "--manifest", shared("manifest.json"), "--connection", "giro", "--stream", "entries", lines)
	}
	if hasWord(t, data, "xylophonist") {
		t.Error("the files contain a deleted word")
	}
}

// hasWord reports whether a file of a folder contains a word.
func hasWord(t *testing.T, dir, word string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		found = found || bytes.Contains(content, []byte(word))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

package httpx

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/ingest"
	"pdpp/internal/query"
)

// The limits in docs/operations.md are those of the program.
func TestDocumentedLimits(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Limits\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var got []string
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) == 5 && !strings.Contains(line, "MCP") && !strings.Contains(line, "sign-in") && !strings.Contains(line, "password") { // packages mcphttp and signin have those
			got = append(got, strings.TrimSpace(cells[1])+": "+strings.TrimSpace(cells[2]))
		}
	}
	seconds := func(d time.Duration) string { return fmt.Sprintf("%d s", int(d.Seconds())) }
	want := []string{
		"what: limit", "---: ---",
		fmt.Sprintf("requests of a token: %d a minute, bursts of %d (`--rate-limit`)", DefaultRate, bucketSize),
		fmt.Sprintf("open requests of a token: %d", maxPerToken),
		fmt.Sprintf("open requests of the server: %d", MaxInFlight),
		fmt.Sprintf("invalid tokens from an address: %d a minute", maxFailures),
		fmt.Sprintf("headers of a request: %d KiB", maxHeaderBytes>>10),
		"time to send the headers: " + seconds(headerReadTimeout),
		"time to send a body: " + seconds(bodyReadTimeout),
		"time for a read: " + seconds(ReadTimeout),
		"time for a write: " + seconds(RequestTimeout),
		"time without reading the response: " + seconds(stallTimeout),
		"idle connection: " + seconds(idleTimeout),
		fmt.Sprintf("query string: %d KiB", query.MaxQueryBytes>>10),
		fmt.Sprintf("records of a page: %d", pdpp.MaxPage),
		fmt.Sprintf("ingest body: %d MiB, %d lines", ingest.MaxBatchBytes>>20, ingest.MaxBatchLines),
		fmt.Sprintf("blob: %d MiB", ingest.MaxBlob>>20),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/operations.md differs (-program +document)\n%s", diff)
	}
}

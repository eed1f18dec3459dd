package bench

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"testing"
	"testing/iotest"
	"time"

	"pdpp/internal/ingest"
	"pdpp/internal/manifest"
)

func TestCorpusIsDeterministic(t *testing.T) {
	h := sha256.New()
	if _, err := io.Copy(h, NewCorpus().Lines(0, 1000)); err != nil {
		t.Fatal(err)
	}
	const want = "f88b30623a8d63693805d2c25ded8ff826e735bdb7a3758bfbfb81b10c9bee7f"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("digest of 1000 lines = %s, want %s", got, want)
	}
}

func TestLinesMatchAppendLine(t *testing.T) {
	c := NewCorpus()
	var want []byte
	for n := 30; n < 50; n++ {
		want = c.AppendLine(want, n)
	}
	if err := iotest.TestReader(c.Lines(30, 50), want); err != nil {
		t.Error(err)
	}
}

func TestLinesAreAccepted(t *testing.T) {
	m, err := manifest.Parse(mailManifest)
	if err != nil {
		t.Fatal(err)
	}
	c, n, rare := NewCorpus(), 0, 0
	for line := range bytes.Lines(readAll(t, c.Lines(0, 5000))) {
		in, bad := ingest.ParseRecord(line, m.Stream(stream), time.Time{})
		if bad != nil {
			t.Fatalf("line %d is rejected: %s\n%s", n, bad.Message, line)
		}
		if in.ID != c.ID(n) {
			t.Fatalf("line %d has id %s, want %s", n, in.ID, c.ID(n))
		}
		if bytes.Contains(in.Data, []byte(`"category":"`+Rare+`"`)) {
			rare++
		}
		n++
	}
	if n != 5000 || rare == 0 || rare > 50 {
		t.Errorf("%d lines, %d of them rare; want 5000 and a few", n, rare)
	}
}

func readAll(t *testing.T, r io.Reader) []byte {
	t.Helper()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/httpx"
	"pdpp/internal/ingest"
	"pdpp/internal/server"
)

func TestBlobInputs(t *testing.T) { // H-20
	dir := t.TempDir()
	write := func(name string, size int64) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil { // a sparse file costs nothing
			t.Fatal(err)
		}
	}
	write("b/deep/x.txt", 3)
	write(".hidden", 0)
	write("largest", ingest.MaxBlob)
	if err := os.Symlink("/", filepath.Join(dir, "link")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	got, err := blobInputs(dir, "elsewhere")
	want := []blobInput{
		{".hidden", filepath.Join(dir, ".hidden"), 0},
		{"b/deep/x.txt", filepath.Join(dir, "b", "deep", "x.txt"), 3},
		{"largest", filepath.Join(dir, "largest"), ingest.MaxBlob},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(blobInput{})); diff != "" || err != nil {
		t.Errorf("blobInputs: %v (-want +got):\n%s", err, diff)
	}
	write("too large", ingest.MaxBlob+1)
	if _, err := blobInputs(dir, "elsewhere"); pdpp.CodeOf(err) != pdpp.CodeInvalidInput {
		t.Errorf("a file above the limit: %v, want %s", err, pdpp.CodeInvalidInput)
	}
}

// demoServer builds the demo in a new folder and serves it without a rate limit.
func demoServer(t *testing.T, test func(url string, d *demoState)) {
	t.Helper()
	a := &app{Env: Env{Stderr: io.Discard, Now: time.Now}, globals: &globals{}}
	err := a.openInstance(t.Context(), t.TempDir(), "", func(in opened) error {
		d, err := a.buildDemo(t.Context(), in)
		if err != nil {
			return err
		}
		server, err := server.New(server.Config{
			Store: in.store, Blobs: in.blobs, InstanceKey: in.key, Edge: &httpx.Edge{}, Log: slog.New(slog.DiscardHandler), Clock: time.Now,
		})
		if err != nil {
			return err
		}
		front := httptest.NewServer(server.Handler())
		defer front.Close()
		test(front.URL, d)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, url, token string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %.200s, %v", url, res.StatusCode, body, err)
	}
	return body
}

// Everybody who can read a record of the demo can read its attachment.
func TestDemoBlobs(t *testing.T) {
	demoServer(t, func(url string, d *demoState) {
		for name, token := range map[string]string{"client": d.client.value, "owner": d.ownerToken} {
			if n := readAttachments(t, url, token); n < 50 {
				t.Errorf("the %s reads %d attachments", name, n)
			}
		}
	})
}

// readAttachments reads every attachment that a token can read, and counts them.
func readAttachments(t *testing.T, url, token string) (n int) {
	t.Helper()
	for next := "/v1/streams/attachments/records?limit=100&fields=blob_ref"; next != ""; {
		var page struct {
			Data []struct {
				Data struct {
					Ref struct {
						SHA256 string `json:"sha256"`
						Size   int    `json:"size_bytes"`
						URL    string `json:"fetch_url"`
					} `json:"blob_ref"`
				} `json:"data"`
			} `json:"data"`
			Links struct {
				Next string `json:"next"`
			} `json:"links"`
		}
		if err := json.NewDecoder(bytes.NewReader(get(t, url+next, token))).Decode(&page); err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Data {
			ref := r.Data.Ref
			body := get(t, url+ref.URL, token)
			if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != ref.SHA256 || len(body) != ref.Size {
				t.Errorf("%s has %d bytes, want %d of %s", ref.URL, len(body), ref.Size, ref.SHA256)
			}
			n++
		}
		next = page.Links.Next
	}
	return n
}

// The data folder itself is not stored as blobs.
func TestBlobFolderOverlaps(t *testing.T) {
	data := t.TempDir()
	inside := filepath.Join(data, "blobs")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{data, inside, filepath.Dir(data)} {
		if _, err := blobInputs(dir, data); pdpp.CodeOf(err) != pdpp.CodeUsage {
			t.Errorf("blobInputs(%s) with the data folder %s: %v", dir, data, err)
		}
	}
}

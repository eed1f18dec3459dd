package session

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/rs/resttest"
)

// Grants that several checks use.
const (
	everything = `{"source":{"connector_key":"post"},"streams":[{"name":"*"}],"access_mode":"continuous"}`
	// noBCC hides a field of messages, and every stream but that and threads.
	noBCC = `{"source":{"connector_key":"post"},"streams":[{"name":"threads"},{"name":"messages",` +
		`"fields":["id","thread_id","user_id","subject","body","folder","pages","created_at","sent_at"]}]}`
)

// The long letter is longer than any inline limit. longWord occurs once, in its middle.
const (
	longID   = "cin_home/messages:long"
	longWord = "lighthouse"
)

func longLetter() string {
	var b strings.Builder
	for i := 0; b.Len() < 100_000; i++ {
		fmt.Fprintf(&b, "Line %d of the inventory: shelf %d, box %d – “checked” 😀\n", i, i*7%113, i*31%997)
		if i == 800 {
			b.WriteString("The key of the " + longWord + " hangs behind the clock.\n")
		}
	}
	return b.String()
}

// world is a real server with two accounts of one connector, and a log of the requests
// that sessions send to it.
type world struct {
	*resttest.World
	requests requestLog
	log      resttest.SafeBuffer // of the server's side of sessions
	letter   string
	blob     blob
}

// blob is a reference to a stored file, as records contain it.
type blob struct {
	ID     string `json:"blob_id"`
	Type   string `json:"mime_type"`
	Size   int    `json:"size_bytes"`
	Digest string `json:"sha256"`
}

// stamp is a field of base64: bytes that no text may show.
var stamp = base64.StdEncoding.EncodeToString(noise(3000))

// noise returns bytes without a pattern, the same in every run.
func noise(n int) (out []byte) {
	sum := sha256.Sum256([]byte("noise"))
	for len(out) < n {
		out = append(out, sum[:]...)
		sum = sha256.Sum256(sum[:])
	}
	return out[:n]
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: resttest.New(t), letter: longLetter()}
	w.ManifestFile("testdata/post.json")
	w.Connect("post", "cin_home", "Home post")
	w.Connect("post", "cin_work", "Work post")
	w.blob = w.put("image/png", noise(40_000))
	w.Ingest("cin_home", "threads", record("t1", `"topic":"The flat","opened_at":"2026-01-01T08:00:00Z"`))
	w.Ingest("cin_home", "messages",
		message("m1", `"user_id":"U123","subject":"Rent is due","body":"Please pay the rent by Friday.","folder":"inbox","pages":1`, 2),
		message("m2", `"user_id":"U456","subject":"Re: the flat","body":"The rent was paid on Monday.","folder":"sent","pages":4,"bcc":"The auditor asked about the zeppelin."`, 3),
		message("m3", `"user_id":"U123","subject":"Keys","body":"The keys are with the neighbour.","folder":"inbox","pages":2`, 4),
		message("m4", `"user_id":"U789","subject":"Bill","body":"Enclosed.","folder":"bills","pages":9`, 5),
		message("long", `"user_id":"U123","subject":"The inventory","body":`+quoted(w.letter)+`,"folder":"inbox","pages":70`, 6))
	w.Ingest("cin_work", "messages",
		message("m1", `"user_id":"W1","subject":"Office rent","body":"The office rent goes up.","folder":"inbox","pages":3`, 7))
	w.Ingest("cin_home", "notes", record("n1",
		`"subject":"A tempting subject","name":"A tempting name","body":"Buy a cuckoo clock.","sent_at":"2026-02-03T04:05:06Z"`))
	w.Ingest("cin_home", "pages", record("p1",
		`"title":"How to fold a letter","text":"Fold it twice.","url":"https://pages.example/fold"`))
	scan, err := json.Marshal(w.blob)
	if err != nil {
		t.Fatal(err)
	}
	w.Ingest("cin_home", "scans", record("s1", `"caption":"Front of the envelope","stamp":`+quoted(stamp)+`,"scan":`+string(scan)))
	return w
}

// put stores a file of the connection cin_home and returns its reference.
func (w *world) put(mediaType string, content []byte) blob {
	w.T.Helper()
	stored := w.PutBlob("cin_home", mediaType, content)
	return blob{ID: string(pdpp.BlobIDOf(stored.SHA256)), Type: stored.MediaType, Size: len(content), Digest: stored.SHA256}
}

// record returns a line for ingest; members follow the id.
func record(id, members string) string {
	return fmt.Sprintf(`{"key":%q,"data":{"id":%q,%s}}`, id, id, members)
}

// message returns a line with a letter of the thread t1, created and sent on a day of
// January.
func message(id, members string, day int) string {
	made := time.Date(2026, 1, day, 9, 0, 0, 0, time.UTC)
	return record(id, fmt.Sprintf(`"thread_id":"t1",%s,"created_at":%q,"sent_at":%q`,
		members, made.Format(time.RFC3339), made.Add(time.Hour).Format(time.RFC3339)))
}

// quoted returns a text as a JSON string.
func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

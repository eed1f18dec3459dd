package as_test

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"pdpp/internal/as"
	"pdpp/internal/consent"
	"pdpp/internal/rs/resttest"
)

var update = flag.Bool("update", false, "rewrite the answers of the transcripts")

// TestTranscripts replays testdata/*.txtar. Each file of an archive is a step, followed by its
// answer:
//
//	request   a request line, then one parameter per line as "name = value", or a JSON body
//	owner     what the owner does: "approve CONNECTION/STREAM … for DURATION", "deny",
//	          "enter USER_CODE_1"
//	wait      a duration by which the clock advances; it has no answer
//
// Values that differ from run to run have names, such as CODE_1 for the first code, in answers
// and in requests.
func TestTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { replay(t, path) })
	}
}

func replay(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := &player{world: newWorld(t), names: map[string]string{}, counts: map[string]int{}}
	p.define("http://AS", p.URL)
	var out []txtar.File
	for i, step := range archive.Files {
		if step.Name == "answer" {
			continue
		}
		got := p.play(step.Name, strings.TrimSpace(string(step.Data)))
		out = append(out, step)
		if step.Name == "wait" {
			continue
		}
		out = append(out, txtar.File{Name: "answer", Data: []byte(got)})
		want := ""
		if i+1 < len(archive.Files) && archive.Files[i+1].Name == "answer" {
			want = string(archive.Files[i+1].Data)
		}
		if diff := cmp.Diff(want, got); diff != "" && !*update {
			t.Errorf("step %d, %s: the answer differs (-want +got):\n%s", i, step.Data, diff)
		}
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(&txtar.Archive{Comment: archive.Comment, Files: out}), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// player plays the steps of a transcript.
type player struct {
	*world
	names  map[string]string // by value
	counts map[string]int    // of the names with a prefix
	last   string            // id of the latest request of an owner
}

// volatile are the values that get names.
var volatile = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"CLIENT", regexp.MustCompile(`cli_[0-9a-f]{16}`)},
	{"AREQ", regexp.MustCompile(`areq_[A-Za-z0-9_-]{22}`)},
	{"CODE", regexp.MustCompile(`pdpp_ac_[A-Za-z0-9_-]{43}`)},
	{"ACCESS", regexp.MustCompile(`pdpp_at_[A-Za-z0-9_-]{43}`)},
	{"PACKAGE_ACCESS", regexp.MustCompile(`pdpp_pt_[A-Za-z0-9_-]{43}`)},
	{"REFRESH", regexp.MustCompile(`pdpp_rt_[A-Za-z0-9_-]{43}`)},
	{"DEVICE", regexp.MustCompile(`pdpp_dc_[A-Za-z0-9_-]{43}`)},
	{"USER_CODE", regexp.MustCompile(`\b[B-Z]{4}-[B-Z]{4}\b`)},
	{"URI", regexp.MustCompile(`urn:ietf:params:oauth:request_uri:[A-Za-z0-9_-]{43}`)},
	{"GRANT", regexp.MustCompile(`grt_[0-9a-f]{16}`)},
	{"PACKAGE", regexp.MustCompile(`gpkg_[0-9a-f]{16}`)},
}

var requestIDs = regexp.MustCompile(`req_[0-9a-f]{32}`)

func (p *player) define(name, value string) { p.names[value] = name }

// named replaces values by their names.
func (p *player) named(text string) string {
	text = requestIDs.ReplaceAllString(text, "REQUEST_ID")
	text = strings.ReplaceAll(text, url.QueryEscape(p.URL), "http%3A%2F%2FAS")
	text = strings.ReplaceAll(text, p.URL, "http://AS")
	for _, v := range volatile {
		text = v.pattern.ReplaceAllStringFunc(text, func(value string) string {
			if p.names[value] == "" {
				p.counts[v.name]++
				p.names[value] = v.name + "_" + strconv.Itoa(p.counts[v.name])
			}
			return p.names[value]
		})
	}
	return text
}

// meant replaces names by their values. No name is the beginning of another one in a
// transcript, because none has ten values.
func (p *player) meant(text string) string {
	text = strings.ReplaceAll(text, "PACKAGE_ACCESS", "\x00")
	for value, name := range p.names {
		if rest, ok := strings.CutPrefix(name, "PACKAGE_ACCESS"); ok {
			text = strings.ReplaceAll(text, "\x00"+rest, value)
			continue
		}
		text = strings.ReplaceAll(text, name, value)
	}
	return text
}

func (p *player) play(kind, text string) string {
	text = p.meant(text)
	switch kind {
	case "request":
		return p.named(transcript(p.request(text)))
	case "owner":
		return p.named(p.owner(text))
	case "wait":
		d, err := time.ParseDuration(text)
		if err != nil {
			p.T.Fatal(err)
		}
		p.Advance(d)
		return ""
	}
	p.T.Fatalf("%q is no step of a transcript", kind)
	return ""
}

// request sends a request.
func (p *player) request(text string) resttest.Answer {
	line, rest, _ := strings.Cut(text, "\n")
	method, path, _ := strings.Cut(line, " ")
	if strings.HasPrefix(rest, "{") {
		return p.do(method, path, "application/json", rest)
	}
	v := url.Values{}
	var headers []string
	for line := range strings.Lines(rest) {
		line = strings.TrimSpace(line)
		if name, value, ok := strings.Cut(line, " = "); ok {
			v.Add(name, value)
		} else if line != "" {
			headers = append(headers, line)
		}
	}
	if method == "GET" {
		return p.do(method, path+"?"+v.Encode(), "", "", headers...)
	}
	return p.do(method, path, "application/x-www-form-urlencoded", v.Encode(), headers...)
}

// owner does what the owner does on the pages.
func (p *player) owner(text string) string {
	words := strings.Fields(text)
	switch words[0] {
	case "open":
		p.last = words[1]
		req, err := p.as.Request(p.T.Context(), p.last, p.Subject)
		return p.opened(req, err)
	case "enter":
		req, err := p.as.FindUserCode(p.T.Context(), words[1], p.Subject)
		if err == nil {
			p.last = req.ID
		}
		return p.opened(req, err)
	case "deny":
		next, err := p.as.Deny(p.T.Context(), p.URL, p.last, p.Subject)
		return fmt.Sprintf("next: %s\nerror: %v\n", next, err)
	}
	n := len(words)
	approval := p.choose(p.last, consent.Duration(words[n-1]), words[1:n-2]...)
	next, err := p.as.Approve(p.T.Context(), approval)
	return fmt.Sprintf("next: %s\nerror: %v\n", next, err)
}

func (p *player) opened(req *as.Request, err error) string {
	if err != nil {
		return fmt.Sprintf("error: %v\n", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "client: %s (%s)\nredirect: %s\ndevice: %v %s\naudience: %v\noutcome: %q\n",
		req.Client.Name, req.Client.Mode, req.RedirectURI, req.Device, req.UserCode, req.Audience, req.Outcome)
	for _, source := range req.Offer.Sources {
		for _, s := range source.Streams {
			fmt.Fprintf(&b, "offer: %s/%s\n", source.Connection, s.Name)
		}
	}
	return b.String()
}

// transcript returns an answer as transcripts contain it.
func transcript(a resttest.Answer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d\n", a.Status)
	for _, name := range []string{"Allow", "Cache-Control", "Content-Type", "Location", "Pragma", "Retry-After", "Www-Authenticate"} {
		for _, value := range a.Header.Values(name) {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	b.WriteByte('\n')
	b.Write(a.Body)
	if len(a.Body) == 0 {
		b.WriteString("(no body)\n")
	}
	return b.String()
}

package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/rs/resttest"
)

// visit is the argument of a check: a world, and the transport and revision of sessions
// with it.
type visit struct {
	*testing.T
	*world
	transport transport
	era       string
}

// session is a session of the official client with one token.
type session struct {
	*testing.T
	*sdk.ClientSession
	w      *world
	token  string
	tools  []*sdk.Tool
	output map[string]*jsonschema.Resolved
}

// as opens a session under a grant.
func (v *visit) as(spec string) *session {
	v.Helper()
	token, _ := v.Grant(spec)
	return v.with(token)
}

// with opens a session with a token and lists the tools, as clients do.
func (v *visit) with(token string) *session {
	v.Helper()
	s := &session{T: v.T, ClientSession: v.transport.connect(v.T, v.world, token, v.era), w: v.world, token: token, output: map[string]*jsonschema.Resolved{}}
	if got := s.InitializeResult().ProtocolVersion; got != v.era {
		v.Fatalf("revision %s, want %s", got, v.era)
	}
	list, err := s.ListTools(v.Context(), nil)
	if err != nil {
		v.Fatal(err)
	}
	s.tools = list.Tools
	for _, tool := range s.tools {
		var schema jsonschema.Schema
		remarshal(v.T, tool.OutputSchema, &schema)
		if s.output[tool.Name], err = schema.Resolve(nil); err != nil {
			v.Fatalf("output schema of %s: %v", tool.Name, err)
		}
	}
	v.requests.take()
	return s
}

// other returns a visit to a new world, which the check may change.
func (v *visit) other() *visit {
	v.Helper()
	return &visit{T: v.T, world: newWorld(v.T), transport: v.transport, era: v.era}
}

// answer is the result of a tool call.
type answer struct {
	*testing.T
	call     string
	failed   bool
	blocks   []string // the text blocks
	text     string   // all of them
	links    []*sdk.ResourceLink
	sc       resttest.Answer // structured output
	requests []string        // to the resource server
	last     request         // of these
}

// call calls a tool with arguments in JSON. The result must fit the output schema of the
// tool.
func (s *session) call(tool, args string) answer {
	s.Helper()
	res, err := s.CallTool(s.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		s.Fatalf("%s %s: %v", tool, args, err)
	}
	a := answer{T: s.T, call: tool + " " + args, failed: res.IsError}
	for _, a.last = range s.w.requests.take() {
		a.requests = append(a.requests, a.last.target)
	}
	for _, c := range res.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			a.blocks = append(a.blocks, c.Text)
		case *sdk.ResourceLink:
			a.links = append(a.links, c)
		default:
			s.Errorf("%s: a block of type %T", a.call, c)
		}
	}
	a.text = strings.Join(a.blocks, "\n")
	var value any
	body := remarshal(s.T, res.StructuredContent, &value)
	a.sc = resttest.Answer{T: s.T, Body: body}
	if err := s.output[tool].Validate(value); err != nil {
		s.Errorf("%s: structured output does not fit its schema: %v\n%.600s", a.call, err, body)
	}
	if a.text == "" {
		s.Errorf("%s: the text is missing", a.call)
	}
	return a
}

// do makes a call that must succeed.
func (s *session) do(tool, args string) answer {
	s.Helper()
	a := s.call(tool, args)
	if a.failed {
		s.Fatalf("%s: %s", a.call, a.text)
	}
	return a
}

// refused makes a call that must fail with a code, in text and structured output.
func (s *session) refused(tool, args, code string) answer {
	s.Helper()
	a := s.call(tool, args)
	if !a.failed || a.sc.Code() != code || !strings.HasPrefix(a.text, "error "+code) {
		s.Fatalf("%s: want the error %s, got %.600s\n%.600s", a.call, code, a.text, a.sc.Body)
	}
	return a
}

// refusedEarly makes a call that must fail before a request is sent.
func (s *session) refusedEarly(tool, args, code string) answer {
	s.Helper()
	a := s.refused(tool, args, code)
	a.wantRequests()
	return a
}

// again sends the last request of a call once more.
func (s *session) again(a answer) resttest.Answer {
	s.Helper()
	return s.w.Get(s.token, a.last.raw, "Prefer: "+a.last.prefer)
}

// tool returns a listed tool.
func (s *session) tool(name string) *sdk.Tool {
	s.Helper()
	i := slices.IndexFunc(s.tools, func(t *sdk.Tool) bool { return t.Name == name })
	if i < 0 {
		s.Fatalf("the tool %s is missing", name)
	}
	return s.tools[i]
}

// wantRequests compares the requests that a call sent.
func (a answer) wantRequests(want ...string) {
	a.Helper()
	if !slices.Equal(want, a.requests) {
		a.Errorf("%s sent %q to the server, want %q", a.call, a.requests, want)
	}
}

// says checks that the text contains parts.
func (a answer) says(parts ...string) {
	a.Helper()
	for _, part := range parts {
		if !strings.Contains(a.text, part) {
			a.Errorf("%s: %q is not in the text:\n%.2000s", a.call, part, a.text)
		}
	}
}

// hides checks that no part is anywhere in the result.
func (a answer) hides(parts ...string) {
	a.Helper()
	all := a.text + string(a.sc.Body)
	for _, l := range a.links {
		all += l.URI + l.Name
	}
	for _, part := range parts {
		if strings.Contains(all, part) {
			a.Errorf("%s: %q is in the result:\n%.2000s", a.call, part, all)
		}
	}
}

// wants compares values of the structured output, by path. Numbers are compared as text.
func (a answer) wants(values map[string]any) {
	a.Helper()
	for path, want := range values {
		if got := a.sc.At(path); fmt.Sprint(got) != fmt.Sprint(want) {
			a.Errorf("%s: %s = %.300v, want %.300v", a.call, path, got, want)
		}
	}
}

// str returns a string of the structured output.
func (a answer) str(path string) string {
	a.Helper()
	s, ok := a.sc.At(path).(string)
	if !ok {
		a.Fatalf("%s: %s is not a string: %v", a.call, path, a.sc.At(path))
	}
	return s
}

// list returns a list of the structured output.
func (a answer) list(path string) []any {
	a.Helper()
	l, _ := a.sc.At(path).([]any)
	return l
}

// isBody checks that a value of the structured output is the body of an answer of the
// resource server.
func (a answer) isBody(path string, want resttest.Answer) {
	a.Helper()
	if diff := cmp.Diff(want.OK().JSON(), a.sc.At(path)); diff != "" {
		a.Errorf("%s: %s differs from the server's answer (-want +got):\n%.2000s", a.call, path, diff)
	}
}

var offered = regexp.MustCompile(`(?m)^ *(more|next|later|previous): ([a-z_]+) (\{.*\})`)

// step is a call that a text offers.
type step struct{ tool, args string }

// offers returns the calls that the text offers under a label.
func (a answer) offers(label string) (steps []step) {
	for _, m := range offered.FindAllStringSubmatch(a.text, -1) {
		var args json.RawMessage
		if m[1] != label {
			continue
		}
		if err := json.NewDecoder(strings.NewReader(m[3])).Decode(&args); err != nil {
			a.Errorf("%s: the offered call %q is not JSON: %v", a.call, m[0], err)
		}
		steps = append(steps, step{m[2], string(args)})
	}
	return steps
}

// offer returns the first call that the text offers under a label.
func (a answer) offer(label string) step {
	a.Helper()
	steps := a.offers(label)
	if len(steps) == 0 {
		a.Fatalf("%s: the text has no line %s:\n%s", a.call, label, a.text)
	}
	return steps[0]
}

var item = regexp.MustCompile(`(?m)^\d+\. ("(?:[^"\\]|\\.)*")`)

// ids returns the ids of the records or hits that the text shows.
func (a answer) ids() (ids []string) {
	a.Helper()
	for _, m := range item.FindAllStringSubmatch(a.text, -1) {
		var id string
		if err := json.Unmarshal([]byte(m[1]), &id); err != nil {
			a.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// token returns a quoted value of the first line of the text.
func (a answer) token(name string) string {
	a.Helper()
	first, _, _ := strings.Cut(a.text, "\n")
	_, rest, ok := strings.Cut(first, " "+name+`="`)
	value, _, closed := strings.Cut(rest, `"`)
	if !ok || !closed {
		a.Fatalf("%s: %s is missing in %q", a.call, name, first)
	}
	return value
}

// handle returns an argument of the call that the text offers under a label.
func (a answer) handle(label, name string) string {
	a.Helper()
	value, ok := decoded(a, a.offer(label).args)[name].(string)
	if !ok {
		a.Fatalf("%s: the call has no %s: %v", a.call, name, a.offer(label))
	}
	return value
}

// window returns the field window that the text quotes.
func (a answer) window() (text string) {
	a.Helper()
	_, rest, ok := strings.Cut(a.text, "\ntext=")
	if !ok || json.Unmarshal([]byte(rest), &text) != nil {
		a.Fatalf("%s: no window in %s", a.call, a.text)
	}
	return text
}

// remarshal encodes a value, decodes it into to, and returns the JSON.
func remarshal(t *testing.T, from, to any) []byte {
	t.Helper()
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false)
	err := e.Encode(from)
	if err == nil {
		err = json.Unmarshal(raw.Bytes(), to)
	}
	if err != nil {
		t.Fatal(err)
	}
	return raw.Bytes()
}

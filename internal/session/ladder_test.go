package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/mcp/limits"
)

// How to reach content that a result does not show.

// follow makes an offered call.
func (s *session) follow(st step) answer {
	s.Helper()
	return s.do(st.tool, st.args)
}

// chars returns a part of a text by characters.
func chars(text string, from, to int) string {
	runes := []rune(text)
	return string(runes[from:min(to, len(runes))])
}

func cutHit(v *visit) {
	s := v.as(everything)
	a := s.do("search", `{"q":"`+longWord+`"}`)
	total := len([]rune(v.letter))
	a.says(`1. "`+longID+`"`, `| body="…`, "<mark>"+longWord+"</mark>", fmt.Sprintf(`"(cut:%d)`, total))
	step := a.offer("more")
	args := decoded(v, step.args)
	if step.tool != "read_record_field" || args["id"] != longID || args["field_path"] != "body" {
		v.Errorf("the offered call is %+v", step)
	}
	a.wants(map[string]any{
		"read_tool": "read_record_field", "results.0.id": longID, "results.0.reads.0.field_path": "body", "data.data.0.snippet.field": "body",
	})
	if n := len([]rune(a.str("data.data.0.snippet.text"))); n > limits.SearchPreview+len("<mark></mark>……") {
		v.Errorf("a preview of %d characters", n)
	}
	if n := len(a.text) + len(a.sc.Body); n > 6_000 {
		v.Errorf("a hit of %d bytes: the letter is in it", n)
	}
	if got := s.follow(step).window(); !strings.Contains(got, "hangs behind the clock") {
		v.Errorf("the offered call reads %.300q", got)
	}
}

// allWindows follows the calls that texts offer, to the end of a field and back.
func allWindows(v *visit) {
	s := v.as(everything)
	for tool, args := range map[string]string{
		"query_records": `{"stream":"messages","filter":{"folder":"inbox"},"connection_id":"cin_home"}`, "search": `{"q":"` + longWord + `"}`, "fetch": `{"id":"` + longID + `"}`,
	} {
		step := s.do(tool, args).offer("more")
		a := s.follow(step)
		offset := int(decoded(v, step.args)["offset_chars"].(float64))
		if got := a.window(); got != chars(v.letter, offset, offset+limits.WindowDefault) {
			v.Errorf("the hint of %s reads %.200q", tool, got)
		}
		a.says(fmt.Sprintf("chars=%d..", offset), fmt.Sprintf("total=%d", len([]rune(v.letter))))
	}
	a := s.do("read_record_field", `{"id":"`+longID+`","field_path":"body","limit_chars":16384}`)
	there := a.window()
	cursor := a.token("next_cursor")
	if got := s.do("read_record_field", `{"id":"`+longID+`","field_path":"body","cursor":`+quoted(cursor)+`,"limit_chars":10}`).window(); got != chars(v.letter, 16384, 16394) {
		v.Errorf("the cursor %s reads %q", cursor, got)
	}
	for next := a.offers("next"); len(next) > 0; next = a.offers("next") {
		a = s.follow(next[0])
		there += a.window()
	}
	if there != v.letter {
		v.Fatalf("forwards the windows have %d bytes, want %d", len(there), len(v.letter))
	}
	back := a.window()
	for previous := a.offers("previous"); len(previous) > 0; previous = a.offers("previous") {
		a = s.follow(previous[0])
		back = a.window() + back
	}
	if back != v.letter {
		v.Errorf("backwards the windows have %d bytes, want %d", len(back), len(v.letter))
	}
}

func exclusiveSelectors(v *visit) {
	s := v.as(everything)
	for _, extra := range []string{`"offset_chars":1`, `"q":"a"`, `"offset_chars":1,"q":"a"`} {
		a := s.refusedEarly("read_record_field", `{"id":"`+longID+`","field_path":"body","cursor":"5",`+extra+`}`, "invalid_field_window_selector")
		a.says("`cursor` continues a window and is exclusive with `offset_chars` and `q`")
	}
}

// read reads a resource.
func (s *session) read(uri string) []*sdk.ResourceContents {
	s.Helper()
	res, err := s.ReadResource(s.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		s.Fatalf("resources/read %s: %v", uri, err)
	}
	return res.Contents
}

// facts reads a window resource: its text, and its second content.
func facts(s *session, uri string) (text string, rest answer) {
	s.Helper()
	contents := s.read(uri)
	if len(contents) != 2 || contents[0].URI != uri || contents[0].MIMEType != "text/plain" || contents[1].MIMEType != "application/json" {
		s.Fatalf("the resource %s is %+v", uri, contents)
	}
	rest = answer{T: s.T, call: uri}
	rest.sc.T, rest.sc.Body = s.T, []byte(contents[1].Text)
	return contents[0].Text, rest
}

func sameResource(v *visit) {
	s := v.as(everything)
	templates, err := s.ListResourceTemplates(v.Context(), nil)
	if err != nil {
		v.Fatal(err)
	}
	var forms []string
	for _, t := range templates.ResourceTemplates {
		forms = append(forms, t.URITemplate)
	}
	for _, want := range []string{"pdpp://record/{handle}", "pdpp://field-window/{handle}"} {
		if !slices.Contains(forms, want) {
			v.Errorf("%s is not among %q", want, forms)
		}
	}

	a := s.do("read_record_field", `{"id":"`+longID+`","field_path":"body","offset_chars":100,"limit_chars":700}`)
	text, rest := facts(s, a.str("resource.uri"))
	if text != a.str("window.text") || text != chars(v.letter, 100, 800) {
		v.Errorf("the resource reads %.200q, the tool %.200q", text, a.str("window.text"))
	}
	rest.wants(map[string]any{"next_uri": a.str("resource.next_uri"), "window.start_chars": 100, "window.end_chars": 800, "record.id": longID, "field.path": "body"})

	// The links of a result lead to the end of the text.
	fetched := s.do("fetch", `{"id":"`+longID+`"}`)
	i := slices.IndexFunc(fetched.links, func(l *sdk.ResourceLink) bool { return strings.HasPrefix(l.URI, "pdpp://field-window/") })
	if i < 0 {
		v.Fatalf("fetch of a long letter links no window: %+v", fetched.links)
	}
	got := fetched.str("text")
	for uri := fetched.links[i].URI; uri != ""; {
		text, rest := facts(s, uri)
		got += text
		uri, _ = rest.sc.At("next_uri").(string)
	}
	if got != v.letter {
		v.Errorf("the document and its windows have %d bytes, want %d", len(got), len(v.letter))
	}

	small := s.do("fetch", `{"id":"cin_home/messages:m1"}`)
	v.requests.take()
	contents := s.read(small.links[0].URI)
	want := v.Get(s.token, "/v1/streams/messages/records/m1?connection_id=cin_home").OK()
	record := want
	record.Body = []byte(contents[0].Text)
	if diff := cmp.Diff(want.JSON(), record.JSON()); diff != "" || !strings.HasPrefix(small.links[0].URI, "pdpp://record/") {
		v.Errorf("the record differs (-want +got):\n%s", diff)
	}
}

// outsideTheGrant uses handles from a wide grant in sessions of narrower grants.
func outsideTheGrant(v *visit) {
	wide := v.as(everything)
	window := wide.do("read_record_field", `{"id":"cin_home/messages:m2","field_path":"bcc"}`).str("resource.uri")
	record := wide.do("fetch", `{"id":"cin_home/messages:m2"}`).links[0].URI
	for _, c := range []struct{ name, grant, code string }{
		{"field", `{"source":{"connector_key":"post"},"streams":[{"name":"messages","fields":["id","subject","sent_at"]}]}`, "field_not_granted"},
		{"stream", `{"source":{"connector_key":"post"},"streams":[{"name":"notes"}]}`, "grant_stream_not_allowed"},
		{"connection", `{"source":{"connector_key":"post"},"streams":[{"name":"messages","connections":["cin_work"]}]}`, "connection_not_found"},
		{"time", `{"source":{"connector_key":"post"},"streams":[{"name":"messages","time_range":{"since":"2026-01-05T00:00:00Z"}}]}`, "not_found"},
	} {
		s := v.as(c.grant)
		a := s.relayed("read_record_field", `{"id":"cin_home/messages:m2","field_path":"bcc"}`, c.code)
		a.hides("zeppelin")
		s.wantUnreadable(window, c.code)
		if c.name == "field" { // the record is in the grant, the field is not
			contents := s.read(record)
			if strings.Contains(contents[0].Text, "zeppelin") || !strings.Contains(contents[0].Text, "Re: the flat") {
				v.Errorf("the record reads %s", contents[0].Text)
			}
			continue
		}
		s.wantUnreadable(record, c.code)
		s.relayed("fetch", `{"id":`+quoted(record)+`}`, c.code).hides("zeppelin", "Re: the flat")
	}
}

// wantUnreadable checks that reading a resource fails with a code.
func (s *session) wantUnreadable(uri, code string) {
	s.Helper()
	res, err := s.ReadResource(s.Context(), &sdk.ReadResourceParams{URI: uri})
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		s.Fatalf("resources/read %s: %+v, %v", uri, res, err)
	}
	if got := decoded(&visit{T: s.T}, string(rpc.Data))["code"]; got != code || strings.Contains(rpc.Error()+string(rpc.Data), "zeppelin") {
		s.Errorf("resources/read %s: %v %s, want %s", uri, rpc, rpc.Data, code)
	}
	s.w.requests.take()
}

func previewAndRead(v *visit) {
	s := v.as(everything)
	for tool, args := range map[string]string{
		"query_records": `{"stream":"messages","connection_id":"cin_home"}`, "search": `{"q":"inventory","streams":["messages"]}`, "fetch": `{"id":"` + longID + `"}`,
	} {
		a := s.do(tool, args)
		a.says("Line 1 of the ") // a preview, not only a mark
		if strings.Contains(a.text, "Line 1500 ") || len(a.text)+len(a.sc.Body) > 2*limits.ResultMax {
			v.Errorf("%s: %d bytes of text, %d of structured output", tool, len(a.text), len(a.sc.Body))
		}
		step := a.offer("more")
		if step.tool != "read_record_field" {
			v.Errorf("%s offers %+v", tool, step)
		}
		if got := s.follow(step).window(); got == "" || !strings.Contains(v.letter, got) {
			v.Errorf("%s: the offered call reads %.200q", tool, got)
		}
	}
	a := s.do("fetch", `{"id":"`+longID+`"}`)
	a.wants(map[string]any{
		"metadata.text_truncated": true, "metadata.text_total_chars": len([]rune(v.letter)),
		"metadata.content_ladder.fields.0.read.tool": "read_record_field", "metadata.content_ladder.fields.0.read.args.offset_chars": len([]rune(a.str("text"))),
	})
	a = s.do("query_records", `{"stream":"messages","connection_id":"cin_home"}`)
	a.wants(map[string]any{
		"content_ladder.read_tool": "read_record_field", "content_ladder.records.0.id": longID, "content_ladder.records.0.fields.0.field_path": "body",
		"content_ladder.records.0.fields.0.size_chars": len([]rune(v.letter)), "content_ladder.records.0.fields.0.offset_chars": limits.PreviewField,
	})
}

// nothingLost makes every call that texts offer, under a narrow grant.
func nothingLost(v *visit) {
	s := v.as(noBCC)
	followed := 0
	for _, c := range [][2]string{
		{"query_records", `{"stream":"messages"}`},
		{"query_records", `{"stream":"threads","expand":["messages"]}`},
		{"search", `{"q":"inventory"}`},
		{"search", `{"q":"` + longWord + `"}`},
		{"fetch", `{"id":"` + longID + `"}`},
		{"fetch", `{"id":"cin_home/threads:t1","expand":["messages"]}`},
		{"schema", `{}`},
		{"schema", `{"stream":"messages"}`},
	} {
		a := s.do(c[0], c[1])
		if strings.Contains(a.text, "(cut:") && len(a.offers("more")) == 0 {
			v.Errorf("%s is cut and offers nothing: %s", a.call, a.text)
		}
		for _, step := range append(a.offers("more"), a.offers("next")...) {
			followed++
			s.follow(step).hides("zeppelin")
		}
	}
	if followed < 7 {
		v.Errorf("only %d calls were offered", followed)
	}

	// Where a list is cut in a text, what it shows and what the offered call reads are one text.
	a := s.do("query_records", `{"stream":"messages","filter":{"id":"long"}}`)
	_, shown, _ := strings.Cut(a.text, `body=`)
	shown, _, _ = strings.Cut(shown, `…"(cut:`)
	shown = decoded(v, `{"text":`+shown+`"}`)["text"].(string)
	if got := shown + s.follow(a.offer("more")).window(); got != chars(v.letter, 0, len([]rune(got))) || len(got) < 4000 {
		v.Errorf("the list and the offered call return %.200q … of %d bytes", got, len(got))
	}

	v.crowd().readAll()
}

// readAll reads more records than fit into a text, by making the calls that it offers.
func (v *visit) readAll() {
	v.Helper()
	s := v.as(everything)
	next, reruns := step{"query_records", `{"stream":"messages","filter":{"user_id":"U1"},"limit":100}`}, 0
	var ids []string
	for {
		a := s.follow(next)
		if !strings.Contains(a.text, "\nnot shown: ") {
			ids = append(ids, a.ids()...)
		} else if reruns++; reruns > 3 {
			v.Fatalf("no limit is small enough: %s", next.args)
		}
		if len(a.offers("next")) == 0 {
			break
		}
		next = a.offer("next")
	}
	if slices.Sort(ids); len(ids) != 90 || len(slices.Compact(ids)) != 90 || reruns == 0 {
		v.Errorf("%d records were read, want 90, after %d reruns", len(ids), reruns)
	}
}

// textAlone answers a question from texts, without structured output.
func textAlone(v *visit) {
	s := v.as(everything)
	found := s.do("search", `{"q":"`+longWord+`"}`)
	if ids := found.ids(); len(ids) != 1 {
		v.Fatalf("hits %q", ids)
	}
	document := s.do("fetch", `{"id":`+quoted(found.ids()[0])+`}`)
	if !strings.Contains(document.text, `"title":"The inventory"`) || !strings.Contains(document.text, `more: read_record_field {"id":"`+longID+`"`) {
		v.Errorf("the document is %.300s", document.text)
	}
	if got := s.follow(found.offer("more")).text; !strings.Contains(got, "The key of the "+longWord+" hangs behind the clock.") {
		v.Errorf("the window is %.300s", got)
	}
	list := s.do("query_records", `{"stream":"messages","filter":{"user_id":"U123"},"limit":2}`)
	list.says(`"`+longID+`" "The inventory" at="2026-01-06T10:00:00Z"`, `"cin_home/messages:m3" "Keys"`, `body="The keys are with the neighbour."`, "\nnext: query_records {")
	s.do("fetch", `{"id":`+quoted(list.ids()[1])+`}`).says("The keys are with the neighbour.")
	s.follow(list.offer("next")).says(`"cin_home/messages:m1"`)
}

// withoutResources reads with tools what links lead to.
func withoutResources(v *visit) {
	s := v.as(everything)
	for _, c := range [][2]string{{"fetch", `{"id":"` + longID + `"}`}, {"fetch", `{"id":"cin_home/messages:m1"}`}, {"read_record_field", `{"id":"` + longID + `","field_path":"body"}`}} {
		a := s.do(c[0], c[1])
		if len(a.links) == 0 {
			v.Fatalf("%s has no links", a.call)
		}
		for _, link := range a.links {
			switch {
			case strings.HasPrefix(link.URI, "pdpp://record/"):
				s.do("fetch", `{"id":"`+link.URI+`"}`).wants(map[string]any{"id": a.str("id"), "text": a.str("text")})
			case strings.HasPrefix(link.URI, "pdpp://field-window/"):
				want, _ := facts(s, link.URI)
				label := map[string]string{"fetch": "more", "read_record_field": "next"}[c[0]]
				if got := s.follow(a.offer(label)).window(); got != want {
					v.Errorf("%s: the tool reads %.100q, the resource %.100q", a.call, got, want)
				}
			default:
				v.Errorf("%s links %s", a.call, link.URI)
			}
		}
	}
}

func readInline(v *visit) {
	s := v.as(everything)
	a := s.do("fetch", `{"id":"cin_home/messages:m3"}`)
	a.says("the text above is the complete text of the record", "The keys are with the neighbour.")
	a.wants(map[string]any{"text": "The keys are with the neighbour.", "metadata.text_truncated": nil})
	a = s.do("read_record_field", `{"id":"cin_home/messages:m3","field_path":"body"}`)
	a.says("complete=true")
	if a.window() != "The keys are with the neighbour." || len(a.offers("next")) > 0 {
		v.Errorf("the window is %s", a.text)
	}
	a = s.do("query_records", `{"stream":"messages","filter":{"id":"m3"}}`)
	a.says(`body="The keys are with the neighbour."`)
	if strings.Contains(a.text, "export") || strings.Contains(a.text, "more:") {
		v.Errorf("a small record needs more: %s", a.text)
	}

	// A text just within the inline limit is shown whole.
	v = v.other()
	text := chars(v.letter, 0, 50_000)
	v.Ingest("cin_home", "messages", message("fits", `"subject":"It fits","body":`+quoted(text), 9))
	v.as(everything).do("fetch", `{"id":"cin_home/messages:fits"}`).wants(map[string]any{"text": text, "metadata.text_truncated": nil})
}

package journeys

import (
	"slices"
	"strings"
)

func byWords(w *walker) {
	hits := w.do("mail", "search", args{"q": "Kratzer Balkontür Zinsen", "streams": []string{"messages"}, "limit": 3}).items()
	if len(hits) == 0 {
		w.Fatal("no hits")
	}
	i := slices.IndexFunc(hits, func(h item) bool { return strings.HasPrefix(h.title, "Kaution: Abzug") })
	if i < 0 {
		w.Fatalf("the letter is not among the hits: %v", hits)
	}
	doc := w.do("mail", "fetch", args{"id": hits[i].id}).document()
	expected := find(w.w.letters(), "subject", "Kaution: Abzug")
	w.want("text", doc.text, expected.str("body_text"))
}

// middleOfLetter makes the call that a hit offers; the answer is in the window.
func middleOfLetter(w *walker) {
	hits := w.do("mail", "search", args{"q": letterClue}).items()
	if len(hits) != 1 || !hits[0].cut["body_text"] {
		w.Fatalf("hits = %v", hits)
	}
	win := w.follow("mail", hits[0].more).window()
	_, rest, _ := strings.Cut(win.text, letterClue+" liegt in ")
	answer, _, _ := strings.Cut(rest, ".")
	w.want("place", answer, letterAnswer)
	if win.start < win.total/3 || win.end > win.total*2/3 {
		w.Errorf("the window %d..%d of %d is not the middle", win.start, win.end, win.total)
	}
}

// wholeLetter fetches a document and reads the rest in windows.
func wholeLetter(w *walker) {
	doc := w.do("mail", "fetch", args{"id": "personal/messages:" + letterID}).document()
	if doc.more == nil {
		w.Fatal("a truncated document offers no call")
	}
	all := doc.text
	s := &step{doc.more.tool, doc.more.args.with("limit_chars", 16384)}
	for s != nil {
		win := w.follow("mail", s).window()
		if got := len([]rune(all)); win.start != got {
			w.Fatalf("the window starts at %d, %d chars were read", win.start, got)
		}
		all += win.text
		s = win.next
	}
	if all != w.w.letter {
		w.Errorf("%d bytes were read, the letter has %d", len(all), len(w.w.letter))
	}
}

func aroundWord(w *walker) {
	win := w.do("mail", "read_record_field", args{
		"id": "personal/messages:" + letterID, "field_path": "body_text", "q": "schlüssel liegt", "before_chars": 5, "after_chars": 14,
	}).window()
	if !strings.Contains(win.text, letterAnswer) {
		w.Errorf("window = %q", win.text)
	}
}

// cutInList reads the rest of a text that a list truncates.
func cutInList(w *walker) {
	a := args{"stream": "messages", "filter": args{"id": letterID}, "fields": []string{"id", "body_text"}}
	rows := w.do("mail", "query_records", a).items()
	if len(rows) != 1 || !rows[0].cut["body_text"] {
		w.Fatalf("rows = %v", rows)
	}
	shown := strings.TrimSuffix(rows[0].fields["body_text"], "…")
	win := w.follow("mail", rows[0].more).window()
	if !strings.HasPrefix(w.w.letter, shown+win.text) {
		w.Errorf("the window at %d does not begin where the list ends (%d chars)", win.start, len([]rune(shown)))
	}
}

func pageToEnd(w *walker) {
	rows, _ := w.pages("mail", "query_records", args{"stream": "contacts", "limit": 7})
	var got, want []string
	for _, r := range rows {
		got = append(got, r.id+" "+r.title)
	}
	for _, l := range w.w.records(mail, "contacts") {
		want = append(want, l.connection+"/contacts:"+l.str("id")+" "+l.str("display_name"))
	}
	slices.Sort(got)
	slices.Sort(want)
	w.want("address book", strings.Join(got, "\n"), strings.Join(slices.Compact(want), "\n"))
}

func searchToEnd(w *walker) {
	a := args{"q": "Kaution", "streams": []string{"messages"}, "limit": 5}
	count := w.do("mail", "search", a).total()
	hits, _ := w.pages("mail", "search", a)
	ids := map[string]bool{}
	for _, h := range hits {
		ids[h.id] = true
	}
	w.want("hits", text(len(ids)), count)
	deposit := find(w.w.letters(), "subject", "Kaution: Abzug")
	if !ids["personal/messages:"+deposit.str("id")] || len(ids) != len(hits) {
		w.Errorf("%d hits, %d ids, the letter among them: %t", len(hits), len(ids), ids["personal/messages:"+deposit.str("id")])
	}
}

// filtered finds the filters in the schema and uses them.
func filtered(w *walker) {
	index := w.do("mail", "schema", args{})
	if !slices.Contains(index.streams(), "messages") {
		w.Fatalf("streams = %v", index.streams())
	}
	flags := w.do("mail", "schema", args{"stream": "messages"}).flags()
	if !strings.Contains(flags["sent_at"], "r=gte") || !strings.Contains(flags["folder"], "eq") {
		w.Fatalf("flags = %v", flags)
	}
	page := w.do("mail", "query_records", args{
		"stream": "messages", "filter": args{"sent_at": args{"gte": "2026-01-01"}, "folder": "sent"}, "sort": "sent_at", "limit": 1, "count": "exact",
	})
	var expected []line
	for _, l := range w.w.letters() {
		if l.str("sent_at") >= "2026" && l.str("folder") == "sent" {
			expected = append(expected, l)
		}
	}
	slices.SortFunc(expected, func(a, b line) int { return strings.Compare(a.str("sent_at"), b.str("sent_at")) })
	w.want("count", page.total(), text(len(expected)))
	rows := page.items()
	if len(rows) != 1 {
		w.Fatalf("rows = %v", rows)
	}
	w.want("first", rows[0].title, expected[0].str("subject"))
}

// resumeChanges reads all notes, then only changes.
func resumeChanges(w *walker) {
	rows, last := w.pages("notes", "query_records", args{"stream": "notes", "changes_since": "beginning", "limit": 100, "fields": []string{"id", "title"}})
	if len(rows) < 10 || last.bookmark() == "" {
		w.Fatalf("%d notes, bookmark %q", len(rows), last.bookmark())
	}
	key := "note-" + strings.NewReplacer("/", "-", " ", "-").Replace(w.Name())
	w.w.Ingest("notebook", "notes", `{"key":"`+key+`","data":{"id":"`+key+`","title":"New","text":"The kettle is in the blue box.","created_at":"2026-10-30T10:00:00Z"}}`)
	rows, last = w.pages("notes", "query_records", args{"stream": "notes", "changes_since": last.bookmark()})
	if len(rows) != 1 {
		w.Fatalf("%d changes, want 1", len(rows))
	}
	w.want("id", rows[0].id, "notebook/notes:"+key)
	w.want("text", rows[0].fields["text"], "The kettle is in the blue box.")
	w.w.Ingest("notebook", "notes", `{"key":"`+key+`","op":"delete"}`)
	rows, _ = w.pages("notes", "query_records", args{"stream": "notes", "changes_since": last.bookmark()})
	if len(rows) != 1 || !rows[0].deleted || rows[0].id != "notebook/notes:"+key {
		w.Errorf("changes = %v, want one deletion", rows)
	}
}

// ambiguousRecord chooses a connection by its label.
func ambiguousRecord(w *walker) {
	got := w.call("mail", "fetch", args{"id": "contacts:con-mara"})
	w.want("code", got.code(), "ambiguous_connection")
	doc := w.do("mail", "fetch", args{"id": "contacts:con-mara", "connection_id": w.choose(got, "Studio mail")}).document()
	expected := find(w.w.records([]string{"work"}, "contacts"), "id", "con-mara")
	w.want("title", doc.title, expected.str("display_name"))
	for _, a := range expected.Data["addresses"].([]any) {
		if !strings.Contains(doc.whole, text(a)) {
			w.Errorf("%s is not in %s", a, doc.whole)
		}
	}
}

// choose returns the id of the connection with a label.
func (w *walker) choose(from result, label string) string {
	w.Helper()
	for _, c := range from.choices() {
		if c.label == label {
			return c.id
		}
	}
	w.Fatalf("no connection %q among %v", label, from.choices())
	return ""
}

func ambiguousSchema(w *walker) {
	got := w.call("mail", "schema", args{"stream": "messages", "detail": "full"})
	w.want("code", got.code(), "ambiguous_schema_detail")
	id := w.choose(got, "Studio mail")
	w.do("mail", "schema", args{"stream": "messages", "detail": "full", "connection_id": id})
	if r, ok := got.(textReader); ok {
		for i, s := range r.steps("next", r.lines...) {
			w.want("connection", text(s.args["connection_id"]), got.choices()[i].id)
			if w.follow("mail", s).code() != "" {
				w.Errorf("%v fails", s)
			}
		}
	}
	rows := w.do("mail", "query_records", args{"stream": "messages", "connection_id": id, "limit": 1}).items()
	if len(rows) != 1 || !strings.HasPrefix(rows[0].id, "work/") {
		w.Errorf("rows = %v", rows)
	}
}

// attachmentOfLetter reads a letter with its files.
func attachmentOfLetter(w *walker) {
	rows := w.do("mail", "query_records", args{"stream": "messages", "filter": args{"attachment_count": args{"gte": 3}}, "fields": []string{"subject"}, "limit": 5}).items()
	if len(rows) == 0 {
		w.Fatal("no letter")
	}
	doc := w.do("mail", "fetch", args{"id": rows[0].id, "expand": []string{"attachments"}}).document()
	_, letter, _ := strings.Cut(rows[0].id, ":")
	n := 0
	for _, l := range w.w.records(mail, "attachments") {
		if l.str("message_id") != letter {
			continue
		}
		n++
		for _, field := range []string{"filename", "mime_type", "size_bytes"} {
			if !strings.Contains(doc.text, l.str(field)) {
				w.Errorf("%s %q is not in %s", field, l.str(field), doc.text)
			}
		}
	}
	if n < 3 {
		w.Errorf("%d files of %s were ingested", n, letter)
	}
}

func attachmentByName(w *walker) {
	hits := w.do("mail", "search", args{"q": "Protokoll Einzug", "streams": []string{"attachments"}}).items()
	i := slices.IndexFunc(hits, func(h item) bool { return h.title == "Protokoll_Einzug_2019.pdf" })
	if i < 0 {
		w.Fatalf("hits = %v", hits)
	}
	doc := w.do("mail", "fetch", args{"id": hits[i].id}).document()
	expected := find(w.w.records(mail, "attachments"), "filename", "Protokoll_Einzug_2019.pdf").Data["blob_ref"].(map[string]any)
	for _, fact := range []string{"mime_type", "size_bytes"} {
		w.want(fact, text(doc.binary["blob_ref"][fact]), text(expected[fact]))
	}
	w.want("export", text(doc.binary["blob_ref"]["export"]), "GET /v1/blobs/"+text(expected["blob_id"]))
	if !strings.Contains(text(doc.binary["blob_ref"]), text(expected["sha256"])) {
		w.Errorf("the digest is not in %v", doc.binary["blob_ref"])
	}
}

func unusualID(w *walker) {
	hits := w.do("chat", "search", args{"q": "Familjen", "streams": []string{"conversations"}}).items()
	if len(hits) != 1 {
		w.Fatalf("hits = %v", hits)
	}
	doc := w.do("chat", "fetch", args{"id": hits[0].id}).document()
	expected := find(w.w.records([]string{"phone"}, "conversations"), "title", "Familjen")
	w.want("title", doc.title, "Familjen")
	if count := "message_count: " + expected.str("message_count"); !strings.Contains(doc.text, count) {
		w.Errorf("%q is not in %q", count, doc.text)
	}
}

// nestedList reads a field that is a list.
func nestedList(w *walker) {
	expected := w.w.records([]string{"phone"}, "conversations")[0]
	rows, _ := w.pages("chat", "query_records", args{"stream": "conversations"})
	i := slices.IndexFunc(rows, func(r item) bool { return r.title == expected.str("title") })
	if i < 0 {
		w.Fatalf("%q is not among the rows", expected.str("title"))
	}
	w.want("participants", rows[i].fields["participants"], expected.str("participants"))
}

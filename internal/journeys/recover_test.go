package journeys

import (
	"slices"
	"strconv"
	"strings"
)

// refused makes a call that must fail with a code, and the call that the error offers.
func (w *walker) refused(tool string, a args, code string) result {
	w.Helper()
	got := w.call("mail", tool, a)
	w.want("code", got.code(), code)
	next := w.follow("mail", got.next())
	if next.code() != "" {
		w.Fatalf("the call that %s offers fails: %s", code, next.code())
	}
	return next
}

// offers checks that a schema names a field with a flag.
func (w *walker) offers(s result, field, flag string) {
	w.Helper()
	if !strings.Contains(s.flags()[field], flag) {
		w.Errorf("the field %s is not shown with %s: %v", field, flag, s.flags())
	}
}

func wrongStream(w *walker) {
	index := w.refused("query_records", args{"stream": "transactions"}, "grant_stream_not_allowed")
	if !slices.Contains(index.streams(), "messages") {
		w.Errorf("streams = %v", index.streams())
	}
}

func wrongField(w *walker) {
	w.offers(w.refused("query_records", args{"stream": "messages", "fields": []string{"sender"}}, "unknown_field"), "from_name", "t=person")
}

func hiddenField(w *walker) {
	w.offers(w.refused("query_records", args{"stream": "messages", "fields": []string{"from_address"}}, "field_not_granted"), "from_name", "t=person")
}

func stringFilter(w *walker) {
	w.offers(w.refused("query_records", args{"stream": "messages", "filter": "folder=inbox"}, "invalid_filter"), "folder", "eq")
}

func wrongOperator(w *walker) {
	w.offers(w.refused("query_records", args{"stream": "messages", "filter": args{"subject": args{"gte": "a"}}}, "invalid_request"), "sent_at", "r=gte")
}

func wrongSort(w *walker) {
	w.offers(w.refused("query_records", args{"stream": "messages", "sort": "subject"}, "invalid_sort"), "sent_at", "t=timestamp")
}

func wrongCursor(w *walker) {
	rows := w.refused("query_records", args{"stream": "messages", "limit": 2, "cursor": "pc1.nothing"}, "invalid_cursor").items()
	if len(rows) != 2 {
		w.Errorf("%d rows, want 2", len(rows))
	}
}

func wrongBookmark(w *walker) {
	page := w.refused("query_records", args{"stream": "contacts", "changes_since": "2026-01-01", "limit": 100}, "invalid_cursor")
	if len(page.items()) == 0 || page.cursor()+page.bookmark() == "" {
		w.Errorf("%d rows, and no next page", len(page.items()))
	}
}

func wrongRelation(w *walker) {
	w.offers(w.refused("query_records", args{"stream": "messages", "expand": []string{"contacts"}}, "invalid_expand"), "attachment_count", "eq")
}

func wrongConnection(w *walker) {
	index := w.refused("query_records", args{"stream": "messages", "connection_id": "cin_nothing"}, "connection_not_found")
	rows := w.do("mail", "query_records", args{"stream": "messages", "connection_id": w.choose(index, "Personal mail"), "limit": 1}).items()
	if len(rows) != 1 || !strings.HasPrefix(rows[0].id, "personal/") {
		w.Errorf("rows = %v", rows)
	}
}

// wrongID has no offered call; the message of both halves shows the form of an id.
func wrongID(w *walker) {
	got := w.call("mail", "fetch", args{"id": letterID})
	w.want("code", got.code(), "invalid_id")
	hits := w.do("mail", "search", args{"q": letterClue}).items()
	if len(hits) != 1 {
		w.Fatalf("hits = %v", hits)
	}
	w.want("title", w.do("mail", "fetch", args{"id": hits[0].id}).document().title, "Das ganze Inventar")
}

func missingRecord(w *walker) {
	rows := w.refused("fetch", args{"id": "personal/messages:p99999"}, "not_found").items()
	if len(rows) == 0 || !strings.HasPrefix(rows[0].id, "personal/messages:") {
		w.Errorf("rows = %v", rows)
	}
}

func missingWords(w *walker) {
	win := w.refused("read_record_field", args{"id": "personal/messages:" + letterID, "field_path": "body_text", "q": "Schatzkarte"}, "query_not_found").window()
	if win.start != 0 || !strings.HasPrefix(w.w.letter, win.text) || win.text == "" {
		w.Errorf("window = %.100q at %d", win.text, win.start)
	}
}

func missingField(w *walker) {
	doc := w.refused("read_record_field", args{"id": "personal/messages:" + letterID, "field_path": "labels"}, "field_not_found").document()
	w.want("title", doc.title, "Das ganze Inventar")
}

func wrongMode(w *walker) {
	hits := w.refused("search", args{"q": letterClue, "mode": "semantic"}, "not_found").items()
	if len(hits) != 1 || hits[0].title != "Das ganze Inventar" {
		w.Errorf("hits = %v", hits)
	}
}

func fullWithoutStream(w *walker) {
	index := w.refused("schema", args{"detail": "full"}, "invalid_request")
	if !slices.Contains(index.streams(), "contacts") {
		w.Errorf("streams = %v", index.streams())
	}
}

// outOfRange finds the bound in the message.
func outOfRange(w *walker) {
	got := w.call("mail", "query_records", args{"stream": "contacts", "limit": 1000})
	w.want("code", got.code(), "invalid_argument")
	param, message := got.errorDetail()
	w.want("param", param, "limit")
	bound := 0
	for word := range strings.FieldsFuncSeq(message, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(word); err == nil {
			bound = max(bound, n)
		}
	}
	w.do("mail", "query_records", args{"stream": "contacts", param: bound})
}

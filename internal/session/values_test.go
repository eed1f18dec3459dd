package session

import "strings"

// Values that a client may handle wrongly.

func nothingInvisible(v *visit) {
	v = v.other()
	const hidden, shown = "Rent\u200b\u202e\ufeff\U000e0049\U000e0067 is due", "Rent is due"
	v.Ingest("cin_home", "messages", message("h1", `"subject":`+quoted(hidden)+`,"body":`+quoted(hidden+" zyzzyva")+`,"folder":"inbox"`, 9))
	s := v.as(everything)
	for tool, args := range map[string]string{
		"query_records": `{"stream":"messages","connection_id":"cin_home","limit":1}`, "search": `{"q":"zyzzyva"}`,
		"fetch": `{"id":"cin_home/messages:h1"}`, "read_record_field": `{"id":"cin_home/messages:h1","field_path":"body"}`,
	} {
		if a := s.do(tool, args); !strings.Contains(a.text, shown) || strings.ContainsAny(a.text, "\u200b\u202e\ufeff\U000e0049\U000e0067") {
			v.Errorf("%s shows %+q", a.call, a.text)
		}
	}
	s.do("fetch", `{"id":"cin_home/messages:h1"}`).wants(map[string]any{"title": shown, "text": shown + " zyzzyva"})
}

// hugeNumber reads a record with a number beyond float64 with a client that decodes
// numbers as float64.
func hugeNumber(v *visit) {
	v = v.other()
	v.Ingest("cin_home", "messages", message("h1", `"subject":"Stars","body":"Counted.","pages":1e400`, 9))
	s := v.as(everything)
	a := s.do("query_records", `{"stream":"messages","connection_id":"cin_home","limit":1}`)
	a.wants(map[string]any{"data.data.0.data.pages": "1e400"})
	a.says("pages=1e400")
	a = s.do("fetch", `{"id":"cin_home/messages:h1"}`)
	a.document()
	a.wants(map[string]any{"metadata.fields.pages": "1e400"})
	s.do("aggregate", `{"stream":"messages","metric":"max","field":"pages"}`).says("1e400")
}

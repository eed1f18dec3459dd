package cli

import (
	"net/url"
	"strings"

	"pdpp/internal/setup"
)

// tour is the text that the demo prints: addresses, tokens, and examples to try.
type tour struct {
	url, dir, program string
	adapter           setup.Place
	demo              *demoState
	color             bool
}

// example is one command to try, with a part of its answer.
type example struct{ title, command, answer string }

func (t tour) text() string {
	var b strings.Builder
	b.WriteString("\n" + t.bold("The demo is running.") + "\n\n")
	b.WriteString("Mara Lindqvist does not exist; her " + count(t.demo.records, "record", "records") + " are invented.\n")
	b.WriteString("A client named \"" + demoClient + "\" may read her mail since 2025, without the senders' addresses.\n\n")
	b.WriteString(table(
		[]string{"  server", t.url},
		[]string{"  streams", t.url + "/v1/streams"},
		[]string{"  tools", t.url + "/mcp"},
		[]string{"  data", t.dir},
	))
	b.WriteString("\nPaste the three lines at the end into another terminal. Then try these commands in order.\n")
	b.WriteString("The arrow shows a part of each answer. (curl -g sends brackets in a URL unchanged.)\n")
	t.writeExamples(&b, t.clientExamples())
	b.WriteString("\n" + t.bold("With an assistant: add the server, then ask") + "\n")
	for _, line := range t.assistant() {
		b.WriteString("  " + line + "\n")
	}
	b.WriteString("For other programs: " + quote(t.program) + " " + setupFor(t.url, t.adapter.CacheRoot) + "\n")
	b.WriteString("(" + strings.Join(clientNames(), ", ") + ")\n")
	b.WriteString("\n" + t.bold("Over HTTP, where pdpp is not installed: the same tools (instead of the line above; the Inspector needs Node 22.19)") + "\n")
	for _, line := range t.overHTTP() {
		b.WriteString("  " + line + "\n")
	}
	// Revoking the grant also ends the assistant's access, so it comes last.
	t.writeExamples(&b, t.revokeExamples())
	b.WriteString("\nCtrl-C stops the demo. A new start creates a new grant and new tokens. With --reset it also undoes your changes:\n")
	b.WriteString(quote(t.program) + " demo --data " + quote(t.dir) + " --reset\n")
	if t.demo.again {
		b.WriteString("Tokens of an earlier start no longer work.\n")
	}
	b.WriteString("\n" + t.bold("Paste these three lines into another terminal:") + "\n\n")
	b.WriteString("    export URL=" + t.url + "\n")
	b.WriteString("    export TOKEN=" + t.demo.client.value + "\n")
	b.WriteString("    export OWNER_TOKEN=" + t.demo.ownerToken + "\n\n")
	return b.String()
}

func (t tour) writeExamples(b *strings.Builder, examples []example) {
	for _, s := range examples {
		b.WriteString("\n" + t.bold(s.title) + "\n    " + s.command + "\n    → " + s.answer + "\n")
	}
}

// assistant returns two lines to paste: the recipe of setup, and a question.
func (t tour) assistant() []string {
	claude, _ := setup.For("claude-code", t.adapter)
	return []string{
		strings.TrimSpace(claude.Recommended.Steps[0].Snippet),
		`claude "` + demoQuestion + `"`,
	}
}

// withToken is the end of a shell line that takes the token from a variable.
const withToken = ` --header "Authorization: Bearer $TOKEN"`

// overHTTP returns two lines to paste: an assistant with a token, and the Inspector for
// people without an assistant.
func (t tour) overHTTP() []string {
	return []string{
		"claude mcp add --scope user --transport http pdpp " + quote(t.url+"/mcp") + withToken,
		"npx @modelcontextprotocol/inspector@latest --cli " + quote(t.url+"/mcp") + " --transport http" + withToken +
			` --method tools/call --tool-name search --tool-arg "q=Brandt Kaution"`,
	}
}

// demoQuestion contains words of the message that answers it, because search is by words.
const demoQuestion = "What did Brandt write about the Kaution? Use pdpp."

func (t tour) bold(s string) string {
	if !t.color {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

const (
	asClient = `curl -sg -H "Authorization: Bearer $TOKEN" `
	asOwner  = `curl -sg -H "Authorization: Bearer $OWNER_TOKEN" `
)

func (t tour) clientExamples() []example {
	letter := url.PathEscape(t.demo.letter)
	list := `"$URL/v1/streams/messages/records?filter[folder]=inbox&filter[sent_at][gte]=2026-01-01&sort=-sent_at&fields=id,subject,sent_at&limit=3"`
	return append([]example{
		{"Is the server up?", `curl -s "$URL/healthz"`, `{"status":"ok"}`},
		{"The streams that this client can read", asClient + `"$URL/v1/streams"`, `"name":"messages"`},
		{"The schema in short", asClient + `"$URL/v1/schema?view=compact"`, `"attachments"`},
		{"The schema of one stream: its fields, and which queries they support", asClient + `"$URL/v1/streams/messages"`, `"object":"stream_metadata"`},
		{"Records: a filter, an order, some fields, a limit", asClient + list, `"has_more":true`},
		{
			"The next page: links.next of the answer",
			"NEXT=$(" + asClient + list + ` | sed -n 's/.*"next":"\([^"]*\)".*/\1/p'); ` + asClient + `"$URL$NEXT"`, `"object":"record"`,
		},
		{"How many there are", asClient + `"$URL/v1/streams/messages/records?filter[folder]=inbox&count=exact&limit=1&fields=id"`, `"kind":"exact"`},
		{"One record by its id", asClient + `"$URL/v1/streams/messages/records/` + letter + `"`, `"id":"` + t.demo.letter + `"`},
		{"The same one with its attachments", asClient + `"$URL/v1/streams/messages/records/` + letter + `?expand=attachments"`, `"expanded":`},
		{
			"The headers of the first attachment, which can be read whole or in ranges",
			"FILE=$(" + asClient + `"$URL/v1/streams/messages/records/` + letter + `?expand=attachments" | sed 's/"fetch_url":"/\n/' | sed -n '2s/".*//p'); ` +
				asClient + `-I "$URL$FILE"`, `"sha256-`,
		},
		{"Long texts shortened to 64 characters", asClient + `-H "Prefer: pdpp-field-preview=64" "$URL/v1/streams/messages/records?limit=2"`, `"truncated_fields":`},
		{"The rest of a long text, 100 characters of it", asClient + `"$URL/v1/streams/messages/records/` + letter + `/field-window?field=body_text&offset_chars=64&limit_chars=100"`, `"start_chars":64`},
		{"Search for the deposit and the parquet, in German", asClient + `"$URL/v1/search?q=Kaution+Parkett&streams=messages&limit=1"`, `<mark>Kaution</mark>`},
		{"Search for the deposit in English, over all streams", asClient + `"$URL/v1/search?q=deposit&limit=3"`, `<mark>deposit</mark>`},
		{"Search for rain, in Japanese", asClient + `--get --data-urlencode "q=雨" "$URL/v1/search?limit=3"`, `<mark>雨</mark>`},
		{"Messages per month, in the time zone of Hamburg", asClient + `"$URL/v1/streams/messages/aggregate?metric=count&group_by_time=sent_at&granularity=month&time_zone=Europe/Berlin&order=desc&limit=3"`, `"other_count":`},
		{
			"The search of an assistant: a tool call over HTTP",
			asClient + `-H "Content-Type: application/json" --data '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"q":"Kaution Parkett"}}}' "$URL/mcp"`,
			`<mark>Kaution</mark>`,
		},
		{"Refused: an id that two of her accounts have, without a connection_id", asClient + `"$URL/v1/streams/contacts/records/con-mara"`, `"code":"ambiguous_connection"`},
		{"Refused: a field outside the grant", asClient + `"$URL/v1/streams/messages/records?fields=from_address"`, `"code":"field_not_granted"`},
		{"Refused: a stream of another source", asClient + `"$URL/v1/streams/transactions/records"`, `"code":"grant_stream_not_allowed"`},
	}, t.ownerExamples()...)
}

// ownerExamples returns examples that only the owner can run.
func (t tour) ownerExamples() []example {
	where := `/v1/ingest/notes?connection_id=` + string(t.demo.notes) + `"`
	contacts := `"$URL/v1/streams/contacts/records?changes_since=`
	contact := `{"key":"con-yuki","data":{"id":"con-yuki","display_name":"小林ゆき","city":"奈良市","notes":"Moved in spring."}}`
	note := `{"key":"note-demo","data":{"id":"note-demo","title":"Written by curl","text":"Hello"}}`
	return []example{
		{"The owner reads everything, including a record with an unusual id", asOwner + `"$URL/v1/streams/conversations/records/..%2Ffamily%2Fmalm%C3%B6"`, `"title":"Familjen"`},
		{"What groceries cost her each month", asOwner + `"$URL/v1/streams/transactions/aggregate?metric=sum&field=amount&group_by_time=booked_at&granularity=month&order=desc&limit=3&filter[category]=groceries"`, `"value":-`},
		{
			"A client with a copy of the contacts reads what is new after the owner changed one (also in a field that the client may not read)",
			"SINCE=$(" + asClient + contacts + `beginning&limit=100" | sed -n 's/.*"next_changes_since":"\([^"]*\)".*/\1/p'); ` +
				asOwner + `-H "Content-Type: application/x-ndjson" --data-binary '` + contact + `' "$URL/v1/ingest/contacts?connection_id=` + string(t.demo.mail) + `"; ` +
				asClient + contacts + `$SINCE"`, `"city":"奈良市"`,
		},
		{"The owner adds a record", asOwner + `-H "Content-Type: application/x-ndjson" --data-binary '` + note + `' "$URL` + where, `"records_accepted":1`},
		{"The owner reads it back", asOwner + `"$URL/v1/streams/notes/records/note-demo"`, `"title":"Written by curl"`},
	}
}

// revokeExamples revoke the grant.
func (t tour) revokeExamples() []example {
	own := quote(t.program) + " --data " + quote(t.dir)
	return []example{
		{"The owner lists the grants", own + " grants list", string(t.demo.client.grant.ID)},
		{"The owner revokes this grant, also for the assistant", own + " grants revoke " + string(t.demo.client.grant.ID), "Revoked grant"},
		{"The client can no longer read anything", asClient + `"$URL/v1/streams"`, `"code":"grant_revoked"`},
	}
}

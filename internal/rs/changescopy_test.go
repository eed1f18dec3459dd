package rs_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/rs/resttest"
)

// diaryManifest declares the streams of the diary. memo and mood are granted, secret is not,
// and day is the time that grants are limited by.
const diaryManifest = `{"protocol_version":"0.1.0","declaration_version":"1","source":{"kind":"connector","id":"https://reg.test/c/diary"},"streams":[
	{"name":"days","semantics":"mutable_state","primary_key":["id"],"cursor_field":"day","consent_time_field":"day","selection":{"fields":true,"resources":true},
	"schema":{"type":"object","properties":{"id":{"type":"string"},"memo":{"type":["string","null"]},"mood":{"type":["string","null"]},
		"secret":{"type":["string","null"]},"day":{"type":["string","null"],"format":"date"}}}},
	{"name":"dreams","semantics":"mutable_state","primary_key":["id"],"selection":{"fields":true,"resources":true},
	"schema":{"type":"object","properties":{"id":{"type":"string"}}}}]}`

const daysPath = "/v1/streams/days/records"

// diaryConnections are the connections of the diary. The first two are granted.
var diaryConnections = []string{"cin_1", "cin_2", "cin_3"}

// twins are two worlds that differ only outside a grant. Every write goes to full. Only
// writes of records that are visible before or after go to lean, without hidden fields.
type twins struct {
	full, lean       *resttest.World
	fullTok, leanTok string
	fullID, leanID   pdpp.GrantID

	since, until string   // days; "" if not limited
	resources    []string // nil: all
	days         map[string]string
	serial       int
}

func newTwins(t *rapid.T, full, lean *resttest.World) *twins {
	tw := &twins{days: map[string]string{}}
	parts := `"fields":["id","memo","mood"]`
	if rapid.Bool().Draw(t, "day granted") {
		parts = `"fields":["id","memo","mood","day"]`
	}
	if rapid.Bool().Draw(t, "in time") {
		tw.since, tw.until = "2026-03-05", "2026-03-10"
		parts += `,"time_range":{"since":"2026-03-05","until":"2026-03-10"}`
	}
	if rare(t, 2, "by id") {
		tw.resources = []string{"a", "b", "c"}
		parts += `,"resources":["a","b","c"]`
	}
	spec := `{"source":{"connector_key":"diary"},"streams":[{"name":"days","instance_ids":["cin_1","cin_2"],` + parts + `}]}`
	newOwner := func(w *resttest.World) *resttest.World {
		name := fmt.Sprint(w.Now().UnixNano())
		w.Advance(time.Nanosecond)
		w = w.As(w.Owner(name))
		w.Manifest(diaryManifest)
		for _, c := range diaryConnections {
			w.Connect("diary", c, "")
		}
		return w
	}
	tw.full, tw.lean = newOwner(full), newOwner(lean)
	tw.fullTok, tw.fullID = tw.full.Grant(spec)
	tw.leanTok, tw.leanID = tw.lean.Grant(spec)
	return tw
}

// sees reports whether a record with this day is visible. The day "none" means no record.
func (tw *twins) sees(conn, id, day string) bool {
	return day != "none" && conn != "cin_3" && (tw.resources == nil || slices.Contains(tw.resources, id)) &&
		(tw.since == "" || day >= tw.since && day < tw.until)
}

// write draws a write and applies it to full, and to lean if it is visible.
func (tw *twins) write(t *rapid.T) {
	conn := rapid.SampledFrom(diaryConnections).Draw(t, "connection")
	id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "id")
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0:
		tw.serial++
		tw.full.Ingest(conn, "dreams", fmt.Sprintf(`{"key":"dream%d","data":{}}`, tw.serial))
	case 1:
		for _, w := range []*resttest.World{tw.full, tw.lean} {
			deleteRecords(w, w.OwnerToken(), daysPath+"?connection_id="+conn)
		}
		for key := range tw.days {
			if strings.HasSuffix(key, "@"+conn) {
				delete(tw.days, key)
			}
		}
	case 2, 3:
		tw.put(t, conn, id, "none")
	default:
		day := rapid.SampledFrom([]string{"2026-03-05", "2026-03-09", "2026-03-10", "2026-03-04", ""}).Draw(t, "day")
		tw.put(t, conn, id, day)
	}
}

// put writes or deletes one record.
func (tw *twins) put(t *rapid.T, conn, id, day string) {
	before, was := tw.days[id+"@"+conn]
	if !was {
		before = "none"
	}
	inside := tw.sees(conn, id, before) || tw.sees(conn, id, day)
	if day == "none" {
		delete(tw.days, id+"@"+conn)
		line := fmt.Sprintf(`{"key":%q,"op":"delete","emitted_at":"2026-04-01T00:00:00Z"}`, id)
		tw.full.Ingest(conn, "days", line)
		if inside {
			tw.lean.Ingest(conn, "days", line)
		}
		return
	}
	tw.days[id+"@"+conn] = day
	shown := fmt.Sprintf(`"id":%q,"memo":%q,"mood":%q`, id, rapid.SampledFrom([]string{"x", "y"}).Draw(t, "memo"), rapid.SampledFrom([]string{"fine", "low"}).Draw(t, "mood"))
	if day != "" {
		shown += fmt.Sprintf(`,"day":%q`, day)
	}
	secret := fmt.Sprintf(`,"secret":%q`, strings.Repeat("s", rapid.SampledFrom([]int{1, 2, 20_000}).Draw(t, "secret")))
	const line = `{"key":%q,"data":{%s},"emitted_at":"2026-04-01T00:00:00Z"}`
	tw.full.Ingest(conn, "days", fmt.Sprintf(line, id, shown+secret))
	if inside {
		tw.lean.Ingest(conn, "days", fmt.Sprintf(line, id, shown))
	}
}

// replica is a copy of the records that a list with some parameters shows.
type replica struct {
	params  url.Values
	marks   [2]string         // bookmarks in full and lean; initially ""
	records map[string]string // id@connection to data
	seen    int               // items of the last session
}

// ask sends the same request to both worlds, each with its own cursor, and fails unless the
// answers are the same.
func (tw *twins) ask(t *rapid.T, q url.Values, param string, values [2]string) [2]resttest.Answer {
	send := func(w *resttest.World, token, value string) resttest.Answer {
		own := url.Values{}
		for k, v := range q {
			own[k] = v
		}
		own.Set(param, value)
		return w.Get(token, daysPath+"?"+own.Encode(), fixedID)
	}
	a, b := send(tw.full, tw.fullTok, values[0]), send(tw.lean, tw.leanTok, values[1])
	if diff := cmp.Diff(normalized(b, tw.leanID), normalized(a, tw.fullID)); diff != "" || a.Status != 200 {
		t.Fatalf("%s with %s: %d and %d (-lean +full):\n%s", q.Encode(), param, b.Status, a.Status, diff)
	}
	return [2]resttest.Answer{a, b}
}

// session reads the changes since the bookmark of the replica and applies them. meanwhile is
// called between two pages.
func (tw *twins) session(t *rapid.T, k *replica, params url.Values, meanwhile func()) (marks [2]string) {
	q := url.Values{"limit": {fmt.Sprint(rapid.IntRange(1, 4).Draw(t, "limit"))}}
	for name, v := range params {
		q[name] = v
	}
	param, values := "changes_since", k.marks
	if values[0] == "" {
		values = [2]string{"beginning", "beginning"}
	}
	k.seen = 0
	for {
		answers := tw.ask(t, q, param, values)
		k.apply(t, answers[0])
		for i, a := range answers {
			values[i], _ = a.At("next_cursor").(string)
			marks[i], _ = a.At("next_changes_since").(string)
		}
		if values[0] == "" {
			return marks
		}
		param = "cursor"
		meanwhile()
	}
}

func (k *replica) apply(t *rapid.T, a resttest.Answer) {
	var page struct {
		Data []struct {
			ID, Connection string
			ConnectionID   string `json:"connection_id"`
			Deleted        bool
			Data           json.RawMessage
		}
	}
	if err := json.Unmarshal(a.Body, &page); err != nil {
		t.Fatal(err)
	}
	for _, item := range page.Data {
		k.seen++
		if item.Deleted {
			delete(k.records, item.ID+"@"+item.ConnectionID)
		} else {
			k.records[item.ID+"@"+item.ConnectionID] = string(item.Data)
		}
	}
}

// catchUp reads one session, or one for each connection with the same bookmark, because a
// client may change its selection between sessions (REC-33).
func (tw *twins) catchUp(t *rapid.T, k *replica, meanwhile func()) {
	if k.marks[0] == "" || k.params.Has("connection_id") || rapid.Bool().Draw(t, "one session") {
		k.marks = tw.session(t, k, k.params, meanwhile)
		return
	}
	var marks [2]string
	seen := 0
	for i, conn := range diaryConnections[:2] {
		q := url.Values{"connection_id": {conn}}
		for name, v := range k.params {
			q[name] = v
		}
		next := tw.session(t, k, q, func() {})
		if seen += k.seen; i == 0 {
			marks = next
		}
	}
	k.marks, k.seen = marks, seen
}

// check compares the replica with the list (REC-35).
func (tw *twins) check(t *rapid.T, k *replica) {
	list := &replica{records: map[string]string{}}
	list.apply(t, tw.full.Get(tw.fullTok, daysPath+"?limit=100&"+k.params.Encode()).OK())
	if diff := cmp.Diff(list.records, k.records, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("the replica of %q differs (-list +replica):\n%s", k.params.Encode(), diff)
	}
}

// TestChangesKeepCopiesUpToDate draws writes inside and outside a grant, also between two
// pages. A client that applies every page has the records of the list. Nothing outside the
// grant changes a byte of a page. Without a write, there are no changes (REC-32 to REC-36).
func TestChangesKeepCopiesUpToDate(t *testing.T) {
	t.Parallel()
	full, lean := resttest.New(t), resttest.New(t)
	rapid.Check(t, func(rt *rapid.T) {
		tw := newTwins(rt, full, lean)
		var replicas []*replica
		for _, q := range []string{"", "fields=memo", "connection_id=cin_1"} {
			params, _ := url.ParseQuery(q)
			replicas = append(replicas, &replica{params: params, records: map[string]string{}})
		}
		for range rapid.IntRange(1, 8).Draw(rt, "rounds") {
			for range rapid.IntRange(1, 5).Draw(rt, "writes") {
				tw.write(rt)
			}
			tw.catchUp(rt, rapid.SampledFrom(replicas).Draw(rt, "replica"), func() {
				if rapid.Bool().Draw(rt, "meanwhile") {
					tw.write(rt)
				}
			})
		}
		for _, k := range replicas {
			tw.catchUp(rt, k, func() {})
			tw.check(rt, k)
			tw.catchUp(rt, k, func() {})
			if k.seen != 0 {
				rt.Fatalf("%d changes were reported without a write", k.seen)
			}
		}
	})
}

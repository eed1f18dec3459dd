package rs_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/rs/resttest"
)

// populate stores a universe under two new owners of a world and returns the world of the
// owner who grants. keep returns the fields of a stream to store, only selects the records.
func (u *universe) populate(w *resttest.World, keep func(*modelStream) []string, only func(*modelRecord) bool) *resttest.World {
	w.T.Helper()
	owners := fmt.Sprint(w.Now().UnixNano())
	w.Advance(time.Nanosecond) // other names for the next owners within the same millisecond
	mine, theirs := w.As(w.Owner("mine "+owners)), w.As(w.Owner("theirs "+owners))
	manifest := u.manifestJSON(keep)
	mine.Manifest(manifest)
	theirs.Manifest(manifest)
	for _, c := range u.mine {
		mine.Connect("src", c, labelOf(c))
	}
	theirs.Connect("src", u.mine[0], "Label of the other owner")
	theirs.Connect("src", theirConn, labelOf(theirConn))
	type target struct {
		theirs       bool
		conn, stream string
	}
	lines := map[target][]string{}
	for _, r := range u.records {
		if !only(r) {
			continue
		}
		names := append(slices.Clone(keep(r.stream)), "undeclared")
		if keep(r.stream) == nil {
			continue
		}
		to := target{r.theirs, r.conn, r.stream.name}
		lines[to] = append(lines[to], r.line(names))
		if r.deleted {
			lines[to] = append(lines[to], fmt.Sprintf(`{"key":%q,"op":"delete","emitted_at":%q}`, r.id, pdpp.FormatTime(r.emitted)))
		}
	}
	for to, batch := range lines {
		if to.theirs {
			theirs.Ingest(to.conn, to.stream, batch...)
		} else {
			mine.Ingest(to.conn, to.stream, batch...)
		}
	}
	return mine
}

func allFields(s *modelStream) []string {
	var names []string
	for _, f := range s.fields {
		names = append(names, f.name)
	}
	return names
}

func everyRecord(*modelRecord) bool { return true }

// meets reports whether a record meets the filters: REC-19 and REC-20 for the kinds of the
// model.
func (r *modelRecord) meets(filters map[string]string) bool {
	for name, filter := range filters {
		raw, kind := r.values[name], r.stream.kind(name)
		op, operand := "", filter
		if strings.HasPrefix(filter, "[") {
			op, operand, _ = strings.Cut(filter[1:], "]")
		}
		order, ok := compareValues(kind, raw, operand)
		if !ok || op == "" && order != 0 || op == "gte" && order < 0 || op == "lt" && order >= 0 {
			return false
		}
	}
	return true
}

func compareValues(kind, raw, operand string) (int, bool) {
	var text string
	isText := json.Unmarshal([]byte(raw), &text) == nil && raw != "null"
	switch kind {
	case "string":
		return strings.Compare(text, operand), isText
	case "date-time":
		a, ok1 := timeValue(raw)
		b, err := time.Parse(time.RFC3339Nano, operand)
		return a.Compare(b), ok1 && err == nil
	case "integer":
		a, err1 := strconv.Atoi(raw)
		b, err2 := strconv.Atoi(operand)
		return a - b, err1 == nil && err2 == nil
	}
	return 0, false
}

var cursorPattern = regexp.MustCompile(`(?:pc1|sl1|cc1|cs1)\.[A-Za-z0-9_-]+`)

// exposed returns all that a client can read in an answer: headers, body and the decoded
// payload of cursors.
func exposed(a resttest.Answer) string {
	var b strings.Builder
	for name, values := range a.Header {
		b.WriteString(name + ": " + strings.Join(values, ", ") + "\n")
	}
	b.Write(a.Body)
	for _, c := range cursorPattern.FindAllString(string(a.Body), -1) {
		raw, _ := base64.RawURLEncoding.DecodeString(c[len("pc1."):])
		b.Write(raw)
	}
	return b.String()
}

// TestAnswersContainOnlyGrantedData draws a store, a grant and reads. No byte of an answer or of
// the log comes from outside the grant, and the granted data is what a simple model returns
// (REC-27 to REC-30, R12).
func TestAnswersContainOnlyGrantedData(t *testing.T) {
	t.Parallel()
	w := resttest.New(t)
	rapid.Check(t, func(rt *rapid.T) {
		u := drawUniverse(rt)
		mine := u.populate(w, allFields, everyRecord)
		tok, _ := mine.Grant(u.spec())
		logged := len(w.Log.String())
		hidden := u.hidden()
		u.checkCounts(rt, mine.Get(tok, "/v1/streams"))
		var cursors []string
		for range 25 {
			c := drawCall(rt, u, cursors)
			a := mine.Do(c.method, tok, c.target, "", c.headers...)
			u.checkLeaks(rt, c, a, hidden)
			if a.Status == 200 && c.method == "GET" {
				u.checkRecords(rt, c, a)
				u.checkHits(rt, c, a)
				u.checkAggregate(rt, c, a)
			}
			cursors = append(cursors, cursorPattern.FindAllString(string(a.Body), 1)...)
			if a.Status >= 500 {
				rt.Fatalf("%s: status %d: %s", a.Request, a.Status, a.Body)
			}
		}
		log := w.Log.String()[logged:]
		for _, m := range u.markers() {
			if strings.Contains(log, m) {
				rt.Fatalf("the log contains %q:\n%s", m, log)
			}
		}
	})
}

func (u *universe) checkLeaks(t *rapid.T, c call, a resttest.Answer, hidden []string) {
	text := sumPattern.ReplaceAllString(exposed(a), "")
	asked, _ := url.QueryUnescape(c.target)
	relation := a.Status == 403 && c.method == "GET" && a.Code() == string(pdpp.CodeInsufficientScope)
	for _, m := range hidden {
		// An answer may repeat names of the request, and REC-25 names the stream of a relation.
		if strings.Contains(asked, m) || relation && strings.Contains(asked, "rel_"+strings.TrimPrefix(m, "ref_")) {
			continue
		}
		if strings.Contains(text, m) {
			t.Fatalf("%s %s: the answer contains %q, which is outside the grant %s:\n%q", c.method, c.target, m, u.spec(), text)
		}
	}
}

// checkCounts compares GET /v1/streams with the model (S-2, S-3).
func (u *universe) checkCounts(t *rapid.T, a resttest.Answer) {
	type row struct {
		Name         string  `json:"name"`
		ConnectionID string  `json:"connection_id"`
		DisplayName  string  `json:"display_name"`
		Count        int     `json:"record_count"`
		Updated      *string `json:"last_updated"`
	}
	var got struct{ Data []row }
	if err := json.Unmarshal(a.OK().Body, &got); err != nil {
		t.Fatal(err)
	}
	var want []row
	for _, g := range u.grants {
		for _, conn := range g.conns {
			r := row{Name: g.stream.name, ConnectionID: conn, DisplayName: labelOf(conn)}
			for _, rec := range u.visible(g) {
				if rec.conn != conn {
					continue
				}
				r.Count++
				if s := pdpp.FormatTime(rec.emitted); r.Updated == nil || s > *r.Updated {
					r.Updated = &s
				}
			}
			want = append(want, r)
		}
	}
	if diff := cmp.Diff(want, got.Data); diff != "" {
		t.Fatalf("GET /v1/streams under %s (-want +got):\n%s", u.spec(), diff)
	}
}

type wireRecord struct {
	RecordID   string                     `json:"record_id"`
	ID         string                     `json:"id"`
	Stream     string                     `json:"stream"`
	Connection string                     `json:"connection_id"`
	Data       map[string]json.RawMessage `json:"data"`
	Expanded   map[string]wireList        `json:"expanded"`
}

type wireList struct {
	Data    []wireRecord `json:"data"`
	HasMore bool         `json:"has_more"`
	Meta    struct {
		Count struct {
			Kind  string
			Value int
		}
	}
}

// checkRecords compares the records of an answer with the model: each is visible and has only
// granted values, and a plain list has all of them.
func (u *universe) checkRecords(t *rapid.T, c call, a resttest.Answer) {
	if !strings.Contains(c.target, "/records") {
		return
	}
	var list wireList
	var one wireRecord
	if c.stream == "" {
		if err := json.Unmarshal(a.Body, &one); err != nil {
			t.Fatal(err)
		}
		if one.ID == "" {
			one.ID = one.RecordID // a field window
		}
		list.Data = []wireRecord{one}
	} else if err := json.Unmarshal(a.Body, &list); err != nil {
		t.Fatal(err)
	}
	u.checkVisible(t, list.Data, strings.Contains(strings.Join(c.headers, ""), "Prefer"))
	if c.stream == "" || !c.plain {
		return
	}
	n := 0
	for _, r := range u.visible(u.grantOf(c.stream)) {
		if r.meets(c.filters) {
			n++
		}
	}
	if list.Meta.Count.Kind == "exact" && list.Meta.Count.Value != n {
		t.Fatalf("%s counts %d, want %d under %s", c.target, list.Meta.Count.Value, n, u.spec())
	}
	if complete := !list.HasMore; complete && len(list.Data) != n || !complete && len(list.Data) >= n {
		t.Fatalf("%s shows %d records of %d, has_more %t", c.target, len(list.Data), n, list.HasMore)
	}
}

func (u *universe) checkVisible(t *rapid.T, records []wireRecord, cut bool) {
	for _, r := range records {
		g := u.grantOf(r.Stream)
		i := slices.IndexFunc(u.records, func(m *modelRecord) bool {
			return g.sees(m) && m.id == r.ID && m.conn == r.Connection
		})
		if i < 0 {
			t.Fatalf("record %s of %s on %s is not visible under %s", r.ID, r.Stream, r.Connection, u.spec())
		}
		for name, value := range r.Data {
			if !slices.Contains(g.fields, name) || !cut && string(value) != u.records[i].values[name] {
				t.Fatalf("record %s shows %s=%s under %s", r.ID, name, value, u.spec())
			}
		}
		for _, list := range r.Expanded {
			u.checkVisible(t, list.Data, cut)
		}
	}
}

// TestUngrantedDataDoesNotChangeAnswers: answers are the same bytes whether or not ungranted
// records, connections, streams and fields exist (S-6).
func TestUngrantedDataDoesNotChangeAnswers(t *testing.T) {
	t.Parallel()
	full, lean := resttest.New(t), resttest.New(t)
	rapid.Check(t, func(rt *rapid.T) {
		u := drawUniverse(rt)
		granted := func(s *modelStream) []string {
			g := u.grantOf(s.name)
			if g == nil {
				return nil
			}
			if !g.since.IsZero() && !slices.Contains(g.fields, s.consent()) {
				return append(slices.Clone(g.fields), s.consent())
			}
			return g.fields
		}
		visible := func(r *modelRecord) bool { return u.grantOf(r.stream.name).sees(r) }
		a, b := u.populate(full, allFields, everyRecord), u.populate(lean, granted, visible)
		tokA, idA := a.Grant(u.spec())
		tokB, idB := b.Grant(u.spec())
		for range 12 {
			c := drawCall(rt, u, nil)
			got := a.Do(c.method, tokA, c.target, "", c.headers...)
			want := b.Do(c.method, tokB, c.target, "", c.headers...)
			if isRefused(got) && isRefused(want) {
				continue // the codes for ungranted and undeclared names differ (C-23)
			}
			if diff := cmp.Diff(normalized(want, idB), normalized(got, idA)); diff != "" || got.Status != want.Status {
				rt.Fatalf("%s %s: %d and %d under %s (-lean +full):\n%s", c.method, c.target, want.Status, got.Status, u.spec(), diff)
			}
		}
	})
}

func isRefused(a resttest.Answer) bool { return a.Status == 400 || a.Status == 403 }

var clientPattern = regexp.MustCompile(`cli_[0-9a-f]+`)

// normalized returns an answer without what differs in every world: ids of grant and client,
// and cursors, which are bound to the grant.
func normalized(a resttest.Answer, id pdpp.GrantID) string {
	a.Header.Del("Date")
	a.Header.Del("Content-Length")
	body := strings.ReplaceAll(string(a.Body), string(id), "grt_x")
	body = clientPattern.ReplaceAllString(body, "cli_x")
	return fmt.Sprintf("%v\n%s", a.Header, cursorPattern.ReplaceAllString(body, "$1.x"))
}

package demo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/manifest"
)

// recordedHash is the digest of all lines. It changes only together with the data. Then
// read the difference and record the new value.
const recordedHash = "fde1b3d1bffe7ed849a6afbd212800eafa91b7aefdafe0f01497a032e7264e48"

// parsed is one line, decoded without losing digits.
type parsed struct {
	Type      string
	Stream    string
	Key       any
	Data      map[string]any
	EmittedAt string `json:"emitted_at"`

	connector, connection string
	raw                   []byte
}

// id returns the canonical id of the record (REC-2).
func (p parsed) id(t *testing.T) string {
	t.Helper()
	switch k := p.Key.(type) {
	case string:
		return k
	case json.Number:
		return k.String()
	}
	b, err := json.Marshal(p.Key)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (p parsed) place() string { return p.connector + "/" + p.connection + "/" + p.Stream }

func manifestOf(t *testing.T, s Source) *pdpp.Manifest {
	t.Helper()
	m, err := manifest.Parse(s.Manifest)
	if err != nil {
		t.Fatalf("manifest.Parse: %v", err)
	}
	return m
}

// decoded are all lines of the demo. Tests share them and must not change them.
var decoded = sync.OnceValues(func() (out []parsed, err error) {
	for _, s := range Sources() {
		m, err := manifest.Parse(s.Manifest)
		if err != nil {
			return nil, err
		}
		key := string(m.ConnectorKey)
		for _, c := range s.Connections {
			for line := range Lines(key, c.Name) {
				p := parsed{connector: key, connection: c.Name, raw: line}
				dec := json.NewDecoder(bytes.NewReader(line))
				dec.UseNumber()
				if err := dec.Decode(&p); err != nil {
					return nil, fmt.Errorf("%s/%s: %w in %.200s", key, c.Name, err, line)
				}
				out = append(out, p)
			}
		}
	}
	return out, nil
})

func everything(t *testing.T) []parsed {
	t.Helper()
	all, err := decoded()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func hashAll(t *testing.T) string {
	t.Helper()
	h := sha256.New()
	for _, s := range Sources() {
		key := string(manifestOf(t, s).ConnectorKey)
		for _, c := range s.Connections {
			for line := range Lines(key, c.Name) {
				h.Write(append(line, '\n'))
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func TestDeterministic(t *testing.T) {
	first, second := hashAll(t), hashAll(t)
	if first != second {
		t.Errorf("the hashes of two runs are %s and %s", first, second)
	}
	if first != recordedHash {
		t.Errorf("hash of all lines = %s, recorded %s", first, recordedHash)
	}
}

func TestSources(t *testing.T) {
	got := map[string][]Connection{}
	for _, s := range Sources() {
		m := manifestOf(t, s)
		if m.DisplayName == "" {
			t.Errorf("%s has no display name", m.ConnectorKey)
		}
		got[string(m.ConnectorKey)] = s.Connections
	}
	want := map[string][]Connection{
		"mail":   {{"personal", "Personal mail"}, {"work", "Studio mail"}},
		"chat":   {{"phone", "Phone"}},
		"bank":   {{"giro", "Joint account"}, {"savings", "Savings"}},
		"notes":  {{"notebook", "Notebook"}},
		"health": {{"watch", "Watch"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Sources (-want +got):\n%s", diff)
	}
}

func TestRolesInUse(t *testing.T) {
	seen := map[pdpp.Role]bool{}
	for _, s := range Sources() {
		for _, stream := range manifestOf(t, s).Streams {
			for _, f := range stream.Fields {
				seen[f.Role] = true
			}
		}
	}
	for _, r := range []pdpp.Role{
		pdpp.RolePrimaryTitle, pdpp.RolePrimaryText, pdpp.RoleSecondary, pdpp.RoleEventTime,
		pdpp.RoleActor, pdpp.RoleAmount, pdpp.RoleMedia,
	} {
		if !seen[r] {
			t.Errorf("no field has role %s", r)
		}
	}
}

func TestCounts(t *testing.T) {
	got := map[string]int{}
	total := 0
	for _, p := range everything(t) {
		got[p.place()]++
		total++
	}
	want := map[string]int{
		"mail/personal/messages": 1164, "mail/personal/attachments": 113, "mail/personal/contacts": 20,
		"mail/work/messages": 819, "mail/work/attachments": 332, "mail/work/contacts": 13,
		"chat/phone/conversations": 12, "chat/phone/messages": 2274,
		"bank/giro/transactions": 1631, "bank/giro/balances": 46,
		"bank/savings/transactions": 95, "bank/savings/balances": 46,
		"notes/notebook/notes": 259,
		"health/watch/steps":   962, "health/watch/sleep": 652, "health/watch/heart_rate": 93,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records per stream (-want +got):\n%s", diff)
	}
	if total < 5000 {
		t.Errorf("%d records in all, want at least 5000", total)
	}
}

func TestUnknownConnections(t *testing.T) {
	for _, at := range [][2]string{{"mail", "giro"}, {"", ""}, {"bank", "personal"}, {"fax", "phone"}} {
		for line := range Lines(at[0], at[1]) {
			t.Fatalf("Lines(%q, %q) returned %.80s", at[0], at[1], line)
		}
	}
}

// An iterator must not call its yield function again after false.
func TestLinesStop(t *testing.T) {
	n := 0
	for range Lines("notes", "notebook") {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("read %d lines, want 3", n)
	}
}

func TestOrderAndDates(t *testing.T) {
	first, end := moment("2023-01-01"), moment("2026-11-01")
	last := map[string]time.Time{}
	for _, p := range everything(t) {
		at, ok := pdpp.ParseTime(p.EmittedAt)
		if !ok || at.Before(first) || !at.Before(end) {
			t.Fatalf("emitted_at %q of %s", p.EmittedAt, p.place())
		}
		c := p.connector + "/" + p.connection
		if at.Before(last[c]) {
			t.Fatalf("%s: %s comes after %s", c, p.EmittedAt, last[c])
		}
		last[c] = at
		for _, name := range []string{"sent_at", "added_at", "started_at", "booked_at", "as_of", "created_at", "updated_at", "day", "woke_at", "measured_at"} {
			v, has := p.Data[name].(string)
			if !has {
				continue
			}
			event, ok := pdpp.ParseTime(v)
			if !ok || event.Before(first) || !event.Before(end) {
				t.Errorf("%s %s = %q", p.place(), name, v)
			}
		}
	}
}

func TestEmittedSoonAfterTheEvent(t *testing.T) {
	for _, p := range everything(t) {
		v, has := p.Data["sent_at"].(string)
		if !has {
			continue
		}
		event, _ := pdpp.ParseTime(v)
		emitted, _ := pdpp.ParseTime(p.EmittedAt)
		if d := emitted.Sub(event); d <= 0 || d > 2*time.Minute {
			t.Errorf("%s: sent %s, emitted %s", p.place(), v, p.EmittedAt)
		}
	}
}

func TestTextsStaySmall(t *testing.T) {
	total := 0
	for _, name := range textFiles {
		total += len(readFile(name))
	}
	if total > 120<<10 {
		t.Errorf("embedded texts are %d bytes", total)
	}
}

func TestNoTemplateLeaks(t *testing.T) {
	for _, p := range everything(t) {
		for name, v := range p.Data {
			s, ok := v.(string)
			if ok && (strings.Contains(s, "%!") || strings.Contains(s, "$")) {
				t.Errorf("%s %s = %.200q", p.place(), name, s)
			}
		}
	}
}

// BenchmarkLines generates all lines.
func BenchmarkLines(b *testing.B) {
	for b.Loop() {
		for _, at := range []string{"mail/personal", "mail/work", "chat/phone", "bank/giro", "bank/savings", "notes/notebook", "health/watch"} {
			connector, connection, _ := strings.Cut(at, "/")
			for range Lines(connector, connection) {
			}
		}
	}
}

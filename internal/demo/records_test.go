package demo

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pdpp"
)

type streamKey struct{ connector, stream string }

func declared(t *testing.T) map[streamKey]*pdpp.Stream {
	t.Helper()
	out := map[streamKey]*pdpp.Stream{}
	for _, s := range Sources() {
		m := manifestOf(t, s)
		for _, stream := range m.Streams {
			out[streamKey{string(m.ConnectorKey), stream.Name}] = stream
		}
	}
	return out
}

func text(v any) string {
	if n, ok := v.(json.Number); ok {
		return n.String()
	}
	s, _ := v.(string)
	return s
}

// Key fields in data equal the key (I-4), ids are valid and unique (REC-2).
func TestKeys(t *testing.T) {
	streams := declared(t)
	seen := map[string]bool{}
	for _, p := range everything(t) {
		s := streams[streamKey{p.connector, p.Stream}]
		if s == nil || p.Type != "RECORD" {
			t.Fatalf("%s is not declared, or type %q", p.place(), p.Type)
		}
		parts := []any{p.Key}
		if list, ok := p.Key.([]any); ok {
			parts = list
		}
		if len(parts) != len(s.PrimaryKey) {
			t.Fatalf("%s: key %v for %v", p.place(), p.Key, s.PrimaryKey)
		}
		for i, name := range s.PrimaryKey {
			if got := text(p.Data[name]); got != text(parts[i]) || got == "" {
				t.Errorf("%s: %s = %q, key part %q", p.place(), name, got, text(parts[i]))
			}
		}
		id := p.id(t)
		if !pdpp.RecordID(id).Valid() {
			t.Errorf("%s: id %q is not valid", p.place(), id)
		}
		if seen[p.place()+"\x00"+id] {
			t.Errorf("%s: id %q occurs twice", p.place(), id)
		}
		seen[p.place()+"\x00"+id] = true
	}
}

// Every declared relation leads from each child to a parent of its connection.
func TestForeignKeys(t *testing.T) {
	all := everything(t)
	ids := map[string]bool{}
	for _, p := range all {
		ids[p.place()+"\x00"+p.id(t)] = true
	}
	checked := map[string]int{}
	for key, s := range declared(t) {
		for _, rel := range s.Relations {
			for _, p := range all {
				if p.connector != key.connector || p.Stream != rel.Stream {
					continue
				}
				parent := p.connector + "/" + p.connection + "/" + s.Name + "\x00" + text(p.Data[rel.ForeignKey])
				if !ids[parent] {
					t.Errorf("%s %s: no %s %q", p.place(), p.id(t), s.Name, text(p.Data[rel.ForeignKey]))
				}
				checked[key.connector+"."+rel.Name]++
			}
		}
	}
	for _, rel := range []string{"mail.attachments", "chat.messages", "bank.transactions", "health.night"} {
		if checked[rel] == 0 {
			t.Errorf("relation %s has no records", rel)
		}
	}
}

// Values have the types that the manifests declare.
func TestTypes(t *testing.T) {
	streams := declared(t)
	used := map[string]bool{}
	for _, p := range everything(t) {
		s := streams[streamKey{p.connector, p.Stream}]
		for _, name := range s.Required {
			if p.Data[name] == nil {
				t.Errorf("%s: %s is required", p.place(), name)
			}
		}
		for name, v := range p.Data {
			f := s.Field(name)
			if f == nil {
				continue
			}
			used[p.connector+"/"+p.Stream+"/"+name] = true
			if !slices.Contains(f.Types, jsonType(v)) && !(jsonType(v) == "integer" && slices.Contains(f.Types, "number")) {
				t.Errorf("%s: %s is %s, declared %v", p.place(), name, jsonType(v), f.Types)
			}
		}
	}
	for key, s := range streams {
		for _, f := range s.Fields {
			if !used[key.connector+"/"+key.stream+"/"+f.Name] {
				t.Errorf("%s/%s declares %s but no record has it", key.connector, key.stream, f.Name)
			}
		}
	}
}

func jsonType(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "number"
		}
		return "integer"
	}
	return "object"
}

// Every balance is the balance before plus the amount of the transaction.
func TestAccountsAddUp(t *testing.T) {
	balance := map[string]int64{}
	for _, p := range everything(t) {
		if p.connector != "bank" || p.Stream != "transactions" {
			continue
		}
		after, minor := integer(t, p.Data["balance_after_minor"]), integer(t, p.Data["amount_minor"])
		if before, ok := balance[p.connection]; ok && before+minor != after {
			t.Errorf("%s %s: %d + %d is not %d", p.place(), p.id(t), before, minor, after)
		}
		if after < -100000 {
			t.Errorf("%s: overdrawn by %s on %v", p.connection, euros(int(after)), p.Data["booked_at"])
		}
		balance[p.connection] = after
	}
}

func integer(t *testing.T, v any) int64 {
	t.Helper()
	n, err := v.(json.Number).Int64()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

package schematext

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pdpp/internal/mcp/limits"
)

// document returns a compact document of one stream on some connections, each with the
// given number of fields.
func document(connections, fields int) []byte {
	var caps, rows []string
	for i := range fields {
		caps = append(caps, fmt.Sprintf(`"field_%d":"t=text,eq,lex"`, i))
	}
	for i := range connections {
		rows = append(rows, fmt.Sprintf(`{"name":"entries","granted_connections":[{"connection_id":"cin_%d"}],"field_capabilities":{%s,"own_%[1]d":"t=text"}}`, i, strings.Join(caps, ",")))
	}
	return []byte(`{"object":"schema","detail":"compact","connectors":[{"connector_key":"ledger","streams":[` + strings.Join(rows, ",") + `]}]}`)
}

func textOf(d *Document, offset int) string {
	return Text(Config{Document: d, Detail: "compact", Offset: offset, IsStream: func(string) bool { return true }})
}

func TestText(t *testing.T) {
	t.Run("an index names the streams", func(t *testing.T) {
		got := textOf(Read(document(2, 3), Scope{}), -1)
		if !strings.HasPrefix(got, "schema: connectors=1 streams=2 detail=compact\n") || !strings.Contains(got, "\nnext: schema {\"stream\":\"entries\"} shows ") {
			t.Errorf("got %s", got)
		}
	})
	t.Run("an empty scope offers the whole index", func(t *testing.T) {
		got := textOf(Read(document(1, 1), Scope{Stream: "other"}), -1)
		if want := "schema: streams=0 detail=compact; stream \"other\" is not in this grant\nnext: schema {}"; got != want {
			t.Errorf("got %q", got)
		}
	})
	t.Run("a cut text continues until every field is shown", func(t *testing.T) {
		d := Read(document(3, 400), Scope{Stream: "entries"})
		seen, offset := "", -1
		for range 50 {
			got := textOf(d, offset)
			if len(got) > limits.ScopedTextMax {
				t.Fatalf("%d bytes at offset %d", len(got), offset)
			}
			seen += got
			_, args, found := strings.Cut(got, "\nnext: schema ")
			if !found {
				break
			}
			args, _, _ = strings.Cut(args, "\n")
			var next struct{ Offset int }
			if err := json.Unmarshal([]byte(args), &next); err != nil || next.Offset <= offset && offset >= 0 {
				t.Fatalf("next %s after %d: %v", args, offset, err)
			}
			offset = next.Offset
		}
		for _, name := range []string{"field_0[", "field_399[", "own_0[", "own_2["} {
			if !strings.Contains(seen, name) {
				t.Errorf("no %s", name)
			}
		}
	})
}

func TestProject(t *testing.T) {
	d := Read(document(3, 400), Scope{Stream: "entries"})
	if !d.IsExact() {
		t.Error("the document has other rows")
	}
	for _, budget := range []int{100_000, 20_000, 6_000} {
		doc, next := d.Project(budget, -1)
		if len(doc) > budget || !json.Valid(doc) {
			t.Errorf("%d of %d bytes", len(doc), budget)
		}
		if isCut := budget < 40_000; (next >= 0) != isCut {
			t.Errorf("budget %d: next offset %d", budget, next)
		}
		if next < 0 {
			continue
		}
		if part, after := d.Project(budget, next); len(part) > budget || after >= 0 && after <= next {
			t.Errorf("at offset %d: %d bytes, next %d", next, len(part), after)
		}
	}
}

func TestChoices(t *testing.T) {
	list, total := Read(document(60, 1), Scope{Stream: "entries"}).Choices()
	var choices []struct {
		Connection string `json:"connection_id"`
	}
	if err := json.Unmarshal(list, &choices); err != nil || total != 60 || len(choices) != maxChoices || choices[0].Connection != "cin_0" {
		t.Errorf("%d of %d choices: %v", len(choices), total, err)
	}
	if _, total := Read(document(60, 1), Scope{"entries", "cin_7"}).Choices(); total != 0 {
		t.Errorf("%d choices with a connection", total)
	}
}

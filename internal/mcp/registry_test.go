package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rsclient"
)

func TestToolsList(t *testing.T) {
	var list struct {
		Tools []struct {
			Name, Title, Description  string
			InputSchema, OutputSchema json.RawMessage
			Annotations               map[string]bool
		}
		NextCursor *string
	}
	if err := json.Unmarshal(Tools().List(), &list); err != nil {
		t.Fatal(err)
	}
	t.Run("FOOT-2 these six tools, within the bytes", func(t *testing.T) {
		var got []string
		for _, tool := range list.Tools {
			got = append(got, tool.Name)
		}
		want := []string{"schema", "query_records", "aggregate", "search", "fetch", "read_record_field"}
		if !slices.Equal(got, want) || list.NextCursor != nil {
			t.Errorf("MS-8 tools %q, next cursor %v", got, list.NextCursor)
		}
		if n := len(Tools().List()); n > limits.ToolsListMax {
			t.Errorf("MS-9 tools/list has %d bytes, at most %d are allowed", n, limits.ToolsListMax)
		}
	})
	t.Run("TOOLS-1 each with title, description, schemas and hints", func(t *testing.T) {
		for i, tool := range list.Tools {
			if tool.Title == "" || tool.Description == "" || len(tool.OutputSchema) == 0 || len(tool.Annotations) != 4 {
				t.Errorf("MS-10 tool %d is %+v", i, tool)
			}
			if n := utf8.RuneCountInString(tool.Description); n > 500 {
				t.Errorf("MS-11 the description of %s has %d characters", tool.Name, n)
			}
			if n := len(tool.InputSchema); n >= 16384 {
				t.Errorf("MS-10 the input schema of %s has %d bytes", tool.Name, n)
			}
		}
	})
}

func TestInstructions(t *testing.T) {
	if n := utf8.RuneCountInString(Instructions); n > limits.InstructionsMax {
		t.Errorf("MS-5 instructions have %d characters", n)
	}
	if n := utf8.RuneCountInString(instructionsHead); n > limits.InstructionsHead {
		t.Errorf("MS-5 the head has %d characters", n)
	}
}

// TestSeventhTool adds a tool as the six are added: one value, one entry of a registry.
func TestSeventhTool(t *testing.T) {
	ping := &Tool{
		Name: "ping", title: "Is the server there", description: "Reads the schema and returns a word.",
		args:   argTable{{name: "word", kind: argText, required: true, about: "The word to return."}},
		output: `{"type":"object","properties":{"data":{"type":"object"},"error":{"type":"object"}},"anyOf":[{"required":["data"]},{"required":["error"]}]}`,
		limits: "One line.",
		call: func(ctx context.Context, c *call) (*Result, error) {
			answer, err := c.RS.Schema(ctx, c.query("word"))
			if err != nil {
				return nil, err
			}
			word := quote.Text(c.args.Text("word"))
			return &Result{Structured: c.structured([]byte(`{"word":`+word+`}`), answer.RequestID), Content: []Block{{Text: "ping " + word}}}, nil
		},
		recovery: recovery{notFound: func(c *call, _ *rsclient.Error) *nextCall { return &nextCall{"schema", []byte("{}")} }},
	}
	s := newScript(t, "/v1/schema", `{"object":"schema"}`)
	s.Tools = NewRegistry(append(slices.Clone(Tools().tools), ping)...)

	t.Run("is listed", func(t *testing.T) {
		if names := s.Registry().Names(); len(names) != 7 || names[6] != "ping" {
			t.Errorf("Names() = %q", names)
		}
		if list := s.Registry().List(); !json.Valid(list) || !bytes.Contains(list, []byte(`"name":"ping","title":"Is the server there"`)) {
			t.Errorf("List() = %s", list)
		}
		if Tools().Lookup("ping") != nil {
			t.Error("the registry of the surface has it, too")
		}
	})
	t.Run("is called", func(t *testing.T) {
		res := s.Call(t.Context(), s.Registry().Lookup("ping"), []byte(`{"word":"hello"}`))
		if got := text(res); res.IsError || got != `ping "hello"` {
			t.Errorf("text %q", got)
		}
		if got := find(t, res.Structured, "data.word"); got != "hello" {
			t.Errorf("data.word = %v", got)
		}
	})
	t.Run("refuses arguments", func(t *testing.T) {
		for _, args := range []string{`{}`, `{"word":7}`, `{"word":"a","other":1}`} {
			res := s.Call(t.Context(), s.Registry().Lookup("ping"), []byte(args))
			if _, code := errorOf(t, res); code != "invalid_argument" {
				t.Errorf("%s: %s", args, text(res))
			}
		}
	})
	t.Run("recovers", func(t *testing.T) {
		s.says("/v1/schema", `404 {"error":{"code":"not_found","message":"No."}}`, false)
		res := s.Call(t.Context(), s.Registry().Lookup("ping"), []byte(`{"word":"hello"}`))
		if !res.IsError || !strings.Contains(text(res), "\nnext: schema {}") {
			t.Errorf("text %q", text(res))
		}
	})
	t.Run("is documented", func(t *testing.T) {
		doc := manual(t, s.Registry())
		for _, want := range []string{"\n## `ping` — Is the server there\n", "\nOne line.\n", "| `word` (required) | string | The word to return. |"} {
			if !strings.Contains(doc, want) {
				t.Errorf("the manual has no %q", want)
			}
		}
	})
}

package mcp

import (
	"encoding/json"
	"slices"
	"testing"
	"unicode/utf8"

	"pdpp/internal/mcp/limits"
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
	if err := json.Unmarshal(ToolsList(), &list); err != nil {
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
		if n := len(ToolsList()); n > limits.ToolsListMax {
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

package mcp

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func TestToolsList(t *testing.T) {
	t.Run("TOOLS-1 FOOT-2 tools list", func(t *testing.T) {
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
		if n := len(ToolsList()); n > ToolsListMax {
			t.Errorf("MS-9 tools/list has %d bytes, at most %d are allowed", n, ToolsListMax)
		}
		for i, tool := range list.Tools {
			if tool.Name != names[i] || tool.Title == "" || tool.Description == "" || len(tool.Annotations) != 4 {
				t.Errorf("MS-10 tool %d is %+v", i, tool)
			}
			if n := utf8.RuneCountInString(tool.Description); n > 500 {
				t.Errorf("MS-11 the description of %s has %d characters", tool.Name, n)
			}
			if n := len(tool.InputSchema); n >= 16384 {
				t.Errorf("MS-10 the input schema of %s has %d bytes", tool.Name, n)
			}
		}
		if len(list.Tools) != len(names) || list.NextCursor != nil {
			t.Errorf("MS-8 %d tools, next cursor %v", len(list.Tools), list.NextCursor)
		}
	})
}

func TestInstructions(t *testing.T) {
	if n := utf8.RuneCountInString(Instructions); n > InstructionsMax {
		t.Errorf("MS-5 instructions have %d characters", n)
	}
	if n := utf8.RuneCountInString(instructionsHead); n > InstructionsHead {
		t.Errorf("MS-5 the head has %d characters", n)
	}
}

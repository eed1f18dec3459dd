package mcp

import (
	"encoding/json"
	"testing"
)

// TestArgumentsDescribed: every argument of every tool has a description, which is all that a
// model chooses by.
func TestArgumentsDescribed(t *testing.T) {
	for _, tool := range tools.tools {
		var schema struct {
			Properties map[string]struct{ Description string }
		}
		if err := json.Unmarshal(tool.args.schema(), &schema); err != nil {
			t.Fatal(err)
		}
		for name, property := range schema.Properties {
			if len(property.Description) < 10 {
				t.Errorf("DESC-2 %s: %s is described as %q", tool.Name, name, property.Description)
			}
		}
	}
}

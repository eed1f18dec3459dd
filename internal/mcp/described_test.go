package mcp

import (
	"encoding/json"
	"testing"
)

// Every argument of every tool says what it is for: a model chooses by that alone.
func TestArgumentsDescribed(t *testing.T) {
	for _, tool := range tools {
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

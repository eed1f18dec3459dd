package mcp

import (
	"fmt"
	"strings"
	"testing"

	"pdpp/internal/mcp/limits"
)

// TestManyConnections: the index names a hundred connections, as many as a package can have,
// with labels of any length, since an ambiguity refers to it.
func TestManyConnections(t *testing.T) {
	var list []string
	for i := range 100 {
		list = append(list, fmt.Sprintf(`{"connection_id":"cin_%026d","display_name":"%s"}`, i, strings.Repeat("label ", 10)))
	}
	body := `{"object":"schema","detail":"compact","connectors":[{"connector_key":"mail","granted_connections":[` + strings.Join(list, ",") +
		`],"streams":[{"name":"letters"},{"name":"contacts"}]}]}`
	t.Run("AMBIG-1 DISC-1 the index names every connection", func(t *testing.T) {
		text := mustDo(t, scripted(t, always(body)).Surface, "schema", `{}`).Content[0].Text
		runnable(t, text)
		if len(text) > limits.SchemaTextMax {
			t.Errorf("text of %d bytes", len(text))
		}
		for i := range 100 {
			if id := fmt.Sprintf(`"cin_%026d"`, i); !strings.Contains(text, id) {
				t.Fatalf("no %s in %s", id, text)
			}
		}
	})
}

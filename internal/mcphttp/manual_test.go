package mcphttp

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The limit in the manual is that of the program.
func TestLimitInTheManual(t *testing.T) {
	manual, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	if row := fmt.Sprintf("\n| body of an MCP request | %d MiB | 413 |\n", bodyMax>>20); !strings.Contains(string(manual), row) {
		t.Errorf("docs/operations.md has no row %q", row)
	}
}

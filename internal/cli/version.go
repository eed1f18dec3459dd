package cli

import (
	"runtime"
	"runtime/debug"

	"pdpp/internal/mcpserve"
	"pdpp/internal/store/sqlite"
)

// versionCommand is `pdpp version`.
type versionCommand struct{ jsonFlag }

// versionAnswer is the object of hosted-auth.md 1.4. Values that the build does not contain
// are null.
type versionAnswer struct {
	Version       string   `json:"version"`
	Commit        *string  `json:"commit"`
	BuiltAt       *string  `json:"built_at"` // the time of the commit: builds are reproducible
	Go            string   `json:"go"`
	MCPVersions   []string `json:"mcp_protocol_versions"`
	SchemaVersion int      `json:"schema_version"`
}

// Run implements the command.
func (c *versionCommand) Run(a *app) error {
	v := readVersion()
	if c.JSON {
		return a.printJSON(v)
	}
	text := "pdpp " + v.Version
	if v.Commit != nil {
		text += " (" + *v.Commit + ")"
	}
	return a.print(text + ", " + v.Go + "\n")
}

func readVersion() versionAnswer {
	v := versionAnswer{Version: "devel", Go: runtime.Version(), MCPVersions: mcpserve.Versions(), SchemaVersion: sqlite.SchemaVersion()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = orNull(s.Value)
		case "vcs.time":
			v.BuiltAt = orNull(s.Value)
		}
	}
	return v
}

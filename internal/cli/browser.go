package cli

import (
	"os/exec"
	"runtime"
	"strings"
)

// browserCommand returns the command that opens a page in the user's browser; nil when
// there is no screen to show one.
func browserCommand(getenv func(string) string) []string {
	if words := strings.Fields(getenv("BROWSER")); len(words) > 0 {
		return words
	}
	switch runtime.GOOS {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	if getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "" {
		return nil
	}
	return []string{"xdg-open"}
}

// openBrowser starts a command with an address as its last argument. It does not wait for its end:
// some browsers stay in the foreground.
func openBrowser(command []string, address string) error {
	cmd := exec.Command(command[0], append(command[1:], address)...) //nolint:gosec // the user's own setting
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // it reports problems to the user itself
	return nil
}

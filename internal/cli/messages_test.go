package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pdpp/internal/doctor"
	"pdpp/internal/ingest"
	"pdpp/internal/instance"
	"pdpp/internal/store"
)

func TestVerdict(t *testing.T) { // H-26
	pass, warn, fail := doctor.Check{Status: doctor.Pass}, doctor.Check{Status: doctor.Warn}, doctor.Check{Status: doctor.Fail}
	for _, c := range []struct {
		report doctor.Report
		want   string
	}{
		{doctor.Report{OK: true, Checks: []doctor.Check{pass}}, "No problems found."},
		{doctor.Report{OK: true, Checks: []doctor.Check{pass, warn}}, "No check failed. See the warnings above."},
		{doctor.Report{Checks: []doctor.Check{warn, fail}}, "Some checks failed. See above."},
	} {
		if got := verdict(c.report); got != c.want {
			t.Errorf("%+v: %q, want %q", c.report, got, c.want)
		}
	}
}

// The command to remove files names the checked folder: a pasted command must not remove
// files of another folder.
func TestAdviceNamesTheFolder(t *testing.T) { // H-30
	for _, older := range []bool{false, true} {
		got := unknownAdvice(ingest.UnknownBlobs{Files: 1, StoreIsOlder: older}, "bin/pdpp", "/a b")
		if !strings.Contains(got, "bin/pdpp --data '/a b' blobs unknown --remove") {
			t.Errorf("older %t: %q", older, got)
		}
	}
}

func TestNoticeOfTokenThatEndsFirst(t *testing.T) { // H-16
	token := time.Date(2026, 12, 15, 21, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		end  time.Time
		want bool
	}{{time.Time{}, true}, {token.Add(time.Hour), true}, {token, false}} {
		issued := issuedToken{token: store.Token{ExpiresAt: token}}
		if got := issued.notice("package", c.end); strings.Contains(got, "before the package") != c.want {
			t.Errorf("end %v: %q", c.end, got)
		}
	}
}

// Every message that names a command to run has the name under which the program was
// called (H-6).
func TestMessagesNameTheProgramAsItWasCalled(t *testing.T) {
	store, lost := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(lost, instance.KeyFile), []byte("k"), 0o600); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	for _, args := range [][]string{
		{"--data", store, "owner", "create", "mara"},
		{"--data", store, "connections", "list"},
		{"--data", store, "grants", "show", "grt_0"},
		{"--data", store, "backup", copied},
		{"--data", store, "doctor"},
		{"--data", lost, "grants", "list"},
		{"mcp", "https://data.example"},
		{"credentials", "show", "https://data.example"},
		{"credentials", "import", "https://data.example"},
		{"setup", "codex"},
		{"serve", "--help"},
		{"help"},
		{"ingets"},
	} {
		var out bytes.Buffer
		Main(t.Context(), Env{
			Program: "bin/pdpp", Args: args, Stdin: strings.NewReader("pdpp_ot_x\n"), Stdout: &out, Stderr: &out,
			Getenv: func(name string) string { return map[string]string{"HOME": store}[name] }, Now: time.Now,
		})
		if bare := regexp.MustCompile(`(?m)(?:run:|or:|Usage:|Run "?)\s*pdpp .*`).FindString(out.String()); bare != "" {
			t.Errorf("%v: %q", args, bare)
		}
		if args[len(args)-1] != "mara" && !strings.Contains(out.String(), "bin/pdpp ") {
			t.Errorf("%v does not name the program:\n%s", args, out.String())
		}
	}
}

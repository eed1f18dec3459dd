package cli

import (
	"strings"
	"testing"
	"time"

	"pdpp/internal/doctor"
	"pdpp/internal/ingest"
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
		got := unknownAdvice(ingest.UnknownBlobs{Files: 1, StoreIsOlder: older}, "/a b")
		if !strings.Contains(got, "pdpp --data '/a b' blobs unknown --remove") {
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

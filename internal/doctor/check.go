package doctor

// Status is how a check ended.
type Status string

// The ways a check can end.
const (
	Pass Status = "pass"
	Warn Status = "warn" // it works, and could be better
	Fail Status = "fail"
	Skip Status = "skip" // there was nothing to check
)

// Check is one thing that was looked at.
type Check struct {
	ID     string `json:"id"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

// Report is everything that was looked at. It is good when nothing failed.
type Report struct {
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
}

// NewReport sums up checks.
func NewReport(checks []Check) Report {
	r := Report{OK: true, Checks: checks}
	for _, c := range checks {
		r.OK = r.OK && c.Status != Fail
	}
	return r
}

func pass(detail string) Check      { return Check{Status: Pass, Detail: detail} }
func fail(detail, fix string) Check { return Check{Status: Fail, Detail: detail, Fix: fix} }
func skip(detail, fix string) Check { return Check{Status: Skip, Detail: detail, Fix: fix} }

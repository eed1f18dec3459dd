package doctor

// Status is the result of a check.
type Status string

// The statuses.
const (
	Pass Status = "pass"
	Warn Status = "warn" // it works, but should be improved
	Fail Status = "fail"
	Skip Status = "skip" // not applicable
)

// Check is the result of one check.
type Check struct {
	ID     string `json:"id"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

// Report is the result of all checks. OK means that none failed.
type Report struct {
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
}

// NewReport returns the report of checks.
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

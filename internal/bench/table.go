package bench

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
)

// Row is one line of the report.
type Row struct {
	What     string  `json:"what"`
	Unit     string  `json:"unit"`
	Ours     float64 `json:"ours"`
	Baseline float64 `json:"baseline,omitempty"` // 0: there is none
	Ratio    float64 `json:"ratio,omitempty"`
	Target   *Target `json:"target,omitempty"` // nil: for information only
	OK       bool    `json:"ok"`
}

// Target is a bound: on the ratio, or without a baseline on the value itself.
type Target struct {
	Most  bool    `json:"most"` // an upper bound
	Bound float64 `json:"bound"`
}

// AtLeast returns a lower bound.
func AtLeast(bound float64) *Target { return &Target{Bound: bound} }

// AtMost returns an upper bound.
func AtMost(bound float64) *Target { return &Target{Most: true, Bound: bound} }

func (t *Target) met(v float64) bool {
	switch {
	case t == nil:
		return true
	case t.Most:
		return v <= t.Bound
	}
	return v >= t.Bound
}

func (t *Target) String() string {
	switch {
	case t == nil:
		return "-"
	case t.Most:
		return fmt.Sprintf("<= %.2f", t.Bound)
	}
	return fmt.Sprintf(">= %.2f", t.Bound)
}

// compare returns the row of two measurements.
func compare(what, unit string, ours, baseline float64, target *Target) Row {
	ratio := ours / baseline
	return Row{What: what, Unit: unit, Ours: ours, Baseline: baseline, Ratio: ratio, Target: target, OK: target.met(ratio)}
}

// state returns the row of one measurement.
func state(what, unit string, ours float64, target *Target) Row {
	return Row{What: what, Unit: unit, Ours: ours, Target: target, OK: target.met(ours)}
}

// Report is the result of a run.
type Report struct {
	Cores     int    `json:"cores"`
	GoVersion string `json:"go"`
	Rows      []Row  `json:"rows"`
}

// NewReport returns a report without rows.
func NewReport() *Report {
	return &Report{Cores: runtime.GOMAXPROCS(0), GoVersion: runtime.Version()}
}

// Print writes the report as a table.
func (r *Report) Print(w io.Writer) error {
	fmt.Fprintf(w, "%d cores, %s, ratios of medians within this run\n\n", r.Cores, r.GoVersion)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join([]string{"what", "ours", "baseline", "ratio", "bound", ""}, "\t"))
	for _, row := range r.Rows {
		cells := []string{row.What, number(row.Ours) + " " + row.Unit, "-", "-", row.Target.String(), "ok"}
		if row.Baseline != 0 {
			cells[2], cells[3] = number(row.Baseline)+" "+row.Unit, fmt.Sprintf("%.2f", row.Ratio)
		}
		switch {
		case row.Target == nil:
			cells[5] = ""
		case !row.OK:
			cells[5] = "MISS"
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}

// number formats a measurement with about three significant digits.
func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// median returns the median of measurements; 0 for none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

package pages

import "time"

// chart is a bar chart of reads per day (templates/chart.html).
type chart struct {
	Label string
	Width int
	Bars  []bar
}

type bar struct {
	X, Y, W, H int
	Label      string
}

const (
	chartDays   = 30
	chartHeight = 64
	barWidth    = 8
	barGap      = 2
)

// newChart draws the reads of the last days; nil when there were none. reads is by day, as
// time.DateOnly.
func newChart(reads map[string]int64, now time.Time) *chart {
	c := &chart{Width: chartDays*(barWidth+barGap) - barGap}
	var total, most int64
	for i := range chartDays {
		n := reads[now.AddDate(0, 0, i-chartDays+1).UTC().Format(time.DateOnly)]
		total, most = total+n, max(most, n)
	}
	if total == 0 {
		return nil
	}
	for i := range chartDays {
		at := now.AddDate(0, 0, i-chartDays+1).UTC()
		n := reads[at.Format(time.DateOnly)]
		b := bar{X: i * (barWidth + barGap), W: barWidth, Label: at.Format("2 January") + ": " + countOf(n, "read", "reads")}
		if n > 0 {
			b.H = max(2, int(n*chartHeight/most))
		}
		b.Y = chartHeight - b.H
		c.Bars = append(c.Bars, b)
	}
	c.Label = countOf(total, "read", "reads") + " in the last 30 days"
	return c
}

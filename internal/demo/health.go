package demo

import (
	"time"
)

// health returns steps from March 2024 on, and sleep and resting pulse from January 2025
// on.
func (w *world) health() []record {
	d := newDice("health")
	watch := moment("2025-01-05")
	var out []record
	for at := range days(moment("2024-03-01"), lastDay) {
		out = append(out, steps(d, at))
		if at.Before(watch) {
			continue
		}
		out = append(out, sleep(d, at))
		if at.Weekday() == time.Monday {
			out = append(out, pulse(d, at))
		}
	}
	return out
}

func steps(d *dice, at time.Time) record {
	n := d.between(3200, 9800)
	switch {
	case at.After(moment("2024-10-27")) && at.Before(moment("2024-11-15")):
		n += d.between(6000, 12000) // the trip to Japan
	case at.After(moment("2024-05-16")) && at.Before(moment("2024-05-24")):
		n = d.between(310, 1900) // weeks after the fall
	case isoDay(at) == "2025-04-15":
		n = 31415 // the day of the move
	}
	var o object
	o.str("day", isoDay(at))
	o.integer("steps", int64(n))
	o.raw("distance_km", euros(n*7/100)) // 70 cm a step
	if at.Day()%5 == 0 {
		o.raw("floors", "null")
	} else {
		o.integer("floors", int64(d.between(3, 24)))
	}
	o.str("source", "phone")
	return record{"steps", quoted(isoDay(at)), o.bytes(), d.after(at.Add(23 * time.Hour))}
}

func sleep(d *dice, at time.Time) record {
	minutes := d.between(355, 500)
	switch isoDay(at) {
	case "2025-09-30":
		minutes = 662 // the day after the deadline
	case "2025-09-29", "2026-05-17":
		minutes = d.between(170, 240)
	}
	woke := at.Add(time.Duration(d.between(290, 420)) * time.Minute)
	var o object
	o.str("id", "night:"+isoDay(at))
	o.str("day", isoDay(at))
	o.str("fell_asleep_at", utc(woke.Add(-time.Duration(minutes)*time.Minute)))
	o.str("woke_at", utc(woke))
	o.integer("minutes", int64(minutes))
	if !d.chance(9) { // absent on days without the watch
		o.integer("deep_minutes", int64(minutes*d.between(14, 24)/100))
	}
	return record{"sleep", quoted("night:" + isoDay(at)), o.bytes(), d.after(woke)}
}

func pulse(d *dice, at time.Time) record {
	measured := at.Add(6 * time.Hour)
	var o object
	o.str("id", "hr-"+at.Format("20060102"))
	o.str("measured_at", utc(measured))
	o.integer("bpm", int64(d.between(54, 63)))
	o.str("context", pick(d, []string{"resting", "resting", "after choir", "after stairs"}))
	return record{"heart_rate", quoted("hr-" + at.Format("20060102")), o.bytes(), d.after(measured)}
}

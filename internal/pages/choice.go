package pages

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pdpp/internal/consent"
)

// choiceForm is the posted form of the first step (H-182).
type choiceForm struct {
	values  url.Values
	choice  consent.Choice
	faults  []consent.Fault
	ignored []string // streams of which only a part was chosen, but not the stream itself
}

// readForm reads the form. It does not trust what was posted: a stream is named by its number
// in the offer, and Decide compares all other values with the offer.
func readForm(values url.Values, offer *consent.Offer) *choiceForm {
	f := &choiceForm{values: values}
	for _, value := range values["stream"] {
		n, err := strconv.Atoi(value)
		if err != nil || strconv.Itoa(n) != value {
			f.fault("stream", "Something is chosen that was not offered. Choose again.")
			continue
		}
		f.choice.Streams = append(f.choice.Streams, consent.StreamChoice{
			N: n, Fields: values["field."+value], Since: f.date("since."+value, startOfDay), Until: f.date("until."+value, endOfDay),
		})
	}
	f.choice.Duration, f.choice.Replace, f.choice.Training = consent.Duration(f.value("duration")), values["replace"], f.value("training") == "yes"
	if f.choice.Duration == consent.DurationDate {
		f.choice.Until = f.date("until_date", endOfDay)
	}
	f.findIgnored(offer)
	return f
}

func (f *choiceForm) value(name string) string { return strings.TrimSpace(f.values.Get(name)) }

func (f *choiceForm) fault(control, message string) {
	f.faults = append(f.faults, consent.Fault{Control: control, Message: message})
}

// findIgnored finds the streams that were not ticked although something of them was
// chosen.
func (f *choiceForm) findIgnored(offer *consent.Offer) {
	for _, control := range slices.Sorted(maps.Keys(f.values)) {
		kind, number, found := strings.Cut(control, ".")
		if !found || !slices.Contains([]string{"field", "since", "until"}, kind) || f.value(control) == "" || slices.Contains(f.values["stream"], number) {
			continue
		}
		s := offered(offer, number)
		if s == nil {
			f.fault("stream", "Something is chosen that was not offered. Choose again.")
			return
		}
		if name := cmp.Or(s.Label, s.Name); !slices.Contains(f.ignored, name) {
			f.ignored = append(f.ignored, name)
		}
	}
}

// offered returns the stream of an offer with a number, or nil.
func offered(offer *consent.Offer, number string) *consent.Stream {
	for _, source := range offer.Sources {
		for i := range source.Streams {
			if strconv.Itoa(source.Streams[i].N) == number {
				return &source.Streams[i]
			}
		}
	}
	return nil
}

// The two instants that a day can stand for.
func startOfDay(start, _ time.Time) time.Time { return start }
func endOfDay(_, end time.Time) time.Time     { return end }

// date reads a date control.
func (f *choiceForm) date(control string, pick func(start, end time.Time) time.Time) time.Time {
	text := f.value(control)
	if text == "" {
		return time.Time{}
	}
	start, end, ok := consent.ParseDay(text)
	if !ok {
		f.fault(control, "Write the date like 2026-12-31.")
		return time.Time{}
	}
	return pick(start, end)
}

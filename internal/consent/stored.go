package consent

import (
	"encoding/json"
	"errors"
)

// storedOffer is the JSON of an offer. The connections of a source usually offer the same
// streams, so that each is written once.
type storedOffer struct {
	offerTerms
	Sources []storedSource `json:"sources"`
	Shapes  []Stream       `json:"shapes"`
}

type storedSource struct {
	sourceNames
	Streams []int `json:"streams"` // indexes of Shapes
}

// offerTerms and sourceNames have the fields of their types, but not the methods. The
// fields above hide those with the same name.
type (
	offerTerms  Offer
	sourceNames Source
)

// MarshalJSON implements json.Marshaler.
func (o Offer) MarshalJSON() ([]byte, error) {
	out := storedOffer{offerTerms: offerTerms(o), Sources: make([]storedSource, len(o.Sources))}
	known := map[string]int{}
	for i := range o.Sources {
		out.Sources[i].sourceNames = sourceNames(o.Sources[i])
		for _, shape := range o.Sources[i].Streams {
			shape.N = 0
			text, err := json.Marshal(shape)
			if err != nil {
				return nil, err
			}
			at, ok := known[string(text)]
			if !ok {
				at = len(out.Shapes)
				known[string(text)] = at
				out.Shapes = append(out.Shapes, shape)
			}
			out.Sources[i].Streams = append(out.Sources[i].Streams, at)
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *Offer) UnmarshalJSON(text []byte) error {
	var stored storedOffer
	if err := json.Unmarshal(text, &stored); err != nil {
		return err
	}
	*o = Offer(stored.offerTerms)
	for _, s := range stored.Sources {
		source := Source(s.sourceNames)
		source.Streams = make([]Stream, len(s.Streams))
		for i, at := range s.Streams {
			if at < 0 || at >= len(stored.Shapes) {
				return errors.New("consent: a stream of the stored offer is missing")
			}
			source.Streams[i] = stored.Shapes[at]
		}
		o.Sources = append(o.Sources, source)
	}
	o.number()
	return nil
}

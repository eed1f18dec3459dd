package query

import (
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/grant"
)

// Sort has the parameters of an order, not yet validated.
type Sort struct {
	Field string // "" for the default order
	Desc  bool
}

// Sort reads sort and order (REC-8). Without both, the order is descending. A field
// without a minus is ascending unless order is desc.
func (p *Params) Sort() (Sort, error) {
	order, err := p.OneOf("order", "desc", "asc")
	if err != nil {
		return Sort{}, err
	}
	field, err := p.One("sort")
	if err != nil {
		return Sort{}, err
	}
	if field == "" {
		return Sort{Desc: order == "desc"}, nil
	}
	name, desc := strings.CutPrefix(field, "-")
	if !p.Has("order") {
		return Sort{Field: name, Desc: desc}, nil
	}
	if desc && order == "asc" {
		return Sort{}, &pdpp.Error{
			Code: pdpp.CodeInvalidSort, Param: "sort",
			Message: "sort and order disagree: sort starts with a minus and order is asc. Send one of them, or sort=field with order.",
		}
	}
	return Sort{Field: name, Desc: order == "desc"}, nil
}

// CheckSort checks that the sort field of a request is the granted cursor field of a
// stream.
func CheckSort(s Sort, a *grant.Access) error {
	if s.Field == "" || s.Field == a.CursorField() {
		return nil
	}
	if _, err := a.Field(s.Field, "sort"); pdpp.CodeOf(err) == pdpp.CodeFieldNotGranted {
		return err
	}
	message := "Stream \"" + a.Stream.Name + "\" cannot be sorted by this field."
	if c := a.CursorField(); c != "" {
		message += " It can be sorted by \"" + c + "\"."
	}
	return &pdpp.Error{Code: pdpp.CodeInvalidSort, Param: "sort", Field: s.Field, Message: message}
}

// OrderOf returns the order of a list over rows (REC-7, REC-9): one connector by
// its cursor field when that is granted, else by id; several by emitted_at unless
// a sort field was named.
func OrderOf(s Sort, rows []grant.Row) Order {
	o := Order{By: ByCursor, Desc: s.Desc}
	if len(rows) > 1 && s.Field == "" {
		o.By = ByEmitted
	}
	if len(rows) == 1 && rows[0].Stream.CursorField != rows[0].Access.CursorField() {
		o.By = ByID // the cursor field is not granted, so the order must not reveal its values
	}
	return o
}

// OrderName identifies an order over rows. A new declaration with another cursor field
// changes the order, and earlier positions are no longer valid.
func OrderName(o Order, rows []grant.Row) string {
	name := strconv.Itoa(int(o.By))
	for _, row := range rows {
		name += "/" + row.Stream.CursorField
		if f := row.Stream.Field(row.Stream.CursorField); f != nil {
			name += ":" + strconv.Itoa(int(f.Kind))
		}
	}
	return name
}

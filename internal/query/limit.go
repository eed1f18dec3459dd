package query

import (
	"strconv"

	"pdpp"
)

// Limit is the number of items of a page. Requested is the requested number when it was
// reduced, else 0.
type Limit struct {
	N         int
	Requested int
}

// Limit reads the page size.
func (p *Params) Limit() (Limit, error) {
	v, err := p.One("limit")
	if err != nil || v == "" {
		return Limit{N: pdpp.DefaultPage}, err
	}
	n, err := integer(v)
	if err != nil || n < 1 {
		return Limit{}, pdpp.BadParam("limit", "limit must be an integer from 1 to %d.", pdpp.MaxPage)
	}
	if n > pdpp.MaxPage {
		return Limit{N: pdpp.MaxPage, Requested: n}, nil
	}
	return Limit{N: n}, nil
}

// integer reads decimal digits with an optional minus. Very large numbers are capped at a
// value far above every limit.
func integer(v string) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil {
		if ne, ok := err.(*strconv.NumError); ok && ne.Err == strconv.ErrRange && v[0] != '-' && v[0] != '+' {
			return 1 << 62, nil
		}
		return 0, err
	}
	if v[0] == '+' {
		return 0, strconv.ErrSyntax
	}
	return n, nil
}

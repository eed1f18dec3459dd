package query

import (
	"strconv"

	"pdpp"
)

// Limits of lists and searches (C-9).
const (
	DefaultLimit = 25
	MaxLimit     = 100
)

// Limit is how many items a page holds. Requested is what was asked for when that
// was more than allowed, else 0.
type Limit struct {
	N         int
	Requested int
}

// Limit reads the page size.
func (p *Params) Limit() (Limit, error) {
	v, err := p.One("limit")
	if err != nil || v == "" {
		return Limit{N: DefaultLimit}, err
	}
	n, err := integer(v)
	if err != nil || n < 1 {
		return Limit{}, pdpp.BadParam("limit", "limit must be an integer from 1 to %d.", MaxLimit)
	}
	if n > MaxLimit {
		return Limit{N: MaxLimit, Requested: n}, nil
	}
	return Limit{N: n}, nil
}

// integer reads decimal digits with an optional minus; very large numbers are
// capped, since every bound is far below.
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

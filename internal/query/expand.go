package query

import (
	"slices"
	"strings"

	"pdpp"
	"pdpp/internal/grant"
)

// MaxExpand bounds the relations of one request (REC-23).
const MaxExpand = 8

// Expand has the parameters of an expansion, not yet validated.
type Expand struct {
	Relations []string
	Limits    map[string]string
}

// Expand reads expand and expand_limit.
func (p *Params) Expand() (Expand, error) {
	var e Expand
	var err error
	if e.Relations, err = p.List("expand"); err != nil {
		return e, err
	}
	if len(e.Relations) > MaxExpand {
		return e, badExpand("expand", "At most 8 relations can be expanded at once.")
	}
	for _, name := range e.Relations {
		if strings.Contains(name, ".") {
			return e, badExpand("expand", "Relations are expanded one level deep. Names with a dot are not supported.")
		}
	}
	q := p.find("expand_limit")
	if q == nil {
		return e, nil
	}
	if len(q.values) > 0 {
		return e, badExpand("expand_limit", "A limit names its relation: expand_limit[relation]=n.")
	}
	e.Limits = map[string]string{}
	for _, m := range q.members {
		if m.sub != "" || e.Limits[m.key] != "" || m.value == "" {
			return e, badExpand("expand_limit", "Each relation has one limit: expand_limit[relation]=n.")
		}
		if !slices.Contains(e.Relations, m.key) {
			return e, badExpand("expand_limit", "expand_limit names a relation that is not in expand.")
		}
		e.Limits[m.key] = m.value
	}
	return e, nil
}

// Expansion is one relation to expand for one row.
type Expansion struct {
	grant.Relation
	Limit int
}

// Expansions resolves an expansion for a row (REC-23 to REC-25): unknown
// relations first, then those outside the grant, then the limits.
func Expansions(e Expand, r *grant.Reach, row grant.Row) ([]Expansion, error) {
	var out []Expansion
	var denied error
	for _, name := range e.Relations {
		rel, err := r.Relation(row, name)
		if pdpp.CodeOf(err) == pdpp.CodeInvalidExpand {
			return nil, err
		}
		if denied == nil {
			denied = err
		}
		out = append(out, Expansion{Relation: rel, Limit: 1})
	}
	if denied != nil {
		return nil, denied
	}
	for i := range out {
		rel := &out[i]
		if rel.HasMany {
			rel.Limit = rel.DefaultLimit
		}
		limit, given := e.Limits[rel.Name]
		if !given {
			continue
		}
		if !rel.HasMany {
			return nil, badExpand("expand_limit", "Relation \""+rel.Name+"\" has at most one record and takes no limit.")
		}
		n, err := integer(limit)
		if err != nil || n < 1 || n > rel.MaxLimit {
			return nil, badExpand("expand_limit", "The limit of relation \""+rel.Name+"\" is an integer from 1 to the advertised max_limit.")
		}
		rel.Limit = n
	}
	return out, nil
}

func badExpand(param, message string) error {
	return &pdpp.Error{Code: pdpp.CodeInvalidExpand, Param: param, Message: message}
}

package pdpp

import "slices"

// Op is a filter operator.
type Op string

// The operators.
const (
	OpEq  Op = "eq"
	OpGte Op = "gte"
	OpGt  Op = "gt"
	OpLte Op = "lte"
	OpLt  Op = "lt"
)

// RangeOps are the operators of ordered kinds (Kind.IsOrdered), in the order in which
// schemas and messages list them. OpEq is for every kind.
var RangeOps = []Op{OpGte, OpGt, OpLte, OpLt}

// RangeOpList names the range operators in messages: "gte, gt, lte, lt".
const RangeOpList = OpGte + ", " + OpGt + ", " + OpLte + ", " + OpLt

// IsRange reports whether o is a range operator.
func (o Op) IsRange() bool { return slices.Contains(RangeOps, o) }

// Param returns the query parameter of a filter: filter[field] for equality,
// filter[field][op] for a range.
func (o Op) Param(field string) string {
	if o.IsRange() {
		return "filter[" + field + "][" + string(o) + "]"
	}
	return "filter[" + field + "]"
}

// Bounds reports whether the operand is a lower bound of the matching values, an upper
// bound, or both (equality), and whether the operand itself is excluded.
func (o Op) Bounds() (lower, upper, excluded bool) {
	return o != OpLte && o != OpLt, o != OpGte && o != OpGt, o == OpGt || o == OpLt
}

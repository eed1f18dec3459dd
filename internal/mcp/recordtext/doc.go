// Package recordtext renders records and search hits as text within byte budgets
// (MS-62 to MS-69). An Item is one record or hit: a head that is printed whole, labels, and
// parts that are shortened or left out when space is short. An ItemWriter shares a budget
// between the items of a list. A Page adds the lines before and after them.
//
// It knows values and their evidence, but no tools and no reader: the calls that show what
// an item omits are written by a Calls that the caller provides.
package recordtext

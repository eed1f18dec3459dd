// Package fold computes the groups of an aggregate (rs-contract §4) from rows that a
// store reads in the order of their values. It sees every row once and keeps only as
// many groups as the query asks for, so that its memory does not grow with the number
// of groups or values. Every store uses it: the rules of exactness (AG-10, AG-12),
// order and limit (AG-7, AG-9) are implemented only here.
package fold

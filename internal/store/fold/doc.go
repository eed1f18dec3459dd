// Package fold makes the groups of an aggregate (rs-contract §4) out of rows that a
// store reads in the order of their values. It sees every row once and keeps no
// more than the groups that are asked for, so that its memory does not grow with
// the number of groups or of values. It is the same for every engine: all that is
// said of exactness (AG-10, AG-12), order and cut (AG-7, AG-9) is said here once.
package fold

// Package issue creates the tokens of grants, packages and owners, for commands and for the
// authorization server. A token that it returns is not stored yet: the caller does that in
// the transaction in which it read or created the grant.
package issue

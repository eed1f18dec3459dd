// Package consent decides what an owner is asked and what a client gets: Request is what
// the client wants, Offer what the owner can choose from, Choice what the owner ticked,
// and Decision the grants that follow (hosted-auth H-146…H-149, §6.3).
//
// Each step only narrows the one before. An offer has nothing that was not requested, and
// a decision nothing that was not offered, with the exception of primary keys, which
// every grant includes and the offer shows (H-148). What the owner has not chosen is not
// granted: an empty choice is an error, never a default.
//
// The package is pure: no I/O, no clock.
package consent

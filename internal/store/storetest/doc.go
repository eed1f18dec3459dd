// Package storetest is the executable form of the store contract: every store
// passes Run. It assumes nothing about how a store keeps its data.
//
// Model is a store in a map. It has the expected content after a random sequence of
// operations, so that a store can be compared with it.
package storetest

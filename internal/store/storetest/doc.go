// Package storetest is the executable form of the store contract: every store
// passes Run. It knows the contract alone and assumes nothing about how a store
// keeps its data.
//
// Model is a store in a map. It says what a random sequence of operations should
// have left behind, so that a store can be compared with it.
package storetest

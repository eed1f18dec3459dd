// Package pipetest serves HTTP over pipes in memory. Inside a bubble of
// testing/synctest every deadline then follows the fake clock, so a test of
// time limits does not depend on how fast the machine is.
package pipetest

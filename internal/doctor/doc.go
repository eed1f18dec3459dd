// Package doctor looks at a server from outside, as a stranger would, and says what is
// wrong with it and how to mend it (H-25, H-26). It sends no credential, registers
// nothing and changes nothing.
//
// What a server does not serve at all is passed over, as long as it is the server that
// says so; what something in between withholds is a failure.
package doctor

// Package pages serves the HTML pages: landing, sign-in, consent, and the pages on which
// an owner sees and changes who can read what. They are rendered on the server, and work
// without scripts and with a keyboard (H-173); only passkeys need a script, because
// browsers offer them to scripts alone.
//
// Every page is one template of templates/ inside layout.html, one handler that fills it,
// and one line in routes.go. Package signin knows who is signed in, package as what is
// asked for and granted; neither knows about HTML.
package pages

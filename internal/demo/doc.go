// Package demo generates the data of an invented person: Mara Lindqvist, a translator in
// Hamburg, her mail, chats, bank accounts, notes and steps from January 2023 to October
// 2026. Newcomers can try the program with it before they connect data of their own, and
// tests get a realistic owner.
//
// The data is generated from hand-written texts in data/ and a fixed seed. Every build
// generates the same bytes on every machine: the package uses no clock, no floating point,
// no map order, and no compressor whose output may change between releases. Every source
// that would know of an event contains it: the rent increase of 2023 is a message, a
// changed standing order and a note.
//
// The package only produces lines and blobs. It stores nothing and imports no store,
// server or command. All names, addresses and companies are invented; mail domains are
// reserved ones.
package demo

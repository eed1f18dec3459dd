// Package demo holds the data of a person who does not exist: Mara Lindqvist, a
// translator in Hamburg, her letters, chats, accounts, notes and steps from
// January 2023 to October 2026. It lets a newcomer read something worth reading
// before connecting anything of their own, and gives tests a realistic owner.
//
// The data is generated from hand-written texts in data/ and a fixed seed. The
// same build gives the same bytes on every machine: no clock, no floating point,
// no map order, no compressor whose output may change between releases. One event
// appears wherever it would in life: the rent increase of 2023 is a letter, a
// changed standing order and a note.
//
// The package only produces lines and blobs. It stores nothing and knows no
// store, server or command. All names, addresses and firms are invented; mail
// domains are reserved ones.
package demo

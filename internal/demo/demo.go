package demo

import (
	"embed"
	"iter"
	"slices"
)

//go:embed data/*
var files embed.FS

// Source is one connector with the accounts that the owner has connected.
type Source struct {
	Manifest    []byte // a source declaration (rs-contract §11.1)
	Connections []Connection
}

// Connection is one account: its operator name (H-19) and the owner's label.
type Connection struct {
	Name, Label string
}

// Sources lists the connectors, always in the same order.
func Sources() []Source {
	return []Source{
		{readFile("manifests/mail.json"), []Connection{{"personal", "Personal mail"}, {"work", "Studio mail"}}},
		{readFile("manifests/chat.json"), []Connection{{"phone", "Phone"}}},
		{readFile("manifests/bank.json"), []Connection{{"giro", "Joint account"}, {"savings", "Savings"}}},
		{readFile("manifests/notes.json"), []Connection{{"notebook", "Notebook"}}},
		{readFile("manifests/health.json"), []Connection{{"watch", "Watch"}}},
	}
}

// Lines returns the RECORD messages of one connection (H-21) in ascending order of
// emitted_at, one JSON object per item, without newline. It returns none for a connector
// or connection that Sources does not list. The caller owns each item.
func Lines(connector, connection string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		records := newWorld().records(connector, connection)
		slices.SortStableFunc(records, func(a, b record) int { return a.emitted.Compare(b.emitted) })
		for _, r := range records {
			if !yield(r.line()) {
				return
			}
		}
	}
}

// GrantSpec returns the spec of a grant for an assistant (H-15): mail of both accounts
// since 2025. It excludes the sender's address, whether a message was read, and the
// owner's notes about people, so that the demo can show refusals.
func GrantSpec() []byte { return readFile("grant.json") }

func readFile(name string) []byte {
	b, err := files.ReadFile("data/" + name)
	if err != nil {
		panic("demo: " + err.Error()) // the files are embedded, so this is a broken build
	}
	return b
}

package journeys

import (
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// journey is a question, and the calls that answer it for both readers.
type journey struct {
	question string
	walk     func(*walker)
}

func allJourneys() []journey {
	return []journey{
		{"what does a letter say that a search finds", byWords},
		{"what is in the middle of a letter of 200 KB", middleOfLetter},
		{"what does the whole letter say", wholeLetter},
		{"what does the letter say around a word", aroundWord},
		{"what is the end of a text that a list truncates", cutInList},
		{"who is in the address book", pageToEnd},
		{"which letters mention something", searchToEnd},
		{"how many letters came in 2026, and which is the first", filtered},
		{"what has changed since last time", resumeChanges},
		{"which of two accounts is meant", ambiguousRecord},
		{"what can be read of a stream in one account", ambiguousSchema},
		{"what came in and went out by month", totalByMonth},
		{"what was most money spent on", byCategory},
		{"how much is it altogether", oneTotal},
		{"when was the last booking, and what was it", lastBooking},
		{"which file came with a letter", attachmentOfLetter},
		{"what are the facts of a file", attachmentByName},
		{"what does a record with an unusual id say", unusualID},
		{"what was noted in a list", nestedList},
		{"what was booked in a month with many bookings", manyChildren},
		{"recover: an argument out of range", outOfRange},
		{"recover: a stream outside the grant", wrongStream},
		{"recover: a field that does not exist", wrongField},
		{"recover: a field outside the grant", hiddenField},
		{"recover: a filter that is a string", stringFilter},
		{"recover: an operator that is not declared", wrongOperator},
		{"recover: an order that is not declared", wrongSort},
		{"recover: an invalid cursor", wrongCursor},
		{"recover: a bookmark that is a date", wrongBookmark},
		{"recover: a relation that does not exist", wrongRelation},
		{"recover: a connection that does not exist", wrongConnection},
		{"recover: an invalid id", wrongID},
		{"recover: a record that does not exist", missingRecord},
		{"recover: words that a text does not contain", missingWords},
		{"recover: a field that a record does not have", missingField},
		{"recover: a search mode that is not offered", wrongMode},
		{"recover: a full schema without a stream", fullWithoutStream},
	}
}

// TestHalfBlind answers every question from the text alone and from the structured output
// alone, in both eras of the protocol (MS-40, CONT-1).
func TestHalfBlind(t *testing.T) {
	t.Run("CONT-1 half blind", func(t *testing.T) {
		w := newWorld(t)
		readers := map[string]func(*testing.T, *sdk.CallToolResult) result{"text": readText, "structured": readStructured}
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			for name, half := range readers {
				t.Run(revision+"/"+name, func(t *testing.T) {
					sessions := map[string]*sdk.ClientSession{}
					for connector := range w.tokens {
						sessions[connector] = w.connect(t, connector, revision)
					}
					for _, j := range allJourneys() {
						t.Run(j.question, func(t *testing.T) {
							walk := &walker{T: t, w: w, half: half, sessions: sessions}
							j.walk(walk)
							if walk.calls == 0 {
								t.Error("the journey made no call")
							}
						})
					}
				})
			}
		}
	})
}

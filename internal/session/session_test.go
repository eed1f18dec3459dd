package session

import (
	"os"
	"slices"
	"strings"
	"testing"

	"pdpp/internal/archtest"
)

// row is a requirement that a client can observe: its id, a sentence and the check.
type row struct {
	name  string
	check func(*visit)
	only  string // the one transport it applies to; "": all
}

// TestSession checks the requirements of docs/spec/requirements.md that are marked ◆.
func TestSession(t *testing.T) {
	rows := []row{
		{name: "TOOLS-1 six tools and no other", check: exactTools},
		{name: "TOOLS-2 every tool takes connection_id", check: sourceSelector},
		{name: "SURFACE-4 connection_id is the source selector", check: sourceDescribed},
		{name: "INSTR-1 the first 512 characters are complete", check: instructed},
		{name: "DESC-1 no sentence is in two tools", check: noRepetition},
		{name: "DESC-2 a description names action, kind, route and further reading", check: routable},
		{name: "HIDDEN-1 structured output is not hidden", check: nothingHidden},
		{name: "FOOT-1 the lists stay within their budgets", check: withinBudget},
		{name: "FILTER-1 a filter is listed as an object", check: filterIsObject},
		{name: "FIELD-3 the contract of read_record_field is listed", check: windowContract},

		{name: "SURFACE-2 arguments are forwarded unchanged, unknown ones refused", check: forwarded},
		{name: "FILTER-2 an exact filter becomes a bracketed parameter", check: exactFilter},
		{name: "FILTER-3 a range becomes bracketed parameters", check: rangeFilter},
		{name: "FILTER-4 a string filter is refused", check: stringFilter},
		{name: "FILTER-5 an empty filter or a key with brackets is refused", check: brokenFilter},
		{name: "FILTER-6 aggregate and search take the same filter", check: sameFilter},
		{name: "EXPLIM-1 a limit of a relation becomes a bracketed parameter", check: expandLimit},
		{name: "EXPLIM-2 the same in fetch", check: expandLimitOfFetch},
		{name: "EXPLIM-3 an empty limit or a key with brackets is refused", check: brokenExpandLimit},
		{name: "GATE-1 an advertised relation is forwarded", check: gateOpen},
		{name: "GATE-2 a relation that is not advertised is refused", check: gateShut},

		{name: "DISC-3 only search modes of the server are offered", check: noOtherMode},
		{name: "SCHEMA-1 a compact schema is the server's compact view", check: compactSchema},
		{name: "SCHEMA-3 a full schema is the server's full document", check: fullSchema},
		{name: "DISC-1 the index names every stream, however many there are", check: wideIndex},
		{name: "DISC-2 a stream of several connections has a row for each", check: sharedStream},
		{name: "DISC-3 a stream of one connection has one row", check: oneRow},
		{name: "DISC-4 the text is enough to build every call", check: enoughToCall},
		{name: "DISC-5 a full schema needs a stream", check: fullNeedsStream},
		{name: "DISC-6 a full schema is of one connection", check: fullOfOne},
		{name: "AGG-1 a number is in the text", check: oneNumber},
		{name: "AGG-2 groups are previewed", check: groups},
		{name: "AGG-4 groups beyond the limit are counted", check: otherCount},

		{name: "STDOUT-1 the output contains only messages", check: cleanOutput, only: "stdio"},
		{name: "ERR-1 errors keep the server's code and message", check: errorsKept},
		{name: "ERR-1 the error of a revoked token is kept", check: tokenEnded, only: "stdio"},
		{name: "TOOLS-3 a tool shows only what the grant covers", check: neverBroader},
		{name: "HOSTED-5 every read is a /v1 read with the rights of the client", check: throughTheServer},
		{name: "PKG-4 a package reads a stream where it is granted", check: packageRoutes, only: "http"},
		{name: "AMBIG-1 an ambiguous connection of a package is an error", check: packageAmbiguous, only: "http"},

		{name: "GPT-1 results have stable ids, titles and URLs", check: stableResults},
		{name: "TEXT-1 hits are in the text", check: hitsInText},
		{name: "TEXT-2 the text of many hits is bounded", check: boundedHits},
		{name: "ID-1 ids name connection, stream and record", check: wholeIDs},
		{name: "ID-2 an id from the text is enough", check: idIsEnough},
		{name: "ID-3 a legacy id is scoped by connection_id, or ambiguous", check: legacyID},
		{name: "ID-4 an id and another connection_id are refused", check: conflictingID},
		{name: "ID-5 malformed ids are refused", check: malformedID},
		{name: "ID-5 TEXT-1 a connection that no id can contain is shown beside it", check: unwrapped, only: "stdio"},
		{name: "FANIN-1 hits of several connections are merged and attributed", check: fanIn},
		{name: "FANIN-1 a page of records names each source once", check: namedSources},
		{name: "FANIN-2 connection_id searches one connection", check: oneSource},
		{name: "PAGE-1 cursors, bookmarks and counts are in the text", check: allPages},

		{name: "GPT-2 a found id is fetched as one document", check: oneDocument},
		{name: "TEXT-3 the text shows id, title, source and a preview", check: card},
		{name: "TEXT-4 a wrapped record is understood", check: nestedRecord},
		{name: "PROJ-1 fetch returns only a document", check: onlyDocument},
		{name: "PROJ-2 fields narrow a document", check: projectedDocument},
		{name: "PROJ-3 fields narrow records", check: projectedRecords},
		{name: "EVID-1 titles and texts come from declared roles, not from names", check: declaredRoles},
		{name: "EVID-2 binaries are shown as facts with an export", check: binaryExport},
		{name: "EVID-1 no field is left out because of its value", check: equalValues},
		{name: "CONT-2 nothing invisible is in a text or a document", check: nothingInvisible},
		{name: "CONT-2 a number beyond float64 does not break a client", check: hugeNumber},
		{name: "BINARY-1 the facts of a binary are in every read", check: binaryFacts},
		{name: "EVID-2 a text file is read in windows, by text alone and by structure alone", check: textFile},
		{name: "EVID-2 another file is shown as facts and a link", check: otherFile},
		{name: "EVID-2 a file is read with the rights of the client", check: foreignFile},
		{name: "EVID-2 a file of a member of a package is read", check: packageFile, only: "http"},

		{name: "LADDER-1 a truncated hit offers the next read", check: cutHit},
		{name: "FIELD-1 the hints of the text read a field to its end and back", check: allWindows},
		{name: "FIELD-1 every match of words in a field is reached", check: everyMatch},
		{name: "FIELD-2 a cursor excludes other selectors", check: exclusiveSelectors},
		{name: "RES-1 resources read what tools read", check: sameResource},
		{name: "HANDLE-1 a handle authorizes nothing", check: outsideTheGrant},
		{name: "OPAQUE-1 a long body is a preview and a next read", check: previewAndRead},
		{name: "CONT-1 every offered call works", check: nothingLost},
		{name: "CONT-2 the text alone is enough", check: textAlone},
		{name: "LINK-1 tools reach what resources hold", check: withoutResources},
		{name: "LINK-2 a small text is read inline", check: readInline},
	}
	for _, tr := range transports {
		for _, era := range eras {
			t.Run(tr.name+" "+era, func(t *testing.T) {
				w := newWorld(t)
				for _, r := range rows {
					if r.only != "" && r.only != tr.name {
						continue
					}
					t.Run(r.name, func(t *testing.T) { r.check(&visit{T: t, world: w, transport: tr, era: era}) })
				}
			})
		}
	}
	complete(t, rows)
}

// oneTransport lists the rows marked ◆ that only one transport can show, with the reason.
var oneTransport = map[string]string{
	"STDOUT-1": "only stdio has an output",
	"AMBIG-1":  "stdio needs a saved credential; cmd/pdpp tests it (TestPackageAnswersAlike)",
}

// complete checks that the table has every requirement of the specification.
func complete(t *testing.T, rows []row) {
	t.Helper()
	spec, err := os.ReadFile("../../docs/spec/requirements.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, demand := range archtest.SpecRequirements(string(spec)) {
		shown := slices.ContainsFunc(rows, func(r row) bool {
			return (r.only == "" || oneTransport[demand.ID] != "") && strings.HasPrefix(r.name, demand.ID+" ")
		})
		if demand.Session && !shown {
			t.Errorf("%s is not in the table", demand.ID)
		}
	}
}

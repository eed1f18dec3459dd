package limits

import "pdpp"

// The sizes of MS-20.
const (
	ToolsListMax = 16_384 // bytes of the tools/list result

	InstructionsMax  = 1_600 // characters
	InstructionsHead = 512   // characters; the text up to here is complete by itself

	ResultMax = 98_304 // bytes of a result of query_records or search, text and structured
	FetchMax  = 81_920 // bytes of the structured output of fetch

	PreviewField    = 200    // characters, preference of query_records for 25 records
	PreviewFieldMax = 2_048  // characters, the same for few records
	PreviewPage     = 12_000 // bytes, preference of query_records for each 25 records
	LocalPage       = 65_536 // bytes of a page that the server did not bound
	SearchPreview   = 120    // characters, preference of search
	SearchPage      = 49_152 // bytes, preference of search
	FetchField      = 65_536 // characters, preference of fetch

	QueryTextMax  = 8_192 // bytes of text; the same for the constants below
	SearchTextMax = 8_192
	AggTextMax    = 4_096
	SchemaTextMax = 8_192
	ScopedTextMax = 6_144
	CardMax       = 1_024
	ErrorTextMax  = 2_048

	SchemaStructuredMax = 60_000 // bytes
	FullStructuredMax   = 200_000

	DocTextMax  = 65_536 // bytes of document text inline
	SentTextMax = 77_824 // bytes of that text as sent: escaped twice, as a JSON string in a JSON string

	WindowDefault = pdpp.DefaultWindow // characters
	WindowMax     = pdpp.MaxWindow
	ContextMax    = pdpp.MaxContext

	PreviewChars     = 240 // characters of one text field in a card or excerpt
	JSONPreviewBytes = 512 // bytes of a nested value shown whole
	TitleChars       = 120
	LabelChars       = 60
	RowMin           = 160 // bytes, the smallest share of one record
	HitMin           = 280 // bytes, the smallest share of one hit

	LadderRecords = 25
	LadderFields  = 8
	LadderMax     = 16_384 // bytes

	RecordResourceMax = 262_144 // bytes of a record as a resource

	BlobInlineMax = 262_144    // bytes
	BlobHead      = 65_536     // bytes of a file that are read first
	BlobPart      = 1_048_576  // bytes of a file in each further read
	BlobScanMax   = 67_108_864 // bytes of a file that are read to find a place in it
)

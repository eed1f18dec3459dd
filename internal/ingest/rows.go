package ingest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"pdpp"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

// Format is how rows are written (H-23).
type Format string

// The formats. formatAuto decides by the name of the file and, when that is not enough,
// by its first character.
const (
	formatAuto  Format = "auto"
	formatCSV   Format = "csv"
	formatJSON  Format = "json" // an array of objects
	formatJSONL Format = "jsonl"
)

// ImportOptions are the choices of `pdpp import` (H-23).
type ImportOptions struct {
	Stream      string
	Format      Format            // "" for formatAuto
	Map         map[string]string // field -> column, where the names differ
	EmittedAt   time.Time         // zero: now
	StopOnError bool
	DryRun      bool
}

// Import stores plain rows in a stream: CSV with a header, a JSON array of objects, or
// lines with one object each. The key is built from the fields of the primary key;
// values are converted to the declared types. It commits, counts and fails like Run.
//
// CSV columns that are not declared fields are left out, with a warning that names them;
// unknown properties of JSON rows are kept. A CSV file that lacks a column for a field
// of the primary key or of Map is refused as a whole (CodeInvalidInput).
func (r *Runner) Import(ctx context.Context, subject pdpp.SubjectID, conn pdpp.Connection, m *pdpp.Manifest,
	opts ImportOptions, files []File,
) (Summary, error) {
	run := r.newRun(subject, conn, m)
	run.stream, run.stopOnError, run.dry = opts.Stream, opts.StopOnError, opts.DryRun
	s := m.Stream(opts.Stream)
	if s == nil {
		return run.summary, Undeclared(opts.Stream, m)
	}
	im := &importer{run: run, opts: opts, stream: s}
	if err := im.checkOptions(); err != nil {
		return run.summary, err
	}
	summary, err := run.do(ctx, files, im.open)
	summary.Warnings = im.warnings
	if n := summary.Records.Superseded; n > 0 {
		summary.Warnings = append(summary.Warnings, im.collapsed(n))
	}
	return summary, err
}

// collapsed returns the warning that rows with one key became one record. Mostly that
// means that the primary key is not unique.
func (im *importer) collapsed(rows int64) string {
	return fmt.Sprintf("%d rows have the key of a later row and were replaced by it. The key of %q is %s; if these rows are different records, declare another primary_key.",
		rows, im.stream.Name, strings.Join(im.stream.PrimaryKey, ", "))
}

// importer turns rows into records.
type importer struct {
	run    *run
	opts   ImportOptions
	stream *pdpp.Stream

	mu       sync.Mutex
	warnings []string
}

func (im *importer) checkOptions() error {
	switch im.opts.Format {
	case "", formatAuto, formatCSV, formatJSON, formatJSONL:
	default:
		return pdpp.Errorf(pdpp.CodeUsage, "The format is auto, csv, json or jsonl.")
	}
	for field := range im.opts.Map {
		if im.stream.Field(field) == nil {
			return pdpp.Errorf(pdpp.CodeUsage, "The stream %q declares no field %q.", im.stream.Name, field)
		}
	}
	return nil
}

// column returns the column that the value of a field is read from.
func (im *importer) column(field string) string {
	if column, ok := im.opts.Map[field]; ok {
		return column
	}
	return field
}

func (im *importer) warn(text string) {
	im.mu.Lock()
	defer im.mu.Unlock()
	if !slices.Contains(im.warnings, text) {
		im.warnings = append(im.warnings, text)
	}
}

func (im *importer) open(name string, text io.Reader) (format, error) {
	r := bufio.NewReaderSize(text, readSize)
	if bom, _ := r.Peek(len(byteOrderMark)); string(bom) == string(byteOrderMark) {
		_, _ = r.Discard(len(bom)) // the peeked bytes are in the buffer
	}
	switch im.formatOf(name, r) {
	case formatJSON:
		return format{&elements{r: r, line: 1}, im.decodeJSON}, nil
	case formatJSONL:
		return format{&lineSource{newLines(r)}, im.decodeJSON}, nil
	}
	return im.openCSV(name, r)
}

func (im *importer) formatOf(name string, r *bufio.Reader) Format {
	if im.opts.Format != "" && im.opts.Format != formatAuto {
		return im.opts.Format
	}
	switch strings.ToLower(filepath.Ext(strings.TrimSuffix(name, ".gz"))) {
	case ".csv":
		return formatCSV
	case ".jsonl", ".ndjson":
		return formatJSONL
	}
	switch firstChar(r) {
	case '[':
		return formatJSON
	case '{':
		return formatJSONL
	}
	return formatCSV
}

// firstChar returns the first character that is not white space, within the first 4096
// bytes; 0 when there is none.
func firstChar(r *bufio.Reader) byte {
	for n := 1; n <= 4096; n++ {
		head, err := r.Peek(n)
		if err != nil {
			break
		}
		if c := head[n-1]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
	}
	return 0
}

// item returns the record of a converted row.
func (im *importer) item(data []byte, now time.Time) item {
	in := store.Input{Data: data, EmittedAt: now}
	if !im.opts.EmittedAt.IsZero() {
		in.EmittedAt = im.opts.EmittedAt
	}
	var bad *Rejection
	in.ID, bad = rowIdentity(im.stream, data)
	return im.run.recordItem(im.run.targets.Load(), im.stream.Name, in, bad)
}

func (im *importer) refuse(bad *Rejection) item {
	return item{kind: rejectedItem, stream: im.stream.Name, bad: bad}
}

// rowIdentity builds the key of a row from its fields (H-23).
func rowIdentity(s *pdpp.Stream, data []byte) (pdpp.RecordID, *Rejection) {
	parts := make([]string, len(s.PrimaryKey))
	for i, field := range s.PrimaryKey {
		value, ok := rawjson.Get(data, field)
		if !ok || missing(value) {
			return "", badIdentity("The row has no value for the key field " + strconv.Quote(field) + ".")
		}
		part, bad := appendPart(nil, value)
		if bad != nil {
			return "", bad
		}
		parts[i] = string(part)
	}
	return checked(canonical(parts))
}

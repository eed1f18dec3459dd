package ingest

import (
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pdpp"
)

// csvColumn is a column of a file that is read into a field.
type csvColumn struct {
	index int
	name  string
	field *pdpp.Field
}

// csvRows reads the rows of a CSV file.
type csvRows struct {
	r     *csv.Reader
	limit *allowance
	line  int64 // of the last row
	over  bool
}

// openCSV reads the header.
func (im *importer) openCSV(name string, text io.Reader) (format, error) {
	limit := &allowance{r: text}
	rows := &csvRows{r: csv.NewReader(limit), limit: limit, line: 1}
	rows.limit.renew()
	header, err := rows.r.Read()
	switch {
	case errors.Is(err, io.EOF):
		return format{rows, nil}, nil // an empty file has no rows
	case isParseError(err), errors.Is(err, errLongRow):
		return format{}, pdpp.Errorf(pdpp.CodeInvalidInput, "The first line of %s is not a CSV header.", name)
	case err != nil:
		return format{}, readFailure(name, err)
	}
	columns, err := im.columns(name, header)
	if err != nil {
		return format{}, err
	}
	decode := func(_ *arena, u unit, now time.Time) item { return im.decodeCells(columns, u.cells, now) }
	return format{rows, decode}, nil
}

// columns finds the field of each column, in the order of the file.
func (im *importer) columns(name string, header []string) ([]csvColumn, error) {
	at := make(map[string]int, len(header))
	for i, h := range header {
		h = strings.TrimSpace(h)
		if _, twice := at[h]; twice {
			return nil, pdpp.Errorf(pdpp.CodeInvalidInput, "%s has two columns with the name %q.", name, h)
		}
		at[h], header[i] = i, h
	}
	for _, field := range im.needed() {
		if _, ok := at[im.column(field)]; !ok {
			return nil, noColumn(name, field, im.column(field), header)
		}
	}
	var columns []csvColumn
	var ignored []string
	for i, h := range header {
		before := len(columns)
		for _, f := range im.stream.Fields {
			if im.column(f.Name) == h {
				columns = append(columns, csvColumn{i, h, f})
			}
		}
		if len(columns) == before {
			ignored = append(ignored, strconv.Quote(h))
		}
	}
	if len(ignored) > 0 {
		im.warn(name + ": columns that are no declared fields were left out: " + strings.Join(ignored, ", "))
	}
	return columns, nil
}

// noColumn returns the error for a missing column. It lists the first columns of the
// file.
func noColumn(name, field, column string, header []string) error {
	const most = 20
	var found []string
	for _, h := range header[:min(len(header), most)] {
		found = append(found, strconv.Quote(h))
	}
	if len(header) > most {
		found = append(found, "…")
	}
	e := pdpp.Errorf(pdpp.CodeInvalidInput, "%s has no column %q for the field %q; it has: %s.", name, column, field, strings.Join(found, ", "))
	switch {
	case len(header) == 1 && strings.Contains(header[0], ";"):
		e.Hint = "The columns seem to be separated by semicolons; they must be separated by commas."
	case len(header) == 1 && strings.Contains(header[0], "\t"):
		e.Hint = "The columns seem to be separated by tabs; they must be separated by commas."
	case column == field:
		e.Hint = "Where the names differ, give --map " + field + "=COLUMN."
	}
	return e
}

// needed returns the fields that must have a column.
func (im *importer) needed() []string {
	fields := append([]string(nil), im.stream.PrimaryKey...)
	for _, f := range im.stream.Fields {
		if _, mapped := im.opts.Map[f.Name]; mapped {
			fields = append(fields, f.Name)
		}
	}
	return fields
}

func (im *importer) decodeCells(columns []csvColumn, cells []string, now time.Time) item {
	var row object
	for _, c := range columns {
		cell := cells[c.index]
		if !utf8.ValidString(cell) {
			return im.refuse(&Rejection{invalidUTF8, "The column " + strconv.Quote(c.name) + " is not valid UTF-8."})
		}
		value, use, ok := fromCell(c.field, cell)
		if !ok {
			return im.refuse(unconverted(c.name, c.field))
		}
		if use {
			row.add(c.field.Name, value)
		}
	}
	return im.item(row.bytes(), now)
}

// unconverted names the column and its declared type, not its value.
func unconverted(column string, f *pdpp.Field) *Rejection {
	want := strings.Join(f.Types, " or ")
	if f.Kind.IsTime() {
		want = f.Format
	}
	return badRecord("The column " + strconv.Quote(column) + " does not hold a value of the declared type: " + want + ".")
}

// next reads a row. It refuses a row that is not valid CSV and continues with the next;
// after a row that is too long it stops, because it cannot find the start of the next.
func (s *csvRows) next() (unit, error) {
	if s.over {
		return unit{}, io.EOF
	}
	s.limit.renew()
	cells, err := s.r.Read()
	u := unit{cells: cells}
	var parse *csv.ParseError
	switch {
	case err == nil:
	case errors.Is(err, csv.ErrFieldCount):
		u = unit{bad: badRecord("The row has more or fewer cells than the header.")}
	case errors.Is(err, errLongRow):
		s.over = true
		u = unit{bad: badRecord("The row is longer than 16 MiB; the rest of the file was not read.")}
	case errors.As(err, &parse):
		u = unit{bad: badRecord("The row is not valid CSV: a quote is out of place.")}
	default:
		return unit{}, err
	}
	s.line = s.lineOf(parse, cells)
	u.line = s.line
	return u, nil
}

// lineOf returns the line at which the last row begins, as far as it is known.
func (s *csvRows) lineOf(parse *csv.ParseError, cells []string) int64 {
	switch {
	case parse != nil:
		return int64(parse.StartLine)
	case len(cells) > 0:
		line, _ := s.r.FieldPos(0)
		return int64(line)
	}
	return s.line + 1
}

func isParseError(err error) bool {
	var parse *csv.ParseError
	return errors.As(err, &parse)
}

var errLongRow = errors.New("row too long")

// allowance limits what is read for one row: otherwise a quote that is never closed
// would read the rest of the file into memory.
type allowance struct {
	r    io.Reader
	left int
}

func (a *allowance) renew() { a.left = maxLine + readSize }

func (a *allowance) Read(p []byte) (int, error) {
	if a.left <= 0 {
		return 0, errLongRow
	}
	n, err := a.r.Read(p[:min(len(p), a.left)])
	a.left -= n
	return n, err
}

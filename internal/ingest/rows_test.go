package ingest

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

func TestImportCSV(t *testing.T) {
	w := newWorld(t)
	file := written(t, "a.csv", "\xef\xbb\xbfid,memo, amount ,price,paid,day,posted_at,tags,place,note,any,Extra\r\n"+
		`a,"two`+"\n"+`lines, ""quoted""",012345678901234567890,1.50,YES,2026-05-01,2026-05-01 10:00:00,"[1, 2]","{""a"": 1.0}",n,t,z`+"\r\n"+
		`b,,,,,,,,,,,`+"\n"+
		`c,m,12.0,1e5,0,2026-05-01,2026-05-01T10:00:00+02:00,[],{},,"{}",`+"\n")
	sum := w.imported(ImportOptions{Stream: "entries"}, file)
	want := []string{
		`entries c {"id":"c","memo":"m","amount":12.0,"price":1e5,"paid":false,"day":"2026-05-01","posted_at":"2026-05-01T10:00:00+02:00","tags":[],"place":{},"note":"","any":"{}"}`,
		`entries b {"id":"b","memo":null,"price":null,"place":null,"note":""}`,
	}
	got := w.dump()
	if len(got) != 2 || !contains(got, want[0]) || !contains(got, want[1]) {
		t.Errorf("store %s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	wantBad := []LineRejection{{
		File: file.Name, Line: 2, Code: invalidRecord,
		Message: `The column "amount" does not hold a value of the declared type: integer.`,
	}}
	if diff := cmp.Diff(wantBad, sum.Rejections); diff != "" {
		t.Errorf("rejections (-want +got):\n%s", diff)
	}
	if len(sum.Warnings) != 1 || !strings.HasSuffix(sum.Warnings[0], `left out: "Extra"`) {
		t.Errorf("warnings %q", sum.Warnings)
	}
}

func contains(rows []string, row string) bool {
	for _, r := range rows {
		if r == row {
			return true
		}
	}
	return false
}

func TestImportCSVRows(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
		bad        []LineRejection
	}{
		{"quoted newline", "id,memo\na,\"x\ny\"\n\nb,z\n", []string{`entries a {"id":"a","memo":"x\ny"}`, `entries b {"id":"b","memo":"z"}`}, nil},
		{"ragged", "id,memo\na\nb,c,d\ne,f\n", []string{`entries e {"id":"e","memo":"f"}`}, []LineRejection{
			{"f.csv", 2, invalidRecord, "The row has more or fewer cells than the header."},
			{"f.csv", 3, invalidRecord, "The row has more or fewer cells than the header."},
		}},
		{"quotes", "id,memo\na,x\"y\nb,c\n\"d\",\"e\"f\ng,h\n", []string{`entries b {"id":"b","memo":"c"}`, `entries g {"id":"g","memo":"h"}`}, []LineRejection{
			{"f.csv", 2, invalidRecord, "The row is not valid CSV: a quote is out of place."},
			{"f.csv", 4, invalidRecord, "The row is not valid CSV: a quote is out of place."},
		}},
		{"no key", "memo,id\nx,\n", nil, []LineRejection{{"f.csv", 2, invalidRecordIdentity, "The key is empty."}}},
		{"utf-8", "id,memo\na,\xff\n", nil, []LineRejection{{"f.csv", 2, invalidUTF8, `The column "memo" is not valid UTF-8.`}}},
		{"empty", "", nil, nil},
		{"header only", "id", nil, nil},
	}
	for _, tt := range tests {
		w := newWorld(t)
		sum := w.imported(ImportOptions{Stream: "entries", Format: formatCSV}, File{Name: "f.csv", Reader: strings.NewReader(tt.text)})
		if diff := cmp.Diff(tt.want, w.dump()); diff != "" {
			t.Errorf("%s: store (-want +got):\n%s", tt.name, diff)
		}
		if diff := cmp.Diff(append([]LineRejection{}, tt.bad...), sum.Rejections); diff != "" {
			t.Errorf("%s: rejections (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestImportUnclosedQuote(t *testing.T) {
	w := newWorld(t)
	text := "id,memo\na,b\nc,\"" + strings.Repeat("x,y\n", 10<<20)
	sum := w.imported(ImportOptions{Stream: "entries", Format: formatCSV}, texted(text)...)
	if sum.Records != (Counts{Accepted: 1, Rejected: 1}) || sum.Rejections[0].Line != 3 {
		t.Errorf("%+v, %+v", sum.Records, sum.Rejections)
	}
}

func TestConvertText(t *testing.T) {
	field := func(kind pdpp.Kind, format string, types ...string) *pdpp.Field {
		return &pdpp.Field{Name: "f", Kind: kind, Format: format, Types: types}
	}
	str, integer := field(pdpp.KindString, "", "string"), field(pdpp.KindInteger, "", "integer")
	number, boolean := field(pdpp.KindNumber, "", "number"), field(pdpp.KindBoolean, "", "boolean")
	date, both := field(pdpp.KindDate, "date", "string"), field(pdpp.KindNone, "", "integer", "string")
	list, obj, null := field(pdpp.KindNone, "", "array"), field(pdpp.KindNone, "", "object"), field(pdpp.KindInteger, "", "integer", "null")
	tests := []struct {
		field *pdpp.Field
		cell  string
		want  string // "-": left out; "": does not convert
	}{
		{str, " a ", `" a "`},
		{str, "", `""`},
		{str, "12", `"12"`},
		{integer, " -12 ", `-12`},
		{integer, "12.0", `12.0`},
		{integer, "1e2", `1e2`},
		{integer, "1.5", ""},
		{integer, "007", ""},
		{integer, "1,000", ""},
		{integer, "+5", ""},
		{integer, "x", ""},
		{integer, "true", ""},
		{integer, "", "-"},
		{integer, `"1"`, ""},
		{integer, "123456789012345678901234567890", `123456789012345678901234567890`},
		{number, "1.50", `1.50`},
		{number, "1e400", `1e400`},
		{number, "NaN", ""},
		{number, ".5", ""},
		{boolean, "TRUE", `true`},
		{boolean, "no", `false`},
		{boolean, "1", `true`},
		{boolean, "2", ""},
		{boolean, "maybe", ""},
		{boolean, "", "-"},
		{date, "2026-05-01", `"2026-05-01"`},
		{date, "2026-05-01 10:11:12", `"2026-05-01T10:11:12"`},
		{date, "2026-02-30", ""},
		{date, "01.05.2026", ""},
		{date, "2026-05-01 noon", ""},
		{date, "", "-"},
		{both, "12", `"12"`},
		{both, "", "-"},
		{list, "[1, {}]", `[1,{}]`},
		{list, "{}", ""},
		{list, "[1", ""},
		{obj, `{"a": [1]}`, `{"a":[1]}`},
		{obj, `{"a":1,"a":2}`, ""},
		{obj, "null", ""},
		{null, "", `null`},
		{null, "3", `3`},
		{null, "null", ""},
	}
	for _, tt := range tests {
		out, use, ok := fromCell(tt.field, tt.cell)
		got := string(out)
		switch {
		case !ok:
			got = ""
		case !use:
			got = "-"
		}
		if got != tt.want {
			t.Errorf("fromCell(%v, %q) = %q, want %q", tt.field.Types, tt.cell, got, tt.want)
		}
	}
}

func TestImportJSON(t *testing.T) {
	rows := []string{
		`{"id": 7, "memo": "a\u0062", "amount": "12", "price": 1.50, "paid": "yes", "day": "2026-05-01", "more": {"x": [1.0]}}`,
		`{"id":"k", "amount":null, "memo":null, "note":true, "posted_at":"2026-05-01 10:00:00"}`,
		`{"id":"bad", "amount": 1.5}`,
		`{"memo":"no key"}`,
		`{"id":"worse", "tags": {}}`,
		`{"id":"x","id":"y"}`,
		`17`,
	}
	want := []string{
		`entries 7 {"id":"7","memo":"a\u0062","amount":12,"price":1.50,"paid":true,"day":"2026-05-01","more":{"x":[1.0]}}`,
		`entries k {"id":"k","memo":null,"note":"true","posted_at":"2026-05-01T10:00:00"}`,
	}
	codes := []LineCode{invalidRecord, invalidRecordIdentity, invalidRecord, malformedNDJSON, malformedNDJSON}
	for name, text := range map[string]string{
		"a.json":   " [\n" + strings.Join(rows, "\n , ") + "]\n",
		"b.json":   "\xef\xbb\xbf[" + strings.Join(rows, ",\n") + "]",
		"c.jsonl":  strings.Join(rows, "\n"),
		"d.ndjson": "\xef\xbb\xbf" + strings.Join(rows, "\r\n\r\n"),
		"e.json":   strings.Join(rows, "\n"),
		"f":        strings.Join(rows, "\n"),
	} {
		w := newWorld(t)
		sum := w.imported(ImportOptions{Stream: "entries"}, written(t, name, text))
		if got := w.dump(); len(got) != 2 || !contains(got, want[0]) || !contains(got, want[1]) {
			t.Errorf("%s: store %s\nwant %s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		var got []LineCode
		for _, r := range sum.Rejections {
			got = append(got, r.Code)
		}
		if diff := cmp.Diff(codes, got); diff != "" {
			t.Errorf("%s: rejections (-want +got):\n%s", name, diff)
		}
		if first := sum.Rejections[0].Line; name == "a.json" && first != 4 || name == "c.jsonl" && first != 3 {
			t.Errorf("%s: first rejection at line %d", name, first)
		}
	}
}

func TestImportJSONArrays(t *testing.T) {
	tests := []struct {
		text     string
		accepted int64
		bad      []LineCode
	}{
		{``, 0, nil},
		{`[]`, 0, nil},
		{" [ ]\n ", 0, nil},
		{`[{"n":1},{"n":2}]`, 2, nil},
		{`[{"n":1,"x":"],[{\"\\"},{"n":2}]`, 2, nil},
		{`[{"n":1},]`, 1, []LineCode{malformedNDJSON}},
		{`[,{"n":1}]`, 1, []LineCode{malformedNDJSON}},
		{`[{"n":1} {"n":2},{"n":3}]`, 1, []LineCode{malformedNDJSON}},
		{`[}},{"n":3}]`, 1, []LineCode{malformedNDJSON}},
		{`[{"n":1},{"n":2}`, 1, []LineCode{malformedNDJSON}},
		{`[{"n":1}`, 0, []LineCode{malformedNDJSON}},
		{`[{"n":1}] x`, 1, []LineCode{malformedNDJSON}},
		{`{"n":1}`, 0, []LineCode{malformedNDJSON}},
		{`[{"n":1,"x":"` + strings.Repeat("x", maxLine) + `"},{"n":2}]`, 1, []LineCode{invalidRecord}},
	}
	for _, tt := range tests {
		w := newWorld(t)
		sum := w.imported(ImportOptions{Stream: "items", Format: formatJSON}, texted(tt.text)...)
		var bad []LineCode
		for _, r := range sum.Rejections {
			bad = append(bad, r.Code)
		}
		if sum.Records.Accepted != tt.accepted || !cmp.Equal(tt.bad, bad) {
			t.Errorf("import of %.60s: %+v, %v; want %d and %v", tt.text, sum.Records, sum.Rejections, tt.accepted, tt.bad)
		}
	}
}

func TestImportMapAndTime(t *testing.T) {
	w := newWorld(t)
	at := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	opts := ImportOptions{Stream: "months", Map: map[string]string{"account": "Konto", "month": "m"}, EmittedAt: at}
	w.imported(opts, written(t, "a.csv", "Konto,m,total\nx,1,5\n"))
	w.imported(opts, written(t, "a.json", `[{"Konto":"y","account":"dropped","m":"2","total":"6","Extra":1}]`))
	want := []string{`months ["x","1"] {"account":"x","month":"1","total":5}`, `months ["y","2"] {"account":"y","month":"2","total":6,"Extra":1}`}
	if diff := cmp.Diff(want, w.dump()); diff != "" {
		t.Errorf("store (-want +got):\n%s", diff)
	}
	err := w.Store.View(t.Context(), func(v store.View) error {
		last, _, err := v.LastEmitted(w.subject, query.Source{Connection: w.conn.ID, Stream: w.m.Stream("months")})
		if !last.Equal(at) {
			t.Errorf("emitted at %v, want %v", last, at)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestMissingColumnNamesThoseThatAreThere(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct{ text, message, hint string }{
		{"memo,amount\nx,1\n", `it has: "memo", "amount".`, "--map id=COLUMN"},
		{"id;memo\nx;y\n", `it has: "id;memo".`, "semicolons"},
		{"id\tmemo\nx\ty\n", `it has: "id\tmemo".`, "tabs"},
	} {
		_, err := w.Import(t.Context(), w.subject, w.conn, w.m, ImportOptions{Stream: "entries", Format: formatCSV}, texted(tt.text))
		var e *pdpp.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, tt.message) || !strings.Contains(e.Hint, tt.hint) {
			t.Errorf("%q: %+v", tt.text, err)
		}
	}
}

func TestImportRefusals(t *testing.T) {
	w := newWorld(t)
	tests := []struct {
		opts ImportOptions
		text string
		want pdpp.Code
	}{
		{ImportOptions{Stream: "ghosts"}, "", pdpp.CodeInvalidInput},
		{ImportOptions{Stream: "entries", Format: "xml"}, "", pdpp.CodeUsage},
		{ImportOptions{Stream: "entries", Map: map[string]string{"ghost": "x"}}, "", pdpp.CodeUsage},
		{ImportOptions{Stream: "entries"}, "memo\nx\n", pdpp.CodeInvalidInput},
		{ImportOptions{Stream: "entries"}, "id,id\nx,y\n", pdpp.CodeInvalidInput},
		{ImportOptions{Stream: "entries"}, "id,\"me\nx,y\n", pdpp.CodeInvalidInput},
		{ImportOptions{Stream: "entries", Map: map[string]string{"memo": "Text"}}, "id,memo\nx,y\n", pdpp.CodeInvalidInput},
	}
	for _, tt := range tests {
		sum, err := w.Import(t.Context(), w.subject, w.conn, w.m, tt.opts, texted(tt.text))
		if pdpp.CodeOf(err) != tt.want || sum.Lines != 0 {
			t.Errorf("Import(%+v) of %q = %d lines, %v; want %s", tt.opts, tt.text, sum.Lines, err, tt.want)
		}
	}
}

// FuzzCSVRow: every row becomes one item; an accepted one is a valid JSON object with a
// valid id.
func FuzzCSVRow(f *testing.F) {
	f.Add("a,b,1,1.5,yes,2026-05-01,2026-05-01 10:00:00,[],{},x,y\n")
	f.Add("\"a\nb\",,,,,,,,,,\nx\"y\n\"")
	f.Add("\xff,,,,,,,,,,\r\na,,,,,,,,,,")
	m := parse(f, ledger)
	var header strings.Builder
	for i, field := range m.Stream("entries").Fields {
		if i > 0 {
			header.WriteByte(',')
		}
		header.WriteString(field.Name)
	}
	f.Fuzz(func(t *testing.T, rows string) {
		r := (&Runner{}).newRun("own_1", pdpp.Connection{}, m)
		r.dry = true
		r.targets.Store(&targets{manifest: m})
		im := &importer{run: r, stream: m.Stream("entries"), opts: ImportOptions{Stream: "entries"}}
		form, err := im.openCSV("f.csv", strings.NewReader(header.String()+"\n"+rows))
		if err != nil {
			t.Fatal(err)
		}
		for last := int64(1); ; {
			u, err := form.next()
			if err == io.EOF {
				return
			}
			if err != nil || u.line <= last {
				t.Fatalf("row at line %d after %d, %v", u.line, last, err)
			}
			last = u.line
			if u.bad != nil {
				continue
			}
			it := form.decode(new(arena), u, noon)
			if it.kind == rejectedItem {
				continue
			}
			data, err := rawjson.Compact(nil, it.input.Data)
			if err != nil || !bytes.Equal(data, it.input.Data) || !it.input.ID.Valid() {
				t.Fatalf("row %q made %q with id %q: %v", u.cells, it.input.Data, it.input.ID, err)
			}
		}
	})
}

func BenchmarkImportCSV(b *testing.B) {
	var text bytes.Buffer
	c := csv.NewWriter(&text)
	_ = c.Write([]string{"n", "x"})
	for i := range 20000 {
		_ = c.Write([]string{time.Duration(i).String()[:1], "some text"})
	}
	c.Flush()
	w := newWorld(b)
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		w.imported(ImportOptions{Stream: "items", DryRun: true, Format: formatCSV}, texted(text.String())...)
	}
}

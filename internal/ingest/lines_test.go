package ingest

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

type gotLine struct {
	Number int64
	Text   string
	Over   bool
}

func readLines(r io.Reader) ([]gotLine, *lineReader) {
	l := newLines(r)
	var got []gotLine
	for l.Next() {
		got = append(got, gotLine{l.Number(), string(l.Line()), l.TooLong()})
	}
	return got, l
}

func TestLines(t *testing.T) {
	tests := []struct {
		text string
		want []gotLine
	}{
		{"", nil},
		{"\n\r\n \t\n", nil},
		{"a", []gotLine{{1, "a", false}}},
		{"a\n", []gotLine{{1, "a", false}}},
		{"a\r\n\r\n\n b \nc\r", []gotLine{{1, "a", false}, {4, " b ", false}, {5, "c", false}}},
		{"\xef\xbb\xbfa\n\xef\xbb\xbfb", []gotLine{{1, "a", false}, {2, "\xef\xbb\xbfb", false}}},
		{"\xef\xbb\xbf\na", []gotLine{{2, "a", false}}},
	}
	for _, tt := range tests {
		for _, r := range []io.Reader{strings.NewReader(tt.text), iotest.OneByteReader(strings.NewReader(tt.text))} {
			got, l := readLines(r)
			if diff := cmp.Diff(tt.want, got); diff != "" || l.Err() != nil || l.Bytes() != int64(len(tt.text)) {
				t.Errorf("lines of %q: %v, %d bytes (-want +got):\n%s", tt.text, l.Err(), l.Bytes(), diff)
			}
		}
	}
}

func TestLinesBound(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	text := "a\n" + long + "\r\n" + long + "y\nb\n" + long + long + "\r\nc\n" + long + "z"
	got, l := readLines(strings.NewReader(text))
	want := []gotLine{{1, "a", false}, {2, long, false}, {3, "", true}, {4, "b", false}, {5, "", true}, {6, "c", false}, {7, "", true}}
	if !cmp.Equal(want, got) || l.Bytes() != int64(len(text)) {
		t.Errorf("%d bytes of %d; lines:", l.Bytes(), len(text))
		for _, g := range got {
			t.Errorf("%d: %d bytes, too long %v", g.Number, len(g.Text), g.Over)
		}
	}
}

func TestLinesReadError(t *testing.T) {
	broken := errors.New("broken")
	got, l := readLines(io.MultiReader(strings.NewReader("a\nb\nc"), iotest.ErrReader(broken)))
	if want := []gotLine{{1, "a", false}, {2, "b", false}}; !cmp.Equal(want, got) || !errors.Is(l.Err(), broken) {
		t.Errorf("lines %v, error %v: want the two whole lines and the error", got, l.Err())
	}
}

// FuzzLines: the lines are those of bytes.Split, however the text arrives.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\n\nb"), uint16(1))
	f.Add([]byte("\xef\xbb\xbf\r\n{}\r"), uint16(3))
	f.Fuzz(func(t *testing.T, text []byte, step uint16) {
		var want []gotLine
		for i, line := range bytes.Split(text, []byte("\n")) {
			line = bytes.TrimSuffix(line, []byte("\r"))
			if i == 0 {
				line = bytes.TrimPrefix(line, byteOrderMark)
			}
			if len(bytes.Trim(line, " \t\r")) > 0 {
				want = append(want, gotLine{int64(i) + 1, string(line), false})
			}
		}
		got, l := readLines(&stepReader{text, int(step%512) + 1})
		if diff := cmp.Diff(want, got); diff != "" || l.Bytes() != int64(len(text)) || l.Err() != nil {
			t.Fatalf("lines of %q: %d bytes, %v (-want +got):\n%s", text, l.Bytes(), l.Err(), diff)
		}
	})
}

type stepReader struct {
	rest []byte
	step int
}

func (r *stepReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.step)], r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

package mcp

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"pdpp"
	"pdpp/internal/evidence"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/rsclient"
)

// utf8Mark is the byte order mark of UTF-8, which is not part of the text.
const utf8Mark = "\xef\xbb\xbf"

// utf16Encoding returns the encoding UTF-16 with the byte order of the byte order mark;
// without a mark, isBig decides.
func utf16Encoding(isBig bool) encoding.Encoding {
	if isBig {
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	}
	return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
}

// blobBytes reads a blob in parts.
type blobBytes struct {
	read func(rsclient.Part) (*rsclient.Blob, error)
	left []byte // unread bytes of the last part
	at   int    // offset of the next part
	last bool   // there is no next part
}

// errScanEnd means that a place is beyond the bytes that are scanned.
var errScanEnd = errors.New("the place is not in the first bytes of the file")

// Read implements io.Reader.
func (b *blobBytes) Read(p []byte) (int, error) {
	for len(b.left) == 0 {
		if b.last {
			return 0, io.EOF
		}
		if b.at >= limits.BlobScanMax {
			return 0, errScanEnd
		}
		part, err := b.read(rsclient.Part{From: b.at, Most: limits.BlobPart})
		switch {
		case err != nil:
			return 0, err
		case len(part.Content) == 0 && !part.Last:
			return 0, rsclient.Refused(pdpp.CodeUpstreamInvalid, "The resource server sent no bytes, although the file has not ended.", tellOwner)
		}
		b.left, b.last = part.Content, part.Last
		b.at += len(part.Content)
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}

// place is the offset of a character in a text, and of its first byte in the blob.
type place struct {
	char int
	byte int // 0 means unknown, except for char 0
}

// blobText reads the text of a blob from a place on.
type blobText struct {
	*bufio.Reader
	at      place
	decoded bool // from another encoding, so bytes are not offsets in the blob
	broken  bool // it had bytes that are not UTF-8
}

// next reads a character. Each invalid byte is read as U+FFFD.
func (t *blobText) next() (rune, error) {
	r, size, err := t.ReadRune()
	if err != nil {
		return 0, err
	}
	t.at.char++
	t.at.byte += size
	t.broken = t.broken || r == utf8.RuneError && size == 1
	return r, nil
}

// skipTo reads up to a character; false when the text ends before it.
func (t *blobText) skipTo(char int) (bool, error) {
	for t.at.char < char {
		if _, err := t.next(); err != nil {
			return false, ended(err)
		}
	}
	return true, nil
}

// ended returns nil at the end of a text, and any other error unchanged.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// textFile is a blob whose content is text.
type textFile struct {
	read   func(rsclient.Part) (*rsclient.Blob, error)
	head   *rsclient.Blob // its first part
	decode encoding.Encoding
}

// from opens the text at a place, or at the start when the byte of the place is unknown.
func (f *textFile) from(p place) *blobText {
	if f.decode != nil {
		return &blobText{Reader: bufio.NewReader(transform.NewReader(f.bytes(0), f.decode.NewDecoder())), decoded: true}
	}
	if p.byte == 0 {
		p = place{}
		if len(f.head.Content) >= len(utf8Mark) && string(f.head.Content[:len(utf8Mark)]) == utf8Mark {
			p.byte = len(utf8Mark)
		}
	}
	return &blobText{Reader: bufio.NewReader(f.bytes(p.byte)), at: p}
}

// bytes opens the blob at a byte. It does not read the first part again.
func (f *textFile) bytes(at int) io.Reader {
	head := f.head.Content
	if at >= len(head) {
		return &blobBytes{read: f.read, at: at, last: f.head.Whole}
	}
	return &blobBytes{read: f.read, left: head[at:], at: len(head), last: f.head.Whole}
}

// find returns the position of the first match of q at or after a place, and the position
// of the next match; -1 if there is none.
func (f *textFile) find(q string, from place) (match, next int, err error) {
	t := f.from(from)
	if ok, err := t.skipTo(from.char); !ok {
		return -1, -1, err
	}
	search := evidence.NewTextSearch(q)
	match = -1
	for {
		r, err := t.next()
		switch {
		case err != nil:
			return match, -1, ended(err)
		case !search.Next(r):
		case match >= 0:
			return match, t.at.char - search.Chars(), nil
		default:
			match = t.at.char - search.Chars()
		}
	}
}

// excerpt is a piece of a text file.
type excerpt struct {
	text       string
	start, end place
	total      int // characters of the whole; -1 if unknown
	broken     bool
}

// excerpt reads at most limit characters from a place on.
func (f *textFile) excerpt(start place, limit int) (e excerpt, err error) {
	t := f.from(start)
	if _, err := t.skipTo(start.char); err != nil {
		return e, err
	}
	e.start, e.total = t.at, -1
	var text []byte
	for range limit {
		r, err := t.next()
		if err != nil {
			if ended(err) != nil {
				return e, err
			}
			e.total = t.at.char
			break
		}
		text = utf8.AppendRune(text, r)
	}
	e.text, e.end, e.broken = string(text), t.at, t.broken
	if _, err := t.Peek(1); err != nil && e.total < 0 {
		if ended(err) != nil {
			return e, err
		}
		e.total = t.at.char
	}
	if e.total < 0 && f.head.Whole { // the rest is in memory, and short
		for ; err == nil; _, err = t.next() {
		}
		e.total = t.at.char
	}
	if t.decoded {
		e.end.byte = 0
	}
	return e, nil
}

// wholeText returns a whole blob as text; false when it is not text, or cannot be decoded
// without loss.
func wholeText(b *rsclient.Blob) (string, bool) {
	if !evidence.IsTextType(b.MimeType) {
		return "", false
	}
	decode, known := decoding(b.Charset, b.Content)
	if !known {
		return "", false
	}
	if decode == nil {
		text := strings.TrimPrefix(string(b.Content), utf8Mark)
		return text, utf8.ValidString(text)
	}
	text, err := decode.NewDecoder().Bytes(b.Content)
	return string(text), err == nil
}

package evidence

import (
	"bytes"
	"iter"
	"math/bits"
	"strings"
	"unicode/utf8"

	"pdpp/internal/rawjson"
)

// The limits of EX-8 for a string, and a bound for the part of a data: URI before its
// comma.
const (
	minBinaryChars   = 256
	minDistinctChars = 16
	maxURIHead       = 256
)

// DetectBinaryString is like DetectBinary, for a string that is stored in chunks. Each
// chunk is a part of the content of the JSON string, with escapes as stored, and ends
// at a character boundary. Reading stops at the first chunk that cannot be binary,
// which for prose is usually the first one. A binary string is read completely, for its
// size.
func DetectBinaryString(chunks iter.Seq[[]byte]) (Binary, bool) { return (&probe{}).detect(chunks) }

// DetectBinaryStart is like DetectBinaryString, for the beginning of a long string. The
// size of the result is unknown.
func DetectBinaryStart(chunks iter.Seq[[]byte]) (Binary, bool) {
	b, ok := (&probe{isCut: true}).detect(chunks)
	b.SizeBytes = -1
	return b, ok
}

// probe detects binary content in a string that is read in parts.
type probe struct {
	stage   stage
	head    [maxURIHead]byte // the beginning, until its kind is clear
	headLen int
	mime    string
	chars   int // of the whole string
	payload base64Count
	octets  int64 // of a payload that is not base64
	isCut   bool  // the string continues after the last chunk
}

func (p *probe) detect(chunks iter.Seq[[]byte]) (Binary, bool) {
	for chunk := range chunks {
		if !p.feed(chunk) {
			return Binary{}, false
		}
	}
	return p.result()
}

type stage uint8

const (
	atStart   stage = iota // "data:" or not
	inHead                 // between "data:" and the comma
	inText                 // base64 without a URI around it
	inBase64               // the base64 payload of a URI
	inPercent              // another payload of a URI
)

// feed reads one chunk. It reports whether the string can still be binary.
func (p *probe) feed(chunk []byte) bool {
	for len(chunk) > 0 {
		n := bytes.IndexByte(chunk, '\\')
		if n < 0 {
			return p.text(chunk)
		}
		if !p.text(chunk[:n]) {
			return false
		}
		escape := rawjson.Prefix(chunk[n:], 1)
		var buf [utf8.UTFMax]byte
		if !p.text(rawjson.AppendText(buf[:0], escape)) {
			return false
		}
		chunk = chunk[n+len(escape):]
	}
	return true
}

// text reads decoded characters. It counts them only when they can be binary: most text
// cannot, and its first space shows it.
func (p *probe) text(b []byte) bool {
	if !p.scan(b) {
		return false
	}
	p.chars += utf8.RuneCount(b)
	return true
}

func (p *probe) scan(b []byte) bool {
	for len(b) > 0 && p.stage <= inHead {
		if !p.begin(b[0]) {
			return false
		}
		b = b[1:]
	}
	switch p.stage {
	case inText:
		return p.payload.add(b)
	case inBase64:
		p.payload.broken = p.payload.broken || !p.payload.add(b)
	case inPercent:
		p.octets += int64(len(b)) - 2*int64(bytes.Count(b, []byte("%")))
	}
	return true
}

// begin reads one byte of the beginning.
func (p *probe) begin(c byte) bool {
	const scheme = "data:"
	if p.stage == inHead {
		if c == ',' {
			return p.openURI(string(p.head[len(scheme):p.headLen]))
		}
		if c <= ' ' || c >= 0x7F || p.headLen == len(p.head) {
			return false
		}
	}
	p.head[p.headLen] = c
	p.headLen++
	if p.stage == inHead {
		return true
	}
	if !strings.EqualFold(string(p.head[:p.headLen]), scheme[:p.headLen]) {
		p.stage = inText
		return p.payload.add(p.head[:p.headLen])
	}
	if p.headLen == len(scheme) {
		p.stage = inHead
	}
	return true
}

// openURI reads the part between "data:" and the comma (RFC 2397 §3). It may have no
// media type, but not an invalid one.
func (p *probe) openURI(head string) bool {
	media, params, _ := strings.Cut(head, ";")
	p.mime = parseMimeType(media)
	p.stage = inPercent
	last := params[strings.LastIndexByte(params, ';')+1:]
	if strings.EqualFold(last, "base64") {
		p.stage = inBase64
	}
	return p.mime != "" || media == ""
}

func (p *probe) result() (Binary, bool) {
	b := Binary{Kind: KindBase64Text, MimeType: p.mime, SizeBytes: -1}
	switch p.stage {
	case inText:
		b.SizeBytes = p.payload.size()
		return b, p.chars >= minBinaryChars && p.payload.looksBinary() && (p.isCut || p.payload.digits%4 != 1)
	case inBase64:
		b.SizeBytes = p.payload.size()
	case inPercent:
		b.SizeBytes = max(p.octets, 0)
	default:
		return Binary{}, false
	}
	return b, p.chars >= minBinaryChars
}

// base64Count counts the characters of base64 text.
type base64Count struct {
	digits int64 // characters that carry six bits
	pads   int
	seen   [2]uint64 // which ASCII characters
	kinds  uint8     // of which kinds
	broken bool      // not base64
}

// Kinds of base64 characters.
const (
	upper uint8 = 1 << iota
	lower
	digit
	standard // + and /
	urlSafe  // - and _
	pad
	lineBreak

	sixBits = upper | lower | digit | standard | urlSafe
)

var base64Kind = makeBase64Kind()

func makeBase64Kind() (t [256]uint8) {
	for c := range 26 {
		t['A'+c], t['a'+c] = upper, lower
	}
	for c := range 10 {
		t['0'+c] = digit
	}
	t['+'], t['/'], t['-'], t['_'] = standard, standard, urlSafe, urlSafe
	t['='], t['\r'], t['\n'] = pad, lineBreak, lineBreak
	return t
}

// add reads more text. It reports whether all of it can be base64: one alphabet, and
// after the digits only line breaks and at most two pads.
func (n *base64Count) add(b []byte) bool {
	for _, c := range b {
		k := base64Kind[c]
		switch {
		case k&sixBits != 0 && n.pads == 0:
			n.digits++
			n.kinds |= k
			n.seen[c>>6&1] |= 1 << (c & 63)
		case k == pad && n.pads < 2:
			n.pads++
		case k != lineBreak:
			return false
		}
	}
	return n.kinds&(standard|urlSafe) != standard|urlSafe
}

// looksBinary distinguishes base64 from words, numbers and hexadecimal digits (EX-8).
func (n *base64Count) looksBinary() bool {
	const mixed = upper | lower | digit
	distinct := bits.OnesCount64(n.seen[0]) + bits.OnesCount64(n.seen[1])
	return n.kinds&mixed == mixed && distinct >= minDistinctChars
}

// size returns the number of octets that the text decodes to, or -1 when it is not
// base64.
func (n *base64Count) size() int64 {
	if n.broken || n.digits%4 == 1 {
		return -1
	}
	return n.digits * 3 / 4
}

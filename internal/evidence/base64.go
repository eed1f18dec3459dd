package evidence

import (
	"bytes"
	"iter"
	"math/bits"
	"strings"
	"unicode/utf8"

	"pdpp/internal/rawjson"
)

// The measures of EX-8 for a string, and a bound on what is read of a data: URI
// in search of its comma.
const (
	minBinaryChars   = 256
	minDistinctChars = 16
	maxURIHead       = 256
)

// DetectBinaryString is DetectBinary for a string kept in pieces. Each chunk is a
// part of the inside of the JSON string, cut on character boundaries; escapes
// are as stored. Reading stops with the first chunk that rules the answer out,
// for prose usually the first. A binary string is read to its end, for its size.
func DetectBinaryString(chunks iter.Seq[[]byte]) (Binary, bool) {
	var p probe
	for chunk := range chunks {
		if !p.feed(chunk) {
			return Binary{}, false
		}
	}
	return p.result()
}

// DetectBinaryStart is DetectBinaryString for the beginning of a long string. Its size
// is not known then.
func DetectBinaryStart(chunks iter.Seq[[]byte]) (Binary, bool) {
	p := probe{isCut: true}
	for chunk := range chunks {
		if !p.feed(chunk) {
			return Binary{}, false
		}
	}
	b, ok := p.result()
	b.SizeBytes = -1
	return b, ok
}

// probe judges a string as it goes by.
type probe struct {
	stage   stage
	head    [maxURIHead]byte // the beginning, until it is known what it is
	headLen int
	mime    string
	chars   int // of the whole string
	payload base64Count
	octets  int64 // of a payload that is not base64
	isCut   bool  // the string goes on
}

type stage uint8

const (
	atStart   stage = iota // "data:" or not
	inHead                 // between "data:" and the comma
	inText                 // base64 without a URI around it
	inBase64               // the base64 payload of a URI
	inPercent              // another payload of a URI
)

// feed takes one piece. It reports whether the string can still be binary.
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

// text takes decoded characters. They are counted only when they can be binary:
// nearly all text cannot, and its first space shows it.
func (p *probe) text(b []byte) bool {
	if !p.judge(b) {
		return false
	}
	p.chars += utf8.RuneCount(b)
	return true
}

func (p *probe) judge(b []byte) bool {
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

// begin takes one byte of the beginning.
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

// openURI reads what stands between "data:" and the comma (RFC 2397 §3). The
// type may be left out; what is there must be one.
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
	broken bool      // not base64 after all
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

// add takes more text. It reports whether all can still be base64: one alphabet,
// nothing but line breaks and at most two pads behind the digits.
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

// looksBinary tells base64 from words, numbers and hexadecimal digits (EX-8).
func (n *base64Count) looksBinary() bool {
	const mixed = upper | lower | digit
	distinct := bits.OnesCount64(n.seen[0]) + bits.OnesCount64(n.seen[1])
	return n.kinds&mixed == mixed && distinct >= minDistinctChars
}

// size is the number of octets the text decodes to; -1 when it is not base64.
func (n *base64Count) size() int64 {
	if n.broken || n.digits%4 == 1 {
		return -1
	}
	return n.digits * 3 / 4
}
